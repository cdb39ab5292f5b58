#include "core/workers.hpp"

#include <sys/wait.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/check.hpp"

using rookery::Workers;

TEST(workers_do_every_block_once) {
    for (const int threads : {1, 2, 5}) {
        Workers workers(threads);
        std::vector<int> done(40);
        // Rounds so short that threads come late to many of them.
        for (int round = 0; round < 2000; ++round) {
            const std::int64_t blocks = round % 40;
            workers.run(blocks, [&](std::int64_t block) { ++done[static_cast<std::size_t>(block)]; });
        }
        for (std::size_t block = 0; block < done.size(); ++block) {
            CHECK(done[block] == 2000 / 40 * (39 - static_cast<int>(block)));
        }
    }
}

// One thread is the caller's own; no other is started, and blocks come in order.
TEST(one_worker_is_the_caller) {
    const auto caller = std::this_thread::get_id();
    for (const int threads : {-1, 0, 1}) {
        Workers workers(threads);
        std::int64_t next = 0;
        for (int round = 0; round < 10; ++round) {
            workers.run(10, [&](std::int64_t block) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));  // another thread would have time to come
                CHECK(std::this_thread::get_id() == caller);
                CHECK(block == next);
                next = (next + 1) % 10;
            });
        }
        CHECK(next == 0);
    }
}

TEST(workers_pass_exceptions_on) {
    Workers workers(3);
    for (int round = 0; round < 200; ++round) {
        bool caught = false;
        try {
            workers.run(10, [&](std::int64_t block) {
                if (block == 7) throw std::runtime_error("block 7");
            });
        } catch (const std::runtime_error&) {
            caught = true;
        }
        CHECK(caught);
        int sum = 0;
        std::mutex mutex;
        workers.run(10, [&](std::int64_t block) {
            std::lock_guard lock(mutex);
            sum += static_cast<int>(block);
        });
        CHECK(sum == 45);
    }
}

TEST(workers_survive_a_fork) {
    Workers workers(3);
    workers.run(10, [](std::int64_t) {});
    const pid_t child = fork();
    if (child == 0) {
        int done = 0;
        workers.run(10, [&](std::int64_t) { ++done; });
        _exit(done == 10 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
}
