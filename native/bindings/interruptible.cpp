#include "bindings/interruptible.hpp"

#include <nanobind/nanobind.h>
#include <signal.h>

#include <chrono>
#include <future>

namespace rookery {

namespace nb = nanobind;

// Whether Ctrl-C does nothing in this process, as in workers, which end with the process that started them.
static bool ignores_interrupts() {
    struct sigaction now;
    return sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void run_interruptible(Control& control, const std::function<void()>& work, bool keep) {
    if (ignores_interrupts()) {
        nb::gil_scoped_release release;
        return work();
    }
    auto done = std::async(std::launch::async, std::ref(work));
    std::optional<nb::python_error> interrupt;
    {
        nb::gil_scoped_release release;
        while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
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
    done.get();
}

}  // namespace rookery
