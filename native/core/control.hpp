// How a long native call is watched and stopped from outside.
#pragma once

#include <atomic>
#include <cstdint>

namespace rookery {

// Shared by the caller and the workers of one call. The workers look at `stopped()` at least every few milliseconds
// and return what they have; `done` counts whatever unit the algorithm names in its documentation.
struct Control {
    std::atomic<bool> stop{false};
    std::atomic<std::int64_t> done{0};

    bool stopped() const { return stop.load(std::memory_order_relaxed); }
    void add(std::int64_t n) { done.fetch_add(n, std::memory_order_relaxed); }
};

}  // namespace rookery
