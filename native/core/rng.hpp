// Seeded random numbers: xoshiro256** seeded through splitmix64 (Blackman and Vigna).
// A stream for every game or worker index makes results independent of the number of threads.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace rookery {

inline std::uint64_t splitmix64(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

class Rng {
public:
    using Words = std::array<std::uint64_t, 4>;

    explicit Rng(std::uint64_t seed = 0, std::uint64_t stream = 0) {
        std::uint64_t x = seed;
        x = splitmix64(x) ^ (stream * 0xd1342543de82ef95ULL);
        for (auto& word : words_) word = splitmix64(x);
    }

    std::uint64_t next() {
        const std::uint64_t result = std::rotl(words_[1] * 5, 7) * 9;
        const std::uint64_t t = words_[1] << 17;
        words_[2] ^= words_[0];
        words_[3] ^= words_[1];
        words_[1] ^= words_[2];
        words_[0] ^= words_[3];
        words_[2] ^= t;
        words_[3] = std::rotl(words_[3], 45);
        return result;
    }

    // Uniform in 0 .. n-1, exactly (Lemire's multiplication with rejection).
    std::uint32_t below(std::uint32_t n) {
        std::uint64_t product = (next() >> 32) * n;
        if (static_cast<std::uint32_t>(product) < n) {
            const std::uint32_t threshold = -n % n;
            while (static_cast<std::uint32_t>(product) < threshold) product = (next() >> 32) * n;
        }
        return static_cast<std::uint32_t>(product >> 32);
    }

    // The state of the generator, to be saved and restored; not all may be 0.
    Words& words() { return words_; }
    const Words& words() const { return words_; }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    // Standard normal (Box and Muller).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(6.283185307179586 * uniform());
    }

    // Gamma with scale 1 (Marsaglia and Tsang).
    double gamma(double shape) {
        if (shape < 1) return gamma(shape + 1) * std::pow(1 - uniform(), 1 / shape);
        const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = normal(), t = 1 + c * x, v = t * t * t;
            if (v > 0 && std::log(1 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
        }
    }

private:
    Words words_;
};

}  // namespace rookery
