// The longest games of 1010! on boards up to 6x6, on a GPU: the survival objective over all 2^(rows * columns) boards.
//
// Build and run (CUDA 12 or later; not part of the normal build):
//   nvcc -O3 -std=c++17 -arch=sm_90 -o tenten_survival native/games/tenten/survival.cu
//   ./tenten_survival ROWS COLUMNS three|seven|full|no-3x3 [SECONDS=900] [BITS=16|32] [BOARD...]
// 6x6 needs 128 GiB with 16 bits. Prints one JSON object per sweep, one with the result, and one for every board asked about
// (rows of # and . joined by /): the mean rounds left from it, and for each piece the cells of its best placement and the
// mean rounds left after it.
//
// What is computed. D(b) is the greatest expected number of draws until a piece does not fit, that fatal draw included,
// from board b; rounds are D - 1. D = 1 + E[best D(next)], with 0 for a piece that does not fit. Stored is y = gain * D
// for a gain chosen on the way so that y stays near a constant on the empty board:
//   y(b) = gain + E[best y(next)],  and a board with full lines is a copy of the board after clearing.
//
// What is bounded. Let e(b) = y(b) - E[best y(next)] for any stored y. If 0 < least <= e <= most on all boards, then
// y / most <= D <= y / least, because D is the limit of its equation from below and from above. A sweep computes every
// board once, in place, from values that are each of the last sweep or of this one. What it read differs from what
// stands there at the end by at most one change of the board read, and one more where that is a copy of another. So
//   gain - 2 * rise - rounding <= e <= gain + 2 * fall + rounding,
// where rise and fall are the greatest change upwards and downwards of any stored value in the sweep, and rounding is
// half a unit in fixed point. The bounds of all sweeps hold at once, so their intersection is reported.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "lines.hpp"

using Board = unsigned long long;

constexpr int kLanes = 8;  // boards per thread: those that differ in the lowest three cells
constexpr int kMaxPieces = 19, kMaxPlacements = 512, kMaxWeight = 64, kThreads = 256;

struct Game : rookery::tenten::Lines<Board> {
    int pieces, total_weight;
    int weight[kMaxPieces];
    int begin[kMaxPieces + 1];   // placements of a piece: begin[p] .. begin[p + 1]
    int lanes_from[kMaxPieces];  // those from here on cover cells of the lanes
    Board mask[kMaxPlacements];
    unsigned char draw[kMaxWeight];
};

__constant__ Game game;

struct Stats {
    float fall, rise, greatest;  // fall is not negative
};

#define CHECK(call)                                                                                  \
    do {                                                                                             \
        const cudaError_t status = (call);                                                           \
        if (status != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "tenten_survival: %s: %s\n", #call, cudaGetErrorString(status));    \
            std::exit(1);                                                                            \
        }                                                                                            \
    } while (0)

// Eight values of one thread. 16-bit ones are packed two in a word, and their maxima are taken two at a time.
struct Lanes16 {
    using Value = std::uint16_t;
    std::uint32_t word[4];

    __device__ static Lanes16 load(const Value* values) {
        const uint4 w = *reinterpret_cast<const uint4*>(values);
        return {{w.x, w.y, w.z, w.w}};
    }
    __device__ void store(Value* values) const {
        *reinterpret_cast<uint4*>(values) = make_uint4(word[0], word[1], word[2], word[3]);
    }
    __device__ void raise(const Lanes16& other) {
        for (int i = 0; i < 4; ++i) word[i] = __vmaxu2(word[i], other.word[i]);
    }
    // Lane i takes lane i | covered, or 0 where the piece would cover a filled cell.
    __device__ Lanes16 covered(unsigned cells) const {
        Lanes16 result = *this;
        if (cells & 1) {
            for (auto& w : result.word) w >>= 16;
        }
        if (cells & 2) result = {{result.word[1], 0, result.word[3], 0}};
        if (cells & 4) result = {{result.word[2], result.word[3], 0, 0}};
        return result;
    }
    __device__ float get(int lane) const {
        return static_cast<float>(word[lane >> 1] >> ((lane & 1) * 16) & 0xffff);
    }
    // Sums of weight * value stay below 2^24, so they and the division's rounding are exact in integers.
    using Sum = std::uint32_t;
    __device__ Sum part(int lane) const { return word[lane >> 1] >> ((lane & 1) * 16) & 0xffff; }
    // `gain` counts units times the total weight.
    __device__ static float finish(Sum sum, Sum gain) {
        const Sum weight = game.total_weight;
        return static_cast<float>(min((sum + gain + weight / 2) / weight, 65535u));
    }
    __device__ void set(int lane, float value) {
        const auto bits = static_cast<std::uint32_t>(value);
        const int shift = (lane & 1) * 16;
        word[lane >> 1] = (word[lane >> 1] & ~(0xffffu << shift)) | bits << shift;
    }
};

struct Lanes32 {
    using Value = float;
    float value[kLanes];

    __device__ static Lanes32 load(const Value* values) {
        const float4 a = reinterpret_cast<const float4*>(values)[0], b = reinterpret_cast<const float4*>(values)[1];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
    __device__ void store(Value* values) const {
        reinterpret_cast<float4*>(values)[0] = make_float4(value[0], value[1], value[2], value[3]);
        reinterpret_cast<float4*>(values)[1] = make_float4(value[4], value[5], value[6], value[7]);
    }
    __device__ void raise(const Lanes32& other) {
        for (int i = 0; i < kLanes; ++i) value[i] = fmaxf(value[i], other.value[i]);
    }
    __device__ Lanes32 covered(unsigned cells) const {
        Lanes32 r = *this;
        if (cells & 1) r = {{r.value[1], 0, r.value[3], 0, r.value[5], 0, r.value[7], 0}};
        if (cells & 2) r = {{r.value[2], r.value[3], 0, 0, r.value[6], r.value[7], 0, 0}};
        if (cells & 4) r = {{r.value[4], r.value[5], r.value[6], r.value[7], 0, 0, 0, 0}};
        return r;
    }
    __device__ float get(int lane) const { return value[lane]; }
    using Sum = float;
    __device__ Sum part(int lane) const { return value[lane]; }
    __device__ static float finish(Sum sum, Sum gain) { return (sum + gain) / game.total_weight; }
    __device__ void set(int lane, float v) { value[lane] = v; }
};

__device__ void float_max(float* target, float value) {  // for values that are not negative
    atomicMax(reinterpret_cast<int*>(target), __float_as_int(value));
}

template <class Lanes>
__global__ void __launch_bounds__(kThreads) sweep_chunk(typename Lanes::Value* values, Board first, Board boards,
                                                        typename Lanes::Sum gain, Stats* stats) {
    const Board offset = (static_cast<Board>(blockIdx.x) * kThreads + threadIdx.x) * kLanes;
    float fall = 0, rise = 0, greatest = 0;
    if (offset < boards) {
        const Board tile = first + offset;
        const Lanes old = Lanes::load(values + tile);
        Lanes fresh = old;
        if (game.has_line(tile)) {
            for (int lane = 0; lane < kLanes; ++lane) {
                fresh.set(lane, static_cast<float>(values[game.clear(tile | lane)]));
            }
        } else {
            typename Lanes::Sum sum[kLanes] = {};
            for (int piece = 0; piece < game.pieces; ++piece) {
                Lanes best = {};
                int i = game.begin[piece];
#pragma unroll 4
                for (; i < game.lanes_from[piece]; ++i) {
                    const Board mask = game.mask[i];
                    if ((tile & mask) == 0) best.raise(Lanes::load(values + (tile | mask)));
                }
                for (; i < game.begin[piece + 1]; ++i) {
                    const Board mask = game.mask[i], high = mask & ~Board(kLanes - 1);
                    if ((tile & mask) == 0) {
                        best.raise(Lanes::load(values + (tile | high)).covered(static_cast<unsigned>(mask) & 7));
                    }
                }
                for (int lane = 0; lane < kLanes; ++lane) sum[lane] += game.weight[piece] * best.part(lane);
            }
            for (int lane = 0; lane < kLanes; ++lane) fresh.set(lane, Lanes::finish(sum[lane], gain));
            if (game.has_line(tile | (kLanes - 1))) {
                for (int lane = 0; lane < kLanes; ++lane) {
                    if (game.has_line(tile | lane)) {
                        fresh.set(lane, static_cast<float>(values[game.clear(tile | lane)]));
                    }
                }
            }
        }
        fresh.store(values + tile);
        for (int lane = 0; lane < kLanes; ++lane) {
            const float change = fresh.get(lane) - old.get(lane);
            rise = fmaxf(rise, change);
            fall = fmaxf(fall, -change);
            greatest = fmaxf(greatest, fresh.get(lane));
        }
    }
    for (int step = 16; step; step /= 2) {
        rise = fmaxf(rise, __shfl_xor_sync(~0u, rise, step));
        fall = fmaxf(fall, __shfl_xor_sync(~0u, fall, step));
        greatest = fmaxf(greatest, __shfl_xor_sync(~0u, greatest, step));
    }
    if (threadIdx.x % 32 == 0) {
        // Most warps have nothing new to say; a look is cheaper than an atomic.
        const volatile Stats* seen = stats;
        if (rise > seen->rise) float_max(&stats->rise, rise);
        if (fall > seen->fall) float_max(&stats->fall, fall);
        if (greatest > seen->greatest) float_max(&stats->greatest, greatest);
    }
}

template <class Value>
__global__ void fill(Value* values, Board boards, Value value) {
    const Board step = static_cast<Board>(gridDim.x) * blockDim.x;
    for (Board i = static_cast<Board>(blockIdx.x) * blockDim.x + threadIdx.x; i < boards; i += step) values[i] = value;
}

template <class Value>
__global__ void scale(Value* values, Board boards, float factor) {
    const Board step = static_cast<Board>(gridDim.x) * blockDim.x;
    for (Board i = static_cast<Board>(blockIdx.x) * blockDim.x + threadIdx.x; i < boards; i += step) {
        values[i] = static_cast<Value>(values[i] * factor + (sizeof(Value) == 2 ? 0.5f : 0.0f));
    }
}

__device__ std::uint64_t splitmix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// One game per thread by the table: rounds[thread] pieces placed; games still alive after `limit` are cut there.
template <class Value>
__global__ void play(const Value* values, std::uint64_t seed, int games, int limit, int* rounds) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= games) return;
    std::uint64_t random = seed * 0x9e3779b97f4a7c15ULL + thread;
    random = splitmix(random);
    Board board = 0;
    int placed = 0;
    for (; placed < limit; ++placed) {
        // 2^32 is large beside the weights: the draw is uniform to one part in 10^7.
        const int piece = game.draw[(splitmix(random) >> 32) * game.total_weight >> 32];
        Board next = board;
        float best = -1;
        for (int i = game.begin[piece]; i < game.begin[piece + 1]; ++i) {
            if (board & game.mask[i]) continue;
            const float value = static_cast<float>(values[board | game.mask[i]]);
            if (value > best) best = value, next = board | game.mask[i];
        }
        if (next == board) break;
        board = game.clear(next);
    }
    rounds[thread] = placed;
}

using Shape = std::vector<std::pair<int, int>>;

static Shape rectangle(int rows, int columns) {
    Shape cells;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) cells.push_back({r, c});
    }
    return cells;
}

static Shape corner(int size, int row, int column) {
    Shape cells;
    for (const auto& [r, c] : rectangle(size, size)) {
        if (r == row || c == column) cells.push_back({r, c});
    }
    return cells;
}

static std::vector<std::pair<Shape, int>> piece_set(const std::string& name) {
    std::vector<std::pair<Shape, int>> pieces;
    const auto corners = [&](int size, int weight) {
        for (int row : {0, size - 1}) {
            for (int column : {0, size - 1}) pieces.push_back({corner(size, row, column), weight});
        }
    };
    if (name == "three" || name == "seven") {
        const int weight = name == "three" ? 1 : 2;
        pieces = {{rectangle(1, 1), weight}, {rectangle(1, 2), weight}, {rectangle(2, 1), weight}};
        if (name == "seven") corners(2, 1);
    } else if (name == "full" || name == "no-3x3") {
        pieces = {{rectangle(1, 1), 2}, {rectangle(2, 2), 6}};
        for (int length = 2; length <= 5; ++length) {
            pieces.push_back({rectangle(1, length), length <= 3 ? 3 : 2});
            pieces.push_back({rectangle(length, 1), length <= 3 ? 3 : 2});
        }
        corners(2, 2);
        corners(3, 1);
        if (name == "full") pieces.push_back({rectangle(3, 3), 2});
    }
    return pieces;
}

static Game make_game(int rows, int columns, const std::vector<std::pair<Shape, int>>& pieces) {
    Game g = {};
    static_cast<rookery::tenten::Lines<Board>&>(g) = rookery::tenten::Lines<Board>::of(rows, columns);
    int placements = 0;
    for (const auto& [shape, weight] : pieces) {
        const int p = g.pieces++;
        g.weight[p] = weight;
        for (int i = 0; i < weight; ++i) g.draw[g.total_weight++] = static_cast<unsigned char>(p);
        g.begin[p] = placements;
        for (const bool lanes : {false, true}) {
            if (lanes) g.lanes_from[p] = placements;
            for (int row = 0; row < rows; ++row) {
                for (int column = 0; column < columns; ++column) {
                    Board mask = 0;
                    bool inside = true;
                    for (const auto& [r, c] : shape) {
                        inside &= row + r < rows && column + c < columns;
                        if (inside) mask |= Board(1) << ((row + r) * columns + column + c);
                    }
                    if (inside && ((mask & (kLanes - 1)) != 0) == lanes) g.mask[placements++] = mask;
                }
            }
        }
        g.begin[p + 1] = placements;
    }
    return g;
}

// The board of a drawing; false if the drawing is not one of this size.
static bool read_board(const Game& g, const std::string& text, Board& board) {
    if (static_cast<int>(text.size()) != g.rows * (g.columns + 1) - 1) return false;
    board = 0;
    for (int row = 0; row < g.rows; ++row) {
        for (int column = 0; column <= g.columns; ++column) {
            const std::size_t at = row * (g.columns + 1) + column;
            if (at == text.size()) break;
            if (column == g.columns ? text[at] != '/' : text[at] != '#' && text[at] != '.') return false;
            if (text[at] == '#') board |= Board(1) << (row * g.columns + column);
        }
    }
    return true;
}

// What the table knows about one board. `scale` turns a stored value into draws.
template <class Value>
static void tell(const Game& g, const Value* values, double scale, const std::string& text) {
    Board board;
    if (!read_board(g, text, board)) {
        std::fprintf(stderr, "tenten_survival: %s is not a board of %d rows and %d columns of # and .\n", text.c_str(), g.rows,
                     g.columns);
        return;
    }
    const auto draws = [&](Board b) {
        Value value;
        CHECK(cudaMemcpy(&value, values + b, sizeof value, cudaMemcpyDeviceToHost));
        return value * scale;
    };
    std::printf("{\"board\": \"%s\", \"mean_rounds_left\": %.6g, \"best\": [", text.c_str(), draws(board) - 1);
    for (int piece = 0; piece < g.pieces; ++piece) {
        Board best = 0;
        double value = 0;
        for (int i = g.begin[piece]; i < g.begin[piece + 1]; ++i) {
            if (board & g.mask[i]) continue;
            if (const double v = draws(board | g.mask[i]); v > value) value = v, best = g.mask[i];
        }
        std::printf("%s{\"piece\": %d, \"cells\": [", piece ? ", " : "", piece);
        for (int cell = 0, n = 0; cell < g.rows * g.columns; ++cell) {
            if (best >> cell & 1) std::printf("%s%d", n++ ? ", " : "", cell);
        }
        std::printf("], \"mean_rounds_left\": %.6g}", std::max(value - 1, 0.0));
    }
    std::printf("]}\n");
}

template <class Lanes>
static int run(const Game& g, const char* set, double limit, const std::vector<std::string>& asked) {
    using Value = typename Lanes::Value;
    constexpr bool fixed = sizeof(Value) == 2;
    const int cells = g.rows * g.columns;
    const Board boards = Board(1) << cells;
    const std::size_t bytes = boards * sizeof(Value);
    std::size_t free_bytes = 0, total_bytes = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (bytes > free_bytes) {
        std::fprintf(stderr, "tenten_survival: %dx%d needs %zu bytes of GPU memory, and %zu are free\n", g.rows,
                     g.columns, bytes, free_bytes);
        return 2;
    }
    Value* values = nullptr;
    Stats* stats = nullptr;
    CHECK(cudaMalloc(&values, bytes));
    CHECK(cudaMalloc(&stats, sizeof(Stats)));
    CHECK(cudaMemcpyToSymbol(game, &g, sizeof g));
    // The empty board drifts to about 1.8 times the start while the gain settles.
    double unit = fixed ? 28000.0 : 1.0;
    fill<<<4096, 256>>>(values, boards, static_cast<Value>(unit));
    const Board chunk = std::max<Board>(Board(1) << 11, boards >> 10);
    // A float sum is rounded once per piece and a few times more; in fixed point the last rounding is the only one.
    const double rounding = fixed ? 0.5 : (g.pieces + 4) * 1.2e-7 * 2;
    const double gain_step = fixed ? 1.0 / g.total_weight : 0.0;
    double gain = 0.02 * unit, low = 0, high = INFINITY, width_before = INFINITY;
    int sweeps = 0, stale = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    bool saturated = false;
    while (true) {
        CHECK(cudaMemset(stats, 0, sizeof(Stats)));
        if constexpr (fixed) gain = std::max(gain_step, std::round(gain / gain_step) * gain_step);
        const auto gain_sum = static_cast<typename Lanes::Sum>(fixed ? std::llround(gain * g.total_weight)
                                                                     : gain * g.total_weight);
        for (Board end = boards; end > 0;) {
            const Board size = std::min(chunk, end);
            end -= size;
            const auto blocks = static_cast<unsigned>((size / kLanes + kThreads - 1) / kThreads);
            sweep_chunk<Lanes><<<blocks, kThreads>>>(values, end, size, gain_sum, stats);
        }
        CHECK(cudaGetLastError());
        Stats seen;
        Value first;
        CHECK(cudaMemcpy(&seen, stats, sizeof seen, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost));
        ++sweeps;
        saturated = fixed && seen.greatest >= 65535;
        const double y = static_cast<double>(first);
        const double most = gain + 2.0 * seen.fall + rounding, least = gain - 2.0 * seen.rise - rounding;
        if (!saturated) {
            low = std::max(low, y / most);
            if (least > 0) high = std::min(high, y / least);
        }
        std::printf("{\"sweep\": %d, \"seconds\": %.3f, \"gain\": %.9g, \"first\": %.9g, \"fall\": %.6g, "
                    "\"rise\": %.6g, \"rounds_low\": %.9g, \"rounds_high\": %.9g}\n",
                    sweeps, elapsed(), gain / unit, y / unit, seen.fall / unit, seen.rise / unit, low - 1,
                    std::isfinite(high) ? high - 1 : -1.0);
        std::fflush(stdout);
        const double width = high - low;
        stale = width < width_before * 0.999 || !std::isfinite(width) ? 0 : stale + 1;
        width_before = std::min(width_before, width);
        const bool exact = seen.rise == 0 && seen.fall == 0;
        if (saturated || exact || stale >= 12 || width < 1e-7 * low || elapsed() > limit) break;
        // A gain that is too high by d raises all values by about four draws' worth of d per sweep. In fixed point the
        // last drifts are mostly rounding, and are followed with more care.
        const double middle = 0.5 * (static_cast<double>(seen.rise) - seen.fall);
        const bool settled = fixed && seen.rise + seen.fall <= 3;
        gain = std::min(std::max(gain - middle / (settled ? 8 : 4), gain / 2), gain * 2);
        if (settled && seen.greatest < 60000) {
            // Use the whole range: the finer the unit, the closer the bounds.
            const double factor = 64000.0 / seen.greatest;
            scale<<<4096, 256>>>(values, boards, static_cast<float>(factor));
            gain *= factor;
            unit *= factor;
        }
    }
    const double seconds = elapsed();
    // Games of the table's policy, as a check that does not depend on the bounds.
    constexpr int kGames = 1 << 17, kLimit = 1 << 16;
    int* rounds = nullptr;
    CHECK(cudaMalloc(&rounds, kGames * sizeof(int)));
    play<Value><<<kGames / 128, 128>>>(values, 1, kGames, kLimit, rounds);
    std::vector<int> played(kGames);
    CHECK(cudaMemcpy(played.data(), rounds, kGames * sizeof(int), cudaMemcpyDeviceToHost));
    double sum = 0, squares = 0;
    int cut = 0;
    for (const int r : played) sum += r, squares += static_cast<double>(r) * r, cut += r >= kLimit;
    const double mean = sum / kGames, error = std::sqrt((squares / kGames - mean * mean) / kGames);
    std::printf("{\"rows\": %d, \"columns\": %d, \"pieces\": \"%s\", \"bits\": %d, \"bytes\": %zu, "
                "\"mean_rounds\": %.9g, \"mean_rounds_low\": %.9g, \"mean_rounds_high\": %.9g, "
                "\"deaths_per_million_draws\": %.9g, \"sweeps\": %d, \"seconds\": %.3f, \"seconds_per_sweep\": %.4f, "
                "\"saturated\": %s, \"games\": %d, \"games_mean_rounds\": %.6g, \"games_half_width_95\": %.3g, "
                "\"games_cut\": %d}\n",
                g.rows, g.columns, set, fixed ? 16 : 32, bytes, 0.5 * (low + high) - 1, low - 1, high - 1,
                2e6 / (low + high), sweeps, seconds, seconds / sweeps, saturated ? "true" : "false", kGames, mean,
                1.96 * error, cut);
    Value first;
    CHECK(cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost));
    const double draws_empty = 0.5 * (low + high);
    for (const std::string& text : asked) tell(g, values, draws_empty / static_cast<double>(first), text);
    CHECK(cudaFree(rounds));
    CHECK(cudaFree(stats));
    CHECK(cudaFree(values));
    return saturated ? 1 : 0;
}

int main(int argc, char** argv) {
    const auto pieces = argc > 3 ? piece_set(argv[3]) : piece_set("");
    const int rows = argc > 3 ? std::atoi(argv[1]) : 0, columns = argc > 3 ? std::atoi(argv[2]) : 0;
    const double limit = argc > 4 ? std::atof(argv[4]) : 900;
    const int bits = argc > 5 ? std::atoi(argv[5]) : rows * columns > 34 ? 16 : 32;
    if (pieces.empty() || rows < 1 || columns < 1 || rows > 6 || columns > 6 || rows * columns < 11 || limit <= 0 ||
        (bits != 16 && bits != 32)) {
        std::fprintf(stderr, "usage: tenten_survival ROWS COLUMNS three|seven|full|no-3x3 [SECONDS] [BITS: 16 or 32] "
                             "[BOARD...]\n"
                             "boards of 11 to 36 cells, at most 6 rows and columns\n");
        return 2;
    }
    const Game g = make_game(rows, columns, pieces);
    const std::vector<std::string> asked(argv + std::min(argc, 6), argv + argc);
    return bits == 16 ? run<Lanes16>(g, argv[3], limit, asked) : run<Lanes32>(g, argv[3], limit, asked);
}
