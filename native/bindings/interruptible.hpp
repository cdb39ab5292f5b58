// Runs a long native call so that Python stays alive: the GIL is released and Ctrl-C works.
#pragma once

#include <nanobind/nanobind.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <optional>

#include "core/control.hpp"

namespace rookery {

namespace nb = nanobind;

// Whether Ctrl-C does nothing in this process, as in workers, which end with the process that started them.
inline bool ignores_interrupts() {
    struct sigaction now;
    return sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Calls work() in a thread of its own while this one listens for signals. On Ctrl-C `control.stop` is set, the work
// comes to its end, and KeyboardInterrupt is raised, unless `keep` asks for what was found so far. Where there is nothing
// to listen for, no thread is started: workers that share the cores would wait for each other's threads.
template <class Work>
auto interruptible(Control& control, Work&& work, bool keep = false) {
    if (ignores_interrupts()) {
        nb::gil_scoped_release release;
        return work();
    }
    auto result = std::async(std::launch::async, std::forward<Work>(work));
    std::optional<nb::python_error> interrupt;
    {
        nb::gil_scoped_release release;
        while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
            nb::gil_scoped_acquire acquire;
            if (!interrupt && PyErr_CheckSignals() != 0) {
                interrupt.emplace();
                control.stop = true;
            }
        }
    }
    if (interrupt && !keep) {
        interrupt->restore();
        throw nb::python_error();
    }
    return result.get();
}

}  // namespace rookery
