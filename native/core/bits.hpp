// Bit sets of up to 128 squares.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
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

// The bits of `x` put at the places of the set bits of `places`, in order.
inline std::uint64_t spread_bits(std::uint64_t x, std::uint64_t places) {
#if defined(__BMI2__)
    return _pdep_u64(x, places);
#else
    std::uint64_t spread = 0;
    for (; places; places &= places - 1, x >>= 1) spread |= (x & 1) << std::countr_zero(places);
    return spread;
#endif
}

// Vector types of gcc and clang.
using EightWords = std::int32_t __attribute__((vector_size(32)));
using EightBytes = std::int8_t __attribute__((vector_size(8)));

// Writes 1 or 0 for each of the first `count` bits, eight numbers at once: floats or bytes.
template <class Number>
void write_bits(std::uint64_t x, int count, Number* numbers) {
    using Lane = std::conditional_t<sizeof(Number) == 1, std::int8_t, std::int32_t>;
    using Lanes = std::conditional_t<sizeof(Number) == 1, EightBytes, EightWords>;
    constexpr Lanes kBits = {1, 2, 4, 8, 16, 32, 64, static_cast<Lane>(128)};
    for (; count >= 8; count -= 8, numbers += 8, x >>= 8) {
        const Lanes set = (static_cast<Lane>(x & 0xff) & kBits) != 0;  // all bits of a lane, or none
        const Lanes written = set & std::bit_cast<Lane>(Number(1));
        std::memcpy(numbers, &written, sizeof written);
    }
    for (int i = 0; i < count; ++i) numbers[i] = static_cast<Number>(x >> i & 1);
}

template <class Number>
void write_bits(Bits128 x, int count, Number* numbers) {
    write_bits(static_cast<std::uint64_t>(x), std::min(count, 64), numbers);
    if (count > 64) write_bits(static_cast<std::uint64_t>(x >> 64), count - 64, numbers + 64);
}

}  // namespace rookery
