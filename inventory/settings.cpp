#include "inventory/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "inventory/names.hpp"
#include "inventory/scalars.hpp"
#include "inventory/ssh_args.hpp"
#include "inventory/templates.hpp"
#include "inventory/values.hpp"

namespace cleanslate::inventory {
namespace {

Status check_and_unbracket(std::string& address) {
    address = without_brackets(address);
    return check_address(address);
}

Status check_and_expand(std::string& path) {
    auto expanded = expand_path(path);
    if (!expanded) return std::unexpected(expanded.error());
    path = std::move(*expanded);
    return {};
}

}  // namespace

void Settings::put(const Bound& bound, std::uint16_t level) {
    if (bound.variable == Variable::ansible_port) key_port_ = 0;
    if (bound.variable == Variable::protect || bound.variable == Variable::unprotect)
        lists_.push_back(&bound);
    slots_[index(bound.variable)] = {&bound, level};
}

void Settings::put_key_port(std::int64_t port) {
    slots_[index(Variable::ansible_port)] = {};
    key_port_ = port;
}

// Applies the slots to one host.
class Settings::Applied {
  public:
    Applied(const Settings& settings, const std::vector<std::string>& files, Host& host)
        : settings_(settings), files_(files), host_(host) {}

    Status all() {
        for (const auto step : {&Applied::locked, &Applied::connection, &Applied::place,
                                &Applied::told_to_ssh, &Applied::ours, &Applied::lists, &Applied::becoming})
            if (auto fine = (this->*step)(); !fine) return fine;
        return {};
    }

  private:
    // The first of them that is set, and not to nothing.
    const Bound* first(std::initializer_list<Variable> variables) const {
        for (const Variable variable : variables) {
            const Bound* bound = settings_.find(variable);
            if (bound != nullptr && !bound->entry->second.is_null()) return bound;
        }
        return nullptr;
    }

    // `use` gets the value with what is known filled in. Nothing to do where nothing is set.
    Status with(const Bound* bound, auto use) {
        if (bound == nullptr) return {};
        const yaml::Entry& entry = *bound->entry;
        const std::string_view file = files_[bound->file];
        const yaml::Node& node = bare(entry.second);
        const bool as_it_is = &node != &entry.second;
        if (as_it_is || !node.is_scalar() || is_tagged(node) || !has_template(node.text()))
            return use(Value{file, entry.first, node});
        const auto filled = fill_in(node.text(), host_.name);
        if (!filled) return Value{file, entry.first, node}.refuse(filled.error());
        const yaml::Document document = yaml::with_text(node, *filled);
        return use(Value{file, entry.first, document.root()});
    }

    Status locked() {
        const Bound* bound = settings_.find(Variable::locked_file);
        if (bound == nullptr) return {};
        return fail("inventory",
                    fmt::format("{}: is closed by Ansible's vault", printable(files_[bound->file])),
                    "let Ansible open it: -i ansible:PATH, with ANSIBLE_VAULT_PASSWORD_FILE");
    }

    Status place() {
        host_.address = host_.name;  // empty where hosts have no name yet
        return with(first({Variable::ansible_ssh_host, Variable::ansible_host, Variable::host}),
                    [&](const Value& value) {
                        std::optional<std::string> text;
                        auto read = set_text(text, value, check_and_unbracket);
                        if (read) host_.address = std::move(*text);
                        return read;
                    });
    }

    // What Ansible tells ssh, in its order; of each option ssh takes the first.
    Status told_to_ssh() {
        for (const auto step :
             {&Applied::own_args, &Applied::port, &Applied::user, &Applied::identity, &Applied::host_keys,
              &Applied::timeout, &Applied::further_args, &Applied::ours_of_ssh, &Applied::way})
            if (auto fine = (this->*step)(); !fine) return fine;
        if (ssh_ != SshSettings{}) host_.ssh = std::make_shared<const SshSettings>(std::move(ssh_));
        return {};
    }

    Status own_args() { return args(Variable::ssh_args); }
    Status further_args() {
        auto fine = args(Variable::ssh_common_args);
        return fine ? args(Variable::ssh_extra_args) : fine;
    }

    Status args(Variable variable) {
        return with(first({variable}), [&](const Value& value) -> Status {
            const auto text = text_of(value);
            if (!text) return std::unexpected(text.error());
            auto said = read_ssh_args(*text);
            if (!said) return value.refuse(said.error());
            if (!host_.port) host_.port = said->port;
            if (!host_.user) host_.user = std::move(said->user);
            for (std::string& file : said->identity_files) add_identity(std::move(file));
            if (!ssh_.known_hosts) ssh_.known_hosts = std::move(said->known_hosts);
            if (!ssh_.global_known_hosts) ssh_.global_known_hosts = std::move(said->global_known_hosts);
            if (!ssh_.host_keys) ssh_.host_keys = said->host_keys;
            if (!ssh_.connect_timeout) ssh_.connect_timeout = said->connect_timeout;
            if (said->jump && !host_.proxy_jump) {
                host_.proxy_jump = std::move(said->jump);
                jump_level_ = settings_.slots_[index(variable)].level;
            }
            return {};
        });
    }

    void add_identity(std::string file) {
        if (!host_.identity_file)
            host_.identity_file = std::move(file);
        else
            ssh_.more_identity_files.push_back(std::move(file));
    }

    Status port() {
        if (host_.port) return {};
        if (settings_.key_port_ > 0 && first({Variable::ansible_ssh_port}) == nullptr) {
            if (settings_.key_port_ > 65'535)
                return fail("inventory",
                            fmt::format("the port behind the name of host {} is out of range", host_.name),
                            "1 to 65535");
            host_.port = static_cast<std::uint16_t>(settings_.key_port_);
            return {};
        }
        return set_port(first({Variable::ansible_ssh_port, Variable::ansible_port}));
    }

    Status set_port(const Bound* bound) {
        return with(bound, [&](const Value& value) {
            return set_number(value, number_in(value.node), 1, 65'535,
                              [&](auto n) { host_.port = static_cast<std::uint16_t>(n); });
        });
    }

    Status user() {
        return host_.user ? Status() : set_user(first({Variable::ansible_ssh_user, Variable::ansible_user}));
    }

    Status set_user(const Bound* bound) {
        return with(bound, [&](const Value& value) { return set_text(host_.user, value, check_user); });
    }

    Status identity() {
        return set_identity(
            first({Variable::ansible_ssh_private_key_file, Variable::ansible_private_key_file}));
    }

    Status set_identity(const Bound* bound) {
        return with(bound, [&](const Value& value) {
            std::optional<std::string> file;
            auto read = set_text(file, value, check_and_expand);
            if (read) add_identity(std::move(*file));
            return read;
        });
    }

    Status host_keys() {
        return with(first({Variable::ansible_ssh_host_key_checking, Variable::ansible_host_key_checking}),
                    [&](const Value& value) {
                        std::optional<bool> check;
                        auto read = set_bool(check, value);
                        if (read && !*check && !ssh_.host_keys) ssh_.host_keys = HostKeyTrust::off;
                        return read;
                    });
    }

    Status timeout() {
        return with(first({Variable::ssh_timeout}), [&](const Value& value) {
            return set_number(value, number_in(value.node), 1, 86'400, [&](auto n) {
                if (!ssh_.connect_timeout) ssh_.connect_timeout = Milliseconds{n * 1'000};
            });
        });
    }

    // Ansible knows nothing of them: they count where it says nothing.
    Status ours_of_ssh() {
        auto fine = host_.port ? Status() : set_port(first({Variable::port}));
        if (fine && !host_.user) fine = set_user(first({Variable::user}));
        if (fine && !host_.identity_file) fine = set_identity(first({Variable::identity_file}));
        return fine;
    }

    // proxy_jump and the options of ssh may stand at different distances: the nearer one counts.
    Status way() {
        const Slot& ours = settings_.slots_[index(Variable::proxy_jump)];
        if (ours.bound == nullptr || (host_.proxy_jump && ours.level < jump_level_)) return {};
        return with(ours.bound,
                    [&](const Value& value) { return set_ours(Variable::proxy_jump, value, host_); });
    }

    Status connection() {
        bool is_paramiko = false;
        auto fine = with(first({Variable::connection}), [&](const Value& value) -> Status {
            const auto read = read_paramiko(value);
            if (!read) return std::unexpected(read.error());
            is_paramiko = *read;
            return {};
        });
        if (fine && is_paramiko)
            fine = with(first({Variable::paramiko_host, Variable::paramiko_port, Variable::paramiko_user,
                               Variable::paramiko_private_key_file, Variable::paramiko_proxy_command}),
                        refuse_paramikos);
        return fine ? with(first({Variable::ssh_executable}), check_executable) : fine;
    }

    Status ours() {
        for (const Variable variable :
             {Variable::gpus, Variable::max_used, Variable::unified_memory, Variable::unscheduled}) {
            auto fine = with(settings_.find(variable),
                             [&](const Value& value) { return set_ours(variable, value, host_); });
            if (!fine) return fine;
        }
        return {};
    }

    Status lists() {
        for (const Bound* bound : settings_.lists_) {
            auto& list = bound->variable == Variable::protect ? host_.protect : host_.unprotect;
            auto fine = with(bound, [&](const Value& value) { return set_list(list, value, true); });
            if (!fine) return fine;
        }
        return {};
    }

    Status becoming() {
        for (const Variable variable :
             {Variable::become_other, Variable::become_user, Variable::become_method, Variable::become}) {
            auto fine = with(settings_.find(variable),
                             [&](const Value& value) { return set_become(host_.become, value); });
            if (!fine) return fine;
        }
        return {};
    }

    const Settings& settings_;
    const std::vector<std::string>& files_;
    Host& host_;
    SshSettings ssh_;
    std::uint16_t jump_level_ = 0;  // of the options that named the jump hosts
};

Status Settings::apply(const std::vector<std::string>& files, Host& host) const {
    return Applied(*this, files, host).all();
}

bool Settings::depend_on_the_name() const {
    return std::ranges::any_of(slots_, [](const Slot& slot) {
        return slot.bound != nullptr && slot.bound->entry != nullptr &&
               slot.bound->entry->second.is_scalar() && has_template(slot.bound->entry->second.text());
    });
}

Status check_value(const Bound& bound, std::string_view file) {
    const Value value{file, bound.entry->first, bare(bound.entry->second)};
    if (is_open(value.node)) return {};
    Host host;
    if (bound.variable == Variable::protect || bound.variable == Variable::unprotect)
        return set_list(host.protect, value, false);
    return set_ours(bound.variable, value, host);
}

}  // namespace cleanslate::inventory
