#pragma once
// One SSH connection to a modelled host, over libssh's server API.

#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>

#include <functional>
#include <list>
#include <memory>

#include "tests/fleet/scale/fleet_state.hpp"
#include "tests/fleet/scale/loop.hpp"
#include "tests/fleet/scale/script_run.hpp"

namespace cleanslate::simulated {

class Session {
  public:
    // Speaks on `socket`, which it owns from now on. `on_end` is told once, last of all, and may delete it.
    Session(Loop& loop, FleetState& fleet, ssh_bind bind, Fd socket, std::size_t host,
            std::function<void()> on_end);
    ~Session();
    Session(const Session&) = delete;

    // False where the SSH library would not have the socket.
    bool begin();

  private:
    struct Channel {
        Session* session = nullptr;
        ssh_channel handle = nullptr;
        ssh_channel_callbacks_struct callbacks{};
        std::string command, input, out, err;
        bool asked = false, at_end = false, closed = false, started = false, over = false, finished = false;
        int status = 0;
        std::optional<ScriptRun> run;
        Loop::Timer timer = 0;
    };

    void set_callbacks();
    void on_events();
    void pump();
    bool is_over();
    void act(Channel& channel);
    void start(Channel& channel);
    void start_script(Channel& channel);
    void answer_command(Channel& channel);
    void finish_command(Channel& channel);
    void go_on(Channel& channel);
    void advance(Channel& channel);
    void spoil(ScriptRun::Step& step, const Script& script);
    void write(Channel& channel);
    void finish(Channel& channel);
    void later(Channel& channel, Moment when, void (Session::*what)(Channel&));
    void cut_connection();

    static ssh_channel on_open(ssh_session session, void* self);
    static int on_exec(ssh_session session, ssh_channel handle, const char* command, void* channel);
    static int on_data(ssh_session session, ssh_channel handle, void* data, std::uint32_t size, int is_stderr,
                       void* channel);
    static void on_eof(ssh_session session, ssh_channel handle, void* channel);
    static void on_close(ssh_session session, ssh_channel handle, void* channel);

    Loop& loop_;
    FleetState& fleet_;
    ssh_bind bind_;
    Fd socket_;
    int fd_ = -1;  // the same, once the library owns it
    std::size_t host_;
    Kind kind_;
    std::uint64_t number_;
    std::function<void()> on_end_;
    ssh_session session_;
    ssh_event event_;
    ssh_server_callbacks_struct callbacks_{};
    std::list<Channel> channels_;
    Loop::Timer retry_ = 0;
    bool cut_when_written_ = false;
};

}  // namespace cleanslate::simulated
