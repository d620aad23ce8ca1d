#include "inventory/templates.hpp"

#include <gtest/gtest.h>

namespace cleanslate::inventory {
namespace {

TEST(Templates, FillInTheNameOfTheHost) {
    EXPECT_EQ(fill_in("{{ inventory_hostname }}", "n1.example.org").value(), "n1.example.org");
    EXPECT_EQ(fill_in("a-{{inventory_hostname_short}}.{{  inventory_hostname}}!", "n1.org").value(),
              "a-n1.n1.org!");
    EXPECT_EQ(fill_in("{{ inventory_hostname_short }}", "n1").value(), "n1");
    EXPECT_EQ(fill_in("no { template } here", "n1").value(), "no { template } here");
}

TEST(Templates, AreNotEvaluatedOtherwise) {
    for (const auto* text :
         {"{{ x }}", "{{ inventory_hostname | upper }}", "{% if x %}{{ inventory_hostname }}{% endif %}",
          "{{ inventory_hostname", "{{}}", "{# x #}", "{{ inventory_hostname }} {{ y }}", "a {{"})
        EXPECT_FALSE(fill_in(text, "n1")) << text;
    EXPECT_TRUE(has_template("a {{ b }}"));
    EXPECT_TRUE(has_template("{% x"));
    EXPECT_FALSE(has_template("{ {"));
}

}  // namespace
}  // namespace cleanslate::inventory
