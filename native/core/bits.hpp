// Bit sets of up to 128 squares.
#pragma once

#include <bit>
#include <cstdint>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace rookery {

using Bits128 = unsigned __int128;

inline int popcount(std::uint64_t x) { return std::popcount(x); }
inline int popcount(Bits128 x) {
    return std::popcount(static_cast<std::uint64_t>(x)) + std::popcount(static_cast<std::uint64_t>(x >> 64));
}

inline int lowest_bit(std::uint64_t x) { return std::countr_zero(x); }
inline int lowest_bit(Bits128 x) {
    const auto low = static_cast<std::uint64_t>(x);
    return low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(x >> 64));
}

// Index of the n-th set bit, counted from 0; there must be more than n.
inline int nth_bit(std::uint64_t x, int n) {
#if defined(__BMI2__)
    return std::countr_zero(_pdep_u64(1ULL << n, x));
#else
    while (n-- > 0) x &= x - 1;
    return std::countr_zero(x);
#endif
}
inline int nth_bit(Bits128 x, int n) {
    const auto low = static_cast<std::uint64_t>(x);
    const int in_low = std::popcount(low);
    return n < in_low ? nth_bit(low, n) : 64 + nth_bit(static_cast<std::uint64_t>(x >> 64), n - in_low);
}

}  // namespace rookery
