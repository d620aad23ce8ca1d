#include "agentless/ssh/auth_banner.hpp"

namespace cleanslate::agentless::ssh {

std::string auth_banner(Session& session) {
#if LIBSSH2_VERSION_NUM >= 0x010b00
    char* text = nullptr;
    if (libssh2_userauth_banner(session.handle(), &text) == 0 && text != nullptr) return text;
#else
    static_cast<void>(session);
#endif
    return {};
}

// libssh2 looks for it only while it waits for the answer to "none". It finds what came before the end of the
// connection; what it sends goes nowhere.
std::string last_words(Session& session, const std::string& user) {
    if (!session.link().failed()) return auth_banner(session);
    session.abandon();
    libssh2_userauth_list(session.handle(), user.c_str(), static_cast<unsigned int>(user.size()));
    return auth_banner(session);
}

}  // namespace cleanslate::agentless::ssh
