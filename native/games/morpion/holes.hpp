// What destroy and repair takes out of a grid. C++17, for nvcc too.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define ROOKERY_WARP __host__ __device__ __forceinline__
#else
#define ROOKERY_WARP inline
#endif

namespace rookery::morpion {

constexpr int kForever = 128;  // farther than any cell, on a diagonal too

struct Dot {
    int x, y;
};

// Cells whose coordinates, counted from a centre, lie in two ranges; with `diagonal` the coordinates are x + y and x - y.
struct Region {
    Dot centre;
    bool diagonal;
    int low_u, high_u, low_v, high_v;

    ROOKERY_WARP bool contains(Dot dot) const {
        const int x = dot.x - centre.x, y = dot.y - centre.y;
        const int u = diagonal ? x + y : x, v = diagonal ? x - y : y;
        return u >= low_u && u <= high_u && v >= low_v && v <= high_v;
    }
};

ROOKERY_WARP Region box(Dot centre, int radius) { return {centre, false, -radius, radius, -radius, radius}; }

// `number` turns it. A strip goes on for ever in one direction or in both, a wedge is a quarter or a half of the plane.
ROOKERY_WARP Region strip(Dot centre, int radius, std::uint32_t number) {
    const int back = number & 1 ? -kForever : 0, forth = number & 3 ? kForever : 0;  // 00: backwards only
    const int low = number & 3 ? back : -kForever;
    Region region = {centre, (number & 4) != 0, low, forth, -radius, radius};
    if (number & 8) region = {centre, region.diagonal, -radius, radius, low, forth};
    return region;
}
ROOKERY_WARP Region wedge(Dot centre, std::uint32_t number) {
    Region region = {centre, (number & 1) != 0, 0, kForever, number & 2 ? 0 : -kForever, kForever};
    if (number & 4) region.low_u = -kForever, region.high_u = 0;
    if ((number & 2) && (number & 8)) region.low_v = -kForever, region.high_v = 0;
    if (!(number & 2) && (number & 8)) {
        region = {centre, region.diagonal, region.low_v, region.high_v, region.low_u, region.high_u};
    }
    return region;
}

}  // namespace rookery::morpion
