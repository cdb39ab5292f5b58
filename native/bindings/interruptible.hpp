// Runs a long native call so that Python stays alive: the GIL is released and Ctrl-C works.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/control.hpp"

namespace rookery {

// Does the work in a thread of its own while this one listens for signals. On Ctrl-C `control.stop` is set, the work
// comes to its end, and KeyboardInterrupt is raised, unless `keep` asks for what was found so far. Where there is nothing
// to listen for, no thread is started: workers that share the cores would wait for each other's threads.
void run_interruptible(Control& control, const std::function<void()>& work, bool keep);

// Returns work(). What does not depend on the work is compiled once, not in every call.
template <class Work>
auto interruptible(Control& control, Work&& work, bool keep = false) {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
        run_interruptible(control, std::ref(work), keep);
    } else {
        std::optional<Result> result;
        run_interruptible(control, [&] { result.emplace(work()); }, keep);
        return std::move(*result);
    }
}

}  // namespace rookery
