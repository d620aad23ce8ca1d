// What ssh's configuration says of addresses, seen from the other end of the connection.
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>

#include "agentless/ssh/tcp.hpp"
#include "tests/contract/contract.hpp"

namespace cleanslate::agentless::contract {
namespace {

using boost::asio::ip::tcp;
using namespace std::chrono_literals;

class SshAddressTest : public testing::Test {
  protected:
    Result<std::shared_ptr<ssh::Link>> connect(const ssh::HostSettings& settings) {
        return await(io_, ssh::connect_tcp(io_, cancellation_, resolver_, settings, in(60s)));
    }
    ssh::HostSettings server() const {
        ssh::HostSettings settings;
        settings.host_name = "127.0.0.1";
        settings.port = acceptor_.local_endpoint().port();
        return settings;
    }
    std::string peer() {
        boost::system::error_code error;
        const tcp::socket socket = acceptor_.accept(error);
        return error ? error.message() : socket.remote_endpoint().address().to_string();
    }

    boost::asio::io_context io_;
    std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
    ssh::Resolver resolver_;
    tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)};
};

TEST_F(SshAddressTest, BindAddressIsWhereTheConnectionComesFrom) {
    ssh::HostSettings settings = server();
    ASSERT_TRUE(connect(settings));
    EXPECT_EQ(peer(), "127.0.0.1");
    settings.bind_address = "127.0.0.9";
    const auto link = connect(settings);
    ASSERT_TRUE(link) << link.error().message;
    EXPECT_EQ(peer(), "127.0.0.9");
}

TEST_F(SshAddressTest, ABindAddressThatThisMachineHasNotIsAnErrorAtOnce) {
    ssh::HostSettings settings = server();
    settings.bind_address = "192.0.2.1";
    const auto link = connect(settings);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().kind, "connect_failed");
    EXPECT_EQ(link.error().phase, "connect");
    EXPECT_EQ(link.error().message.find("cannot connect from 192.0.2.1 (BindAddress): "), 0u)
        << link.error().message;
}

TEST_F(SshAddressTest, AddressesOfAnotherFamilyAreNotTried) {
    ssh::HostSettings settings = server();
    settings.family = ssh::AddressFamily::inet;
    EXPECT_TRUE(connect(settings));
    settings.family = ssh::AddressFamily::inet6;
    const auto link = connect(settings);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().kind, "resolve_failed");
    settings.family = ssh::AddressFamily::any;
    settings.bind_address = "::1";
    EXPECT_FALSE(connect(settings)) << "nor of another family than BindAddress has";
}

}  // namespace
}  // namespace cleanslate::agentless::contract
