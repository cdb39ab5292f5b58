// One loop over independent blocks of work, on any number of threads.
#pragma once

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rookery {

// The threads that 0 means: $ROOKERY_THREADS, which workers of a job set, or the cores that this process may use.
inline int usable_threads(int threads) {
    if (threads > 0) return threads;
    if (const char* given = std::getenv("ROOKERY_THREADS")) {
        if (const int number = std::atoi(given); number > 0) return number;
    }
#ifdef __linux__
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
#endif
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// Calls work(block) for every block in 0 .. blocks-1; `threads` 0 means all cores. The first exception stops the loop
// and is thrown here. What a block computes must depend on the block alone, never on the thread that ran it.
template <class Work>
void parallel_blocks(std::int64_t blocks, int threads, Work&& work) {
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    auto worker = [&] {
        try {
            for (std::int64_t block = next++; block < blocks; block = next++) work(block);
        } catch (...) {
            next = blocks;
            std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    const auto extra = std::min<std::int64_t>(usable_threads(threads), blocks) - 1;
    std::vector<std::thread> pool;
    for (std::int64_t i = 0; i < extra; ++i) pool.emplace_back(worker);
    worker();
    for (auto& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace rookery
