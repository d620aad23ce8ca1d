#include "tests/fleet/scale/session.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>

namespace cleanslate::simulated {

namespace {

constexpr Moment lateness{2'000};  // of the kind `slow`

int refuse_login(ssh_session, const char*, void*) { return SSH_AUTH_DENIED; }

// Asked once with the key alone, then with a signature that the library has checked.
int take_key(ssh_session, const char*, ssh_key_struct*, char signature, void*) {
    const bool fits = signature == SSH_PUBLICKEY_STATE_VALID || signature == SSH_PUBLICKEY_STATE_NONE;
    return fits ? SSH_AUTH_SUCCESS : SSH_AUTH_DENIED;
}

int refuse_key(ssh_session, const char*, ssh_key_struct*, char, void*) { return SSH_AUTH_DENIED; }

// 0: it is dealt with, and nobody answers; 1: the library's usual answer.
int leave_login_unanswered(ssh_session, ssh_message message, void*) {
    return ssh_message_type(message) == SSH_REQUEST_AUTH ? 0 : 1;
}

bool runs_a_script(const std::string& command) { return command.ends_with("sh -s"); }

}  // namespace

Session::Session(Loop& loop, FleetState& fleet, ssh_bind bind, Fd socket, std::size_t host,
                 std::function<void()> on_end)
    : loop_(loop),
      fleet_(fleet),
      bind_(bind),
      socket_(std::move(socket)),
      host_(host),
      kind_(fleet.kind(host)),
      number_(fleet.connection_begins(host)),
      on_end_(std::move(on_end)),
      session_(ssh_new()),
      event_(ssh_event_new()) {}

Session::~Session() {
    loop_.cancel(retry_);
    for (const auto& channel : channels_) loop_.cancel(channel.timer);
    if (fd_ >= 0) {
        loop_.forget(fd_);
        ssh_event_remove_session(event_, session_);  // before ssh_free, which would leave it a dead pointer
    }
    ssh_event_free(event_);
    ssh_silent_disconnect(session_);
    ssh_free(session_);
    {
        const std::scoped_lock hold(fleet_.mutex());
        fleet_.host(host_).connection_ended(number_);
    }
    fleet_.connection_ends();
}

bool Session::begin() {
    if (ssh_bind_accept_fd(bind_, session_, socket_.get()) != SSH_OK) return false;
    fd_ = socket_.release();
    set_callbacks();
    ssh_set_auth_methods(session_, SSH_AUTH_METHOD_PUBLICKEY);
    ssh_set_blocking(session_, 0);
    ssh_handle_key_exchange(session_);
    ssh_event_add_session(event_, session_);
    loop_.watch(fd_, EPOLLIN, [this](std::uint32_t) { on_events(); });
    return true;
}

void Session::set_callbacks() {
    callbacks_.userdata = this;
    if (kind_ == Kind::hang_login) {
        ssh_set_message_callback(session_, leave_login_unanswered, nullptr);
    } else {
        callbacks_.auth_none_function = refuse_login;
        callbacks_.auth_pubkey_function = kind_ == Kind::deny ? refuse_key : take_key;
    }
    callbacks_.channel_open_request_session_function = on_open;
    ssh_callbacks_init(&callbacks_);
    ssh_set_server_callbacks(session_, &callbacks_);
}

void Session::on_events() {
    // The library reads a few KB at a time.
    for (int i = 0; i < 64 && ssh_event_dopoll(event_, 0) == SSH_OK; ++i) {
    }
    pump();
}

void Session::pump() {
    bool pending = false;
    for (auto& channel : channels_) {
        act(channel);
        pending |= !channel.out.empty() || !channel.err.empty();
    }
    std::erase_if(channels_, [&](Channel& channel) {
        if (!channel.closed) return false;
        loop_.cancel(channel.timer);
        ssh_remove_channel_callbacks(channel.handle, &channel.callbacks);
        ssh_channel_free(channel.handle);
        return true;
    });
    if (is_over()) return on_end_();
    const bool writes = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
    loop_.change(fd_, writes ? EPOLLIN | EPOLLOUT : EPOLLIN);
    // Not every window that opens is told.
    if (pending && retry_ == 0)
        retry_ = loop_.at(loop_.now() + Moment(5), [this] {
            retry_ = 0;
            on_events();
        });
}

bool Session::is_over() { return (ssh_get_status(session_) & (SSH_CLOSED | SSH_CLOSED_ERROR)) != 0; }

// Not from within the library's callbacks: a reply from there would come before the request's success.
void Session::act(Channel& channel) {
    if (channel.closed) return;
    if (channel.asked && !channel.started) start(channel);
    write(channel);
}

void Session::start(Channel& channel) {
    const bool script = runs_a_script(channel.command);
    if (script && !channel.at_end && !is_whole(channel.input)) return;
    channel.started = true;
    if (kind_ == Kind::hang_exec) return;
    const auto what = script ? &Session::start_script : &Session::answer_command;
    if (kind_ == Kind::slow) return later(channel, loop_.now() + lateness, what);
    (this->*what)(channel);
}

void Session::start_script(Channel& channel) {
    const std::scoped_lock hold(fleet_.mutex());
    channel.run.emplace(fleet_.host(host_), recognise(channel.input), number_);
    std::string().swap(channel.input);
    if (kind_ == Kind::lost_mid_kill && channel.run->script().kind == ScriptKind::signal)
        return cut_connection();
    advance(channel);
}

void Session::answer_command(Channel& channel) {
    const auto answer = shell_answer(channel.command, host_name(host_, fleet_.size()));
    channel.status = answer ? answer->status : 127;
    channel.out = answer ? answer->out : "";
    channel.err = answer ? "" : "simfleet: the model has no such command\n";
    if (!answer || answer->after == Moment(0)) {
        channel.over = true;
        return;
    }
    later(channel, loop_.now() + answer->after, &Session::finish_command);
}

void Session::finish_command(Channel& channel) { channel.over = true; }

void Session::go_on(Channel& channel) {
    const std::scoped_lock hold(fleet_.mutex());
    advance(channel);
}

// Under the fleet's mutex.
void Session::advance(Channel& channel) {
    auto step = channel.run->step(loop_.now());
    spoil(step, channel.run->script());
    channel.out += step.out;
    channel.err += step.err;
    channel.over = step.over;
    channel.status = step.status;
    if (!step.over) later(channel, step.again, &Session::go_on);
}

void Session::spoil(ScriptRun::Step& step, const Script& script) {
    const bool survey = script.kind == ScriptKind::survey;
    if (kind_ == Kind::garbage)
        step.out = "\x01\x02 nothing of this is \xff\xfe what was asked for\n%%%%\nbegin\nend\n";
    if (kind_ == Kind::no_end && survey) step.out.erase(step.out.rfind("end "));
    if (kind_ == Kind::cut_survey && survey) {
        step.out.resize(step.out.size() / 2);
        cut_when_written_ = true;
    }
}

void Session::write(Channel& channel) {
    constexpr std::size_t most = 32'768;
    const auto put = [&](std::string& text, auto* writer) {
        while (!text.empty()) {
            const auto size = static_cast<std::uint32_t>(std::min(text.size(), most));
            const int count = writer(channel.handle, text.data(), size);
            if (count <= 0) break;
            text.erase(0, static_cast<std::size_t>(count));
        }
    };
    put(channel.out, ssh_channel_write);
    put(channel.err, ssh_channel_write_stderr);
    if (!channel.out.empty() || !channel.err.empty()) return;
    if (cut_when_written_) return cut_connection();
    if (channel.over && !channel.finished) finish(channel);
}

void Session::finish(Channel& channel) {
    channel.finished = true;
    ssh_channel_request_send_exit_status(channel.handle, channel.status);
    ssh_channel_send_eof(channel.handle);
    ssh_channel_close(channel.handle);
}

void Session::later(Channel& channel, Moment when, void (Session::*what)(Channel&)) {
    channel.timer = loop_.at(when, [this, &channel, what] {
        channel.timer = 0;
        if (!channel.closed) (this->*what)(channel);
        pump();
    });
}

// What was written goes out before.
void Session::cut_connection() { ::shutdown(fd_, SHUT_RDWR); }

ssh_channel Session::on_open(ssh_session session, void* self) {
    auto& owner = *static_cast<Session*>(self);
    auto& channel = owner.channels_.emplace_back();
    channel.session = &owner;
    channel.handle = ssh_channel_new(session);
    channel.callbacks.userdata = &channel;
    channel.callbacks.channel_exec_request_function = on_exec;
    channel.callbacks.channel_data_function = on_data;
    channel.callbacks.channel_eof_function = on_eof;
    channel.callbacks.channel_close_function = on_close;
    ssh_callbacks_init(&channel.callbacks);
    ssh_set_channel_callbacks(channel.handle, &channel.callbacks);
    return channel.handle;
}

int Session::on_exec(ssh_session, ssh_channel, const char* command, void* self) {
    auto& channel = *static_cast<Channel*>(self);
    channel.command = command;
    channel.asked = true;
    return 0;
}

int Session::on_data(ssh_session, ssh_channel, void* data, std::uint32_t size, int, void* self) {
    auto& channel = *static_cast<Channel*>(self);
    constexpr std::size_t most = 1 << 20;
    if (!channel.started && channel.input.size() < most)
        channel.input.append(static_cast<const char*>(data), size);
    return static_cast<int>(size);
}

void Session::on_eof(ssh_session, ssh_channel, void* self) { static_cast<Channel*>(self)->at_end = true; }
void Session::on_close(ssh_session, ssh_channel, void* self) { static_cast<Channel*>(self)->closed = true; }

}  // namespace cleanslate::simulated
