// ssh -W as a jump: the one ProxyCommand that is known here.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "inventory/jumps.hpp"
#include "inventory/names.hpp"
#include "inventory/ssh_args.hpp"
#include "inventory/ssh_words.hpp"

namespace cleanslate::inventory {
namespace {

Result<std::string> address_of_hop(const std::optional<std::string>& user, std::string host,
                                   const std::optional<std::uint16_t>& port) {
    if (is_ipv6(host)) host = "[" + host + "]";
    return read_hops((user ? *user + "@" : "") + host + (port ? fmt::format(":{}", *port) : ""));
}

class ProxyCommand {
  public:
    Result<std::string> read(std::string_view command) {
        auto words = shell_words(command, escaped_for_a_shell);
        if (!words) return refuse(command);
        if (!words->empty() && words->front() == "exec") words->erase(words->begin());
        if (words->empty() || (words->front() != "ssh" && words->front() != "/usr/bin/ssh"))
            return refuse(command);
        words->erase(words->begin());
        const auto fine = each_ssh_option(
            *words,
            {.letter = [this](char option, const std::string& value) { return letter(option, value); },
             .setting = [this](const std::string& key, const std::string& value) { return set(key, value); },
             .plain = [this](const std::string& word) { return set_host(word); }});
        if (!not_literal_.empty()) return refuse_to_fill_in(command);
        if (!fine || !to_the_host_ || host_.empty()) return refuse(command);
        if (const auto at = host_.rfind('@'); at != std::string::npos) {
            if (!user_) user_ = host_.substr(0, at);
            host_.erase(0, at + 1);
        }
        return address_of_hop(user_, host_, port_);
    }

  private:
    static std::unexpected<Error> refuse(std::string_view command) {
        return fail(
            "inventory",
            fmt::format("the ProxyCommand \"{}\" is not known here", ellipsize(printable(command), 80)),
            "write -J HOST, or ProxyCommand=\"ssh -W %h:%p HOST\"; ssh's configuration may hold any");
    }

    // ssh fills in what begins with %, and a shell reads the rest.
    void check_literal(const std::string& word) {
        if (word.find_first_of("%$;`&| \t\r\n") != std::string::npos && not_literal_.empty())
            not_literal_ = word;
    }
    std::unexpected<Error> refuse_to_fill_in(std::string_view command) const {
        return fail("inventory",
                    fmt::format("the ProxyCommand \"{}\": what \"{}\" becomes is not known here",
                                ellipsize(printable(command), 80), ellipsize(printable(not_literal_), 40)),
                    "write user and host out, without % $ ; ` & | and blanks: ssh -W %h:%p USER@HOST");
    }

    Status set_user(const std::string& value) {
        check_literal(value);
        return keep(user_, Result<std::string>(value));
    }

    Status set_host(const std::string& word) {
        check_literal(word);
        if (!host_.empty()) return unknown_ssh_option(word);
        host_ = word;
        return {};
    }

    Status letter(char option, const std::string& value) {
        if (option == 'W') {
            to_the_host_ = value == "%h:%p" || value == "[%h]:%p";
            return to_the_host_ ? Status() : unknown_ssh_option(value);
        }
        if (option == 'l') return set_user(value);
        if (option == 'p') return keep(port_, ssh_port(value));
        return option == 'i' ? Status() : unknown_ssh_option({&option, 1});
    }

    // What a hop's own settings say is stricter, or ssh's configuration's.
    Status set(const std::string& key, const std::string& value) {
        if (key == "user") return set_user(value);
        if (key == "port") return keep(port_, ssh_port(value));
        constexpr std::array<std::string_view, 5> dropped{"identityfile", "stricthostkeychecking",
                                                          "userknownhostsfile", "globalknownhostsfile",
                                                          "connecttimeout"};
        return std::ranges::find(dropped, key) != dropped.end() ? Status() : unknown_ssh_option(key);
    }

    std::optional<std::string> user_;
    std::optional<std::uint16_t> port_;
    std::string host_;
    std::string not_literal_;  // the first word of a user or host that ssh or a shell makes another one of
    bool to_the_host_ = false;
};

}  // namespace

Result<std::string> hop_of_proxy_command(std::string_view command) { return ProxyCommand().read(command); }

}  // namespace cleanslate::inventory
