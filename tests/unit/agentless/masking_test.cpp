#include <gtest/gtest.h>

#include "agentless/verdict.hpp"

namespace cleanslate::agentless {
namespace {

using Argv = std::vector<std::string>;

TEST(MaskedCommand, HidesTheValueOfASecretFlag) {
    EXPECT_EQ(masked_command({"vllm", "serve", "--api-key", "abc", "--port", "1"}),
              "vllm serve --api-key *** --port 1");
    EXPECT_EQ(masked_command({"x", "--api-key=abc", "--port=1"}), "x --api-key=*** --port=1");
    EXPECT_EQ(masked_command({"x", "--API_KEY", "abc"}), "x --API_KEY ***");
    EXPECT_EQ(masked_command({"x", "--apiKey", "abc"}), "x --apiKey ***");
    EXPECT_EQ(masked_command({"x", "-token", "abc", "y"}), "x -token *** y");
    EXPECT_EQ(masked_command({"x", "--password", ""}), "x --password ***");
    EXPECT_EQ(masked_command({"x", "--password", "-abc"}), "x --password ***");
    EXPECT_EQ(masked_command({"x", "--hf-token", "a b c"}), "x --hf-token ***");
    EXPECT_EQ(masked_command({"x", "--password"}), "x --password");
    for (const auto* flag : {"--wandb-key", "--openai-key", "--secrets", "--passwords"})
        EXPECT_EQ(masked_command({"x", flag, "abc"}), std::string("x ") + flag + " ***");
}

TEST(MaskedCommand, HidesAssignments) {
    for (const auto* name :
         {"TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "PASSWORD", "PGPASSWORD", "DB_PASS", "SECRET",
          "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "openai_api_key", "GITHUB_TOKEN", "APIKEY",
          "WANDB_API_KEY", "client_secret", "spring.datasource.password", "TOKEN_1", "Authorization"})
        EXPECT_EQ(masked_command({"env", std::string(name) + "=abc def", "x"}),
                  "env " + std::string(name) + "=*** x");
    EXPECT_EQ(masked_command({"docker", "run", "-e", "HF_TOKEN=abc", "--env=TOKEN=abc"}),
              "docker run -e HF_TOKEN=*** --env=TOKEN=***");
    EXPECT_EQ(masked_command({"java", "-Ddb.password=abc"}), "java -Ddb.password=***");
}

TEST(MaskedCommand, HidesHeadersAndJson) {
    EXPECT_EQ(masked_command({"curl", "-H", "Authorization: Bearer abc.def"}),
              "curl -H Authorization: Bearer ***");
    EXPECT_EQ(masked_command({"curl", "-H", "authorization: Basic YWJj"}),
              "curl -H authorization: Basic ***");
    EXPECT_EQ(masked_command({"curl", "-H", "Authorization: abc"}), "curl -H Authorization: ***");
    EXPECT_EQ(masked_command({"curl", "-H", "X-Api-Key: abc"}), "curl -H X-Api-Key: ***");
    EXPECT_EQ(masked_command({"curl", "-H", "Bearer abc"}), "curl -H Bearer ***");
    EXPECT_EQ(masked_command({"x", R"({"user": "me", "api_key": "abc", "n": 1})"}),
              R"(x {"user": "me", "api_key": "***", "n": 1})");
}

TEST(MaskedCommand, HidesPasswordsInUrls) {
    EXPECT_EQ(masked_command({"x", "postgres://me:abc@db:5432/name"}), "x postgres://me:***@db:5432/name");
    EXPECT_EQ(masked_command({"x", "--url=https://me:a@c@host/"}), "x --url=https://me:***@host/");
    EXPECT_EQ(masked_command({"x", "redis://:abc@host"}), "x redis://:***@host");
    EXPECT_EQ(masked_command({"x", "https://host/?access_token=abc&page=2"}),
              "x https://host/?access_token=***&page=2");
}

TEST(MaskedCommand, HidesWhatASHellScriptPassesOn) {
    EXPECT_EQ(masked_command({"sh", "-c", "cd /x; HF_TOKEN=abc python3 serve.py --api-key abc --port 1"}),
              "sh -c cd /x; HF_TOKEN=*** python3 serve.py --api-key *** --port 1");
    EXPECT_EQ(masked_command({"sh", "-c", "export PASSWORD='a b c'; run"}),
              "sh -c export PASSWORD='***'; run");
    EXPECT_EQ(masked_command({"sh", "-c", "run --password \"a b c\" --x"}),
              "sh -c run --password \"***\" --x");
}

TEST(MaskedCommand, HidesWhatIsASecretByItsShape) {
    EXPECT_EQ(masked_command({"x", "hf_abcdefghijklmnopqrstuvwxyz"}), "x ***");
    EXPECT_EQ(masked_command({"x", "key sk-abcdefghijklmnopqrstuvwxyz here"}), "x key *** here");
    EXPECT_EQ(masked_command({"x", "https://ghp_abcdefghijklmnopqrst@github.com/a"}),
              "x https://***@github.com/a");
}

TEST(MaskedCommand, HidesATokenWhoseOwnNameLooksLikeThatOfASecret) {
    EXPECT_EQ(masked_command({"x", "sk-abcdefghijklmnopqr-token", "y"}), "x *** y");
    EXPECT_EQ(masked_command({"x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def"}), "x ***");
}

TEST(MaskedCommand, HidesAQuotedValueToItsOwnEnd) {
    EXPECT_EQ(masked_command({"sh", "-c", R"(run --password "a\"b c" --x)"}),
              R"(sh -c run --password "***" --x)");
    EXPECT_EQ(masked_command({"sh", "-c", R"(run --password "a\)"}), R"(sh -c run --password "***)");
}

TEST(MaskedCommand, LeavesAloneWhatIsNoSecret) {
    for (const Argv& argv : std::vector<Argv>{
             {"vllm", "--tokenizer", "meta/llama", "--max-tokens", "5", "--token-pool-size", "9"},
             {"x", "--max-num-batched-tokens", "8192", "--eos-token", "</s>", "--pad-token-id=0",
              "--max-token=5"},
             {"x", "--password-file", "/run/secrets/pw", "--token-file=/run/token", "--secret-name", "prod"},
             {"x", "--key", "a.pem", "--sort-key", "name", "--monkey", "1", "--keyboard=us"},
             {"x", "http://host:8000/v1", "git@github.com:a/b.git", "ssh://git@host/x", "http://host/@me"},
             {"x", "--author=me", "--passes", "3", "--bypass=1", "--compass", "n"},
             {"x", "sk-short", "PATH=/usr/bin:/bin", "PWD=/home/me", "a=b", "--user", "1000:1000"},
             {"x", "--tokenizer-mode=auto", "--tokens=5", "--secretary=x"},
         }) {
        std::string plain;
        for (const auto& argument : argv) plain += (plain.empty() ? "" : " ") + argument;
        EXPECT_EQ(masked_command(argv), plain);
    }
}

TEST(MaskedCommand, KeepsTheFlagAfterAFlagWithoutAValue) {
    EXPECT_EQ(masked_command({"x", "--use-auth-token", "--model", "m"}), "x --use-auth-token --model m");
}

TEST(MaskedCommand, IsPrintable) {
    EXPECT_EQ(masked_command({"a\nb", "\x1b[2J", "\xff"}), "a\\x0Ab \\x1B[2J \\xFF");
    EXPECT_EQ(masked_command({}), "");
    EXPECT_EQ(masked_command({"", ""}), " ");
}

// A quadratic one would not come to its end.
TEST(MaskedCommand, ComesToItsEndOnLongHostileText) {
    for (const std::string piece : {"a", "-", "://", ":", "=", "token ", "token=", "\"", "--token ", "@:"}) {
        std::string text;
        while (text.size() < 300'000) text += piece;
        EXPECT_FALSE(masked_command({text}).empty());
    }
}

}  // namespace
}  // namespace cleanslate::agentless
