#include "agentless/ssh/ssh_config_keywords.hpp"

#include <algorithm>
#include <unordered_map>

namespace cleanslate::agentless::ssh {
namespace {

struct Named {
    std::string_view name;
    Keyword keyword;
};

// Older names stand beside those of today; the last two are Debian's.
constexpr Named supported[] = {
    {"hostname", Keyword::host_name},
    {"user", Keyword::user},
    {"port", Keyword::port},
    {"identityfile", Keyword::identity_file},
    {"identityfile2", Keyword::identity_file},
    {"certificatefile", Keyword::certificate_file},
    {"identitiesonly", Keyword::identities_only},
    {"identityagent", Keyword::identity_agent},
    {"userknownhostsfile", Keyword::user_known_hosts},
    {"globalknownhostsfile", Keyword::global_known_hosts},
    {"stricthostkeychecking", Keyword::strict_host_key_checking},
    {"hostkeyalias", Keyword::host_key_alias},
    {"connecttimeout", Keyword::connect_timeout},
    {"serveraliveinterval", Keyword::alive_interval},
    {"serveralivecountmax", Keyword::alive_count_max},
    {"proxyjump", Keyword::proxy_jump},
    {"proxycommand", Keyword::proxy_command},
    {"pubkeyauthentication", Keyword::pubkey_authentication},
    {"dsaauthentication", Keyword::pubkey_authentication},
    {"passwordauthentication", Keyword::password_authentication},
    {"kbdinteractiveauthentication", Keyword::kbd_interactive_authentication},
    {"challengeresponseauthentication", Keyword::kbd_interactive_authentication},
    {"skeyauthentication", Keyword::kbd_interactive_authentication},
    {"tisauthentication", Keyword::kbd_interactive_authentication},
    {"preferredauthentications", Keyword::preferred_authentications},
    {"batchmode", Keyword::batch_mode},
    {"hashknownhosts", Keyword::hash_known_hosts},
    {"addressfamily", Keyword::address_family},
    {"bindaddress", Keyword::bind_address},
    {"refuseconnection", Keyword::refuse_connection},
    {"host", Keyword::host},
    {"match", Keyword::match},
    {"include", Keyword::include},
    {"ignoreunknown", Keyword::ignore_unknown},
    {"setuptimeout", Keyword::alive_interval},
    {"protocolkeepalives", Keyword::alive_interval},
};

constexpr std::string_view own_algorithms = "the algorithms are cleanslate's own choice";
constexpr Noted noted[] = {
    {"CanonicalizeHostname", "names are used as they are", {"no", "false"}, false},
    {"CanonicalizePermittedCNAMEs", "names are used as they are", {"none"}, false},
    {"BindInterface", "the system chooses the address to connect from", {}, false},
    {"ProxyUseFdpass", "a ProxyCommand has to carry the bytes itself", {"no", "false"}, false},
    {"PKCS11Provider", "keys on tokens are used through an agent alone", {"none"}, false},
    {"SmartcardDevice", "keys on tokens are used through an agent alone", {"none"}, false},
    {"SecurityKeyProvider", "security keys are used through an agent alone", {"internal", "none"}, false},
    {"HostbasedAuthentication", "hosts are not logged in to that way", {"no", "false"}, false},
    {"KexAlgorithms", own_algorithms, {}, true},
    {"Ciphers", own_algorithms, {}, true},
    {"MACs", own_algorithms, {}, true},
    {"HostKeyAlgorithms", own_algorithms, {}, true},
    {"PubkeyAcceptedAlgorithms", own_algorithms, {}, true},
    {"PubkeyAcceptedKeyTypes", own_algorithms, {}, true},
    {"RequiredRSASize", own_algorithms, {}, true},
    {"VerifyHostKeyDNS", "host keys are looked up in known_hosts alone", {"no", "false"}, false},
    {"KnownHostsCommand", "host keys are looked up in known_hosts alone", {"none"}, false},
    {"RevokedHostKeys", "keys are revoked by @revoked in known_hosts alone", {"none"}, false},
    {"NoHostAuthenticationForLocalhost", "this machine's host key is checked, too", {"no", "false"}, false},
};

// Of all versions of ssh up to 10: a fleet's configuration may be newer than the ssh of this machine.
constexpr std::string_view harmless[] = {
    "addkeystoagent",
    "afstokenpassing",
    "canonicaldomains",
    "canonicalizefallbacklocal",
    "canonicalizemaxdots",
    "casignaturealgorithms",
    "channeltimeout",
    "checkhostip",
    "cipher",
    "clearallforwardings",
    "compression",
    "compressionlevel",
    "connectionattempts",
    "controlmaster",
    "controlpath",
    "controlpersist",
    "dynamicforward",
    "enableescapecommandline",
    "enablesshkeysign",
    "escapechar",
    "exitonforwardfailure",
    "fallbacktorsh",
    "fingerprinthash",
    "forkafterauthentication",
    "forwardagent",
    "forwardx11",
    "forwardx11timeout",
    "forwardx11trusted",
    "gatewayports",
    "globalknownhostsfile2",
    "gssapiauthentication",
    "gssapiclientidentity",
    "gssapidelegatecredentials",
    "gssapikexalgorithms",
    "gssapikeyexchange",
    "gssapirenewalforcesrekey",
    "gssapiserveridentity",
    "gssapitrustdns",
    "hostbasedacceptedalgorithms",
    "hostbasedkeytypes",
    "ipqos",
    "kbdinteractivedevices",
    "keepalive",
    "kerberosauthentication",
    "kerberostgtpassing",
    "localcommand",
    "localforward",
    "loglevel",
    "logverbose",
    "numberofpasswordprompts",
    "obscurekeystroketiming",
    "permitlocalcommand",
    "permitremoteopen",
    "protocol",
    "rekeylimit",
    "remotecommand",
    "remoteforward",
    "requesttty",
    "rhostsauthentication",
    "rhostsrsaauthentication",
    "rsaauthentication",
    "sendenv",
    "sessiontype",
    "setenv",
    "stdinnull",
    "streamlocalbindmask",
    "streamlocalbindunlink",
    "syslogfacility",
    "tag",
    "tcpkeepalive",
    "tunnel",
    "tunneldevice",
    "updatehostkeys",
    "useblacklistedkeys",
    "useprivilegedport",
    "userknownhostsfile2",
    "useroaming",
    "usersh",
    "versionaddendum",
    "visualhostkey",
    "warnweakcrypto",
    "xauthlocation",
};

}  // namespace

KnownKeyword find_keyword(std::string_view word) {
    static const auto all = [] {
        std::unordered_map<std::string, KnownKeyword> map;
        for (const auto name : harmless) map[std::string(name)] = {Keyword::harmless, nullptr};
        for (const Noted& one : noted) {
            std::string name(one.name);
            for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            map[name] = {Keyword::noted, &one};
        }
        for (const Named& one : supported) map[std::string(one.name)] = {one.keyword, nullptr};
        return map;
    }();
    const auto found = all.find(std::string(word));
    return found == all.end() ? KnownKeyword() : found->second;
}

}  // namespace cleanslate::agentless::ssh
