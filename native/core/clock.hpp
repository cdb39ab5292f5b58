// The time a thread has worked, whatever else the machine does.
#pragma once

#include <ctime>

namespace rookery {

inline double thread_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace rookery
