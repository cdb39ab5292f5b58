// Threads that wait for work, for loops that are too short to start threads for.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace rookery {

class Workers {
public:
    // The caller of `run` works too, so that one thread less is started.
    explicit Workers(int threads) : process_(getpid()), parts_(static_cast<std::size_t>(std::max(1, threads))) {
        for (std::size_t i = 1; i < parts_.size(); ++i) threads_.emplace_back([this, i] { serve(i); });
    }
    Workers(const Workers&) = delete;

    ~Workers() {
        stop_ = true;
        ++round_;
        round_.notify_all();
        for (auto& thread : threads_) forked() ? thread.detach() : thread.join();
    }

    // Calls work(block) for every block in 0 .. blocks-1. Each thread begins with a part of its own, the same in every
    // call with as many blocks, so that what belongs to a block stays in the cache of one core. A part whose thread does
    // not come is done by the others, after a moment: fetching it from another cache takes longer than a short wait.
    // The first exception stops the loop and is thrown here. What a block computes must depend on the block alone, never
    // on the thread that ran it. One call at a time.
    void run(std::int64_t blocks, const std::function<void(std::int64_t)>& work) {
        if (threads_.empty() || blocks < 2 || forked()) {
            for (std::int64_t block = 0; block < blocks; ++block) work(block);
            return;
        }
        work_ = &work;
        const auto parts = static_cast<std::int64_t>(parts_.size());
        for (std::int64_t i = 0; i < parts; ++i) {
            parts_[i].next = blocks * i / parts;
            parts_[i].end = blocks * (i + 1) / parts;
        }
        open_ = true;
        ++round_;
        round_.notify_all();
        take_blocks(0);
        open_ = false;  // who comes late finds nothing to do
        for (int inside = inside_; inside != 0; inside = inside_) {
            if (!spin(kAwake, [&] { return inside_ != inside; })) inside_.wait(inside);
        }
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    static constexpr int kAwake = 1000, kPatience = 200;  // turns of 10 to 50 nanoseconds

    struct alignas(64) Part {
        std::atomic<std::int64_t> next{0};
        std::int64_t end = 0;
    };

    // The child of a fork has this object, but not the threads.
    bool forked() const { return getpid() != process_; }

    // Waits some microseconds: much less than it takes to sleep and wake up.
    template <class Condition>
    static bool spin(int turns, Condition&& condition) {
        for (int i = 0; i < turns; ++i) {
            if (condition()) return true;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        return false;
    }

    void serve(std::size_t own) {
        for (std::uint32_t seen = 0; true;) {
            if (!spin(kAwake, [&] { return round_ != seen; })) round_.wait(seen);
            seen = round_;
            if (stop_) return;
            ++inside_;
            if (open_) take_blocks(own);
            if (--inside_ == 0) inside_.notify_all();
        }
    }

    void take_blocks(std::size_t own) {
        try {
            for (std::size_t i = 0; i < parts_.size(); ++i) {
                Part& part = parts_[(own + i) % parts_.size()];
                if (i > 0) spin(kPatience, [&] { return part.next >= part.end; });
                for (std::int64_t block = part.next++; block < part.end; block = part.next++) (*work_)(block);
            }
        } catch (...) {
            for (Part& part : parts_) part.next = part.end;
            std::lock_guard lock(failure_mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    pid_t process_;
    std::vector<Part> parts_;  // the ends change only while nobody is inside
    std::atomic<std::uint32_t> round_{0};
    std::atomic<int> inside_{0};  // threads that may be at work besides the caller
    std::atomic<bool> open_{false}, stop_{false};
    const std::function<void(std::int64_t)>* work_ = nullptr;
    std::exception_ptr failure_;
    std::mutex failure_mutex_;
    std::vector<std::thread> threads_;
};

}  // namespace rookery
