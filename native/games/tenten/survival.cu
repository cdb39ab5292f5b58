// The longest games of 1010! on boards up to 6x6, on a GPU: the survival objective over all 2^(rows * columns) boards.
//
// Build and run (CUDA 12 or later; not part of the normal build):
//   nvcc -O3 -std=c++17 -arch=sm_90 -o tenten_survival native/games/tenten/survival.cu
//   ./tenten_survival ROWS COLUMNS three|seven|full|no-3x3 [SECONDS=900] [BOARD...]
// 6x6 needs 128 GiB. Prints one JSON object per sweep, one with the result, and one for every board asked about (rows of #
// and . joined by /): the mean rounds left from it, and for each piece the cells of its best placement and the mean rounds
// left after it. Compiled as C++ (c++ -O2 -std=c++17 -x c++) it does the same on one core, for tests.
//
// What is computed. D(b) is the greatest expected number of draws until a piece does not fit, that fatal draw included,
// from board b; rounds are D - 1. D = 1 + E[best D(next)], with 0 for a piece that does not fit. Stored is y = gain * D
// for a gain chosen on the way so that y stays near a constant on the empty board:
//   y(b) = gain + E[best y(next)],  and a board with full lines is a copy of the board after clearing.
//
// What is stored. On a square board the mirror image in the main diagonal is worth as much, because every set of pieces has
// the images of its pieces with the same weights. So cells are numbered anew: first those of the diagonal, then those below
// it, L, then their images above it, U. One of U >= L and U <= L holds, and the board with U >= L is stored, at
// (U (U + 1) / 2 + L) * 2^diagonal + diagonal: half of all boards, in an order in which what follows a placement comes
// later, and in which boards that differ on the diagonal alone lie side by side. On other boards all cells count as
// diagonal.
//
// What is bounded. Let e(b) = y(b) - E[best y(next)] for any stored y. If 0 < least <= e <= most on all boards, then
// y / most <= D <= y / least, because D is the limit of its equation from below and from above. A sweep computes every
// board once, in place, from values that are each of the last sweep or of this one. What it read differs from what
// stands there at the end by at most one change of the board read, and one more where that is a copy of another. So
//   gain - 2 * rise - rounding <= e <= gain + 2 * fall + rounding,
// where rise and fall are the greatest change upwards and downwards of any stored value in the sweep, and rounding is
// that of the stored number: sums are made in double precision. The bounds of all sweeps hold at once, so their
// intersection is reported.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define EVERYWHERE __host__ __device__
#define UNROLL _Pragma("unroll 4")
#else
#define EVERYWHERE
#define UNROLL
#endif

using Board = unsigned long long;

constexpr int kLanes = 8;  // boards that are computed together: those that differ in the lowest three cells
constexpr int kMaxPieces = 19, kMaxPlacements = 512, kMaxWeight = 64, kMaxLines = 12;

struct Game {
    int rows, columns;
    int diagonal, pairs;  // cells of the diagonal, and on each side of it
    int cell[36];  // the number of a cell in a board, by row * columns + column
    int lines;
    Board line[kMaxLines];
    int pieces, total_weight;
    int weight[kMaxPieces];
    int begin[kMaxPieces + 1];  // placements of a piece: begin[p] .. begin[p + 1]
    int lanes_from[kMaxPieces];  // those from here on cover cells of the lanes
    Board mask[kMaxPlacements];
    unsigned char draw[kMaxWeight];

    EVERYWHERE Board stored() const {
        const Board side = Board(1) << pairs;
        return side * (side + 1) / 2 << diagonal;
    }
    EVERYWHERE Board index(Board board) const {
        const auto below = static_cast<std::uint32_t>(board >> diagonal) & ((1u << pairs) - 1);
        const auto above = static_cast<std::uint32_t>(board >> (diagonal + pairs));
        const std::uint32_t u = above > below ? above : below, l = above > below ? below : above;
        return static_cast<Board>(u * (u + 1) / 2 + l) << diagonal | (board & ((Board(1) << diagonal) - 1));
    }
    EVERYWHERE Board board(Board index) const {
        const Board triangle = index >> diagonal;
        auto u = static_cast<Board>((sqrt(8.0 * static_cast<double>(triangle) + 1) - 1) / 2);
        while (u * (u + 1) / 2 > triangle) --u;
        while ((u + 1) * (u + 2) / 2 <= triangle) ++u;
        return u << (diagonal + pairs) | (triangle - u * (u + 1) / 2) << diagonal |
               (index & ((Board(1) << diagonal) - 1));
    }
    EVERYWHERE bool has_line(Board board) const {
        bool found = false;
        for (int i = 0; i < lines; ++i) found |= (board & line[i]) == line[i];
        return found;
    }
    EVERYWHERE Board clear(Board board) const {
        Board kept = board;
        for (int i = 0; i < lines; ++i) {
            if ((board & line[i]) == line[i]) kept &= ~line[i];
        }
        return kept;
    }
};

struct Stats {
    float fall, rise, greatest;  // not negative
};

// Eight values. Those of boards that differ in the lowest three cells lie side by side.
struct Lanes {
    float value[kLanes];

    EVERYWHERE static Lanes load(const float* values) {
#if defined(__CUDA_ARCH__)
        const float4 a = reinterpret_cast<const float4*>(values)[0], b = reinterpret_cast<const float4*>(values)[1];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
#else
        Lanes lanes;
        std::copy(values, values + kLanes, lanes.value);
        return lanes;
#endif
    }
    EVERYWHERE void store(float* values) const {
#if defined(__CUDA_ARCH__)
        reinterpret_cast<float4*>(values)[0] = make_float4(value[0], value[1], value[2], value[3]);
        reinterpret_cast<float4*>(values)[1] = make_float4(value[4], value[5], value[6], value[7]);
#else
        std::copy(value, value + kLanes, values);
#endif
    }
    EVERYWHERE void raise(const Lanes& other) {
        for (int i = 0; i < kLanes; ++i) value[i] = fmaxf(value[i], other.value[i]);
    }
    // Lane i takes lane i | cells, or 0 where the piece would cover a filled cell.
    EVERYWHERE Lanes covered(unsigned cells) const {
        Lanes r = *this;
        if (cells & 1) r = {{r.value[1], 0, r.value[3], 0, r.value[5], 0, r.value[7], 0}};
        if (cells & 2) r = {{r.value[2], r.value[3], 0, 0, r.value[6], r.value[7], 0, 0}};
        if (cells & 4) r = {{r.value[4], r.value[5], r.value[6], r.value[7], 0, 0, 0, 0}};
        return r;
    }
};

// Computes the eight boards from `first` on, an index, and stores them; takes their changes into `seen`.
EVERYWHERE inline void sweep_lanes(const Game& game, float* values, Board first, double gain, Stats& seen) {
    const Board tile = game.board(first);
    const Lanes old = Lanes::load(values + first);
    Lanes fresh;
    if (game.has_line(tile)) {
        for (int lane = 0; lane < kLanes; ++lane) fresh.value[lane] = values[game.index(game.clear(tile | lane))];
    } else {
        double sum[kLanes] = {};
        for (int piece = 0; piece < game.pieces; ++piece) {
            Lanes best = {};
            int i = game.begin[piece];
            UNROLL for (; i < game.lanes_from[piece]; ++i) {
                const Board mask = game.mask[i];
                if ((tile & mask) == 0) best.raise(Lanes::load(values + game.index(tile | mask)));
            }
            for (; i < game.begin[piece + 1]; ++i) {
                const Board mask = game.mask[i], high = mask & ~Board(kLanes - 1);
                if ((tile & mask) == 0) {
                    const Lanes next = Lanes::load(values + game.index(tile | high));
                    best.raise(next.covered(static_cast<unsigned>(mask) & (kLanes - 1)));
                }
            }
            for (int lane = 0; lane < kLanes; ++lane) {
                sum[lane] += static_cast<double>(game.weight[piece]) * best.value[lane];
            }
        }
        for (int lane = 0; lane < kLanes; ++lane) {
            fresh.value[lane] = static_cast<float>(sum[lane] / game.total_weight + gain);
        }
        if (game.has_line(tile | (kLanes - 1))) {
            for (int lane = 0; lane < kLanes; ++lane) {
                if (game.has_line(tile | lane)) fresh.value[lane] = values[game.index(game.clear(tile | lane))];
            }
        }
    }
    fresh.store(values + first);
    for (int lane = 0; lane < kLanes; ++lane) {
        const float change = fresh.value[lane] - old.value[lane];
        seen.rise = fmaxf(seen.rise, change);
        seen.fall = fmaxf(seen.fall, -change);
        seen.greatest = fmaxf(seen.greatest, fresh.value[lane]);
    }
}

EVERYWHERE inline std::uint64_t splitmix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// The pieces placed in a game by the table; one still alive after `limit` is cut there.
EVERYWHERE inline int play_one(const Game& game, const float* values, std::uint64_t seed, int number, int limit) {
    std::uint64_t random = seed * 0x9e3779b97f4a7c15ULL + number;
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
            const float value = values[game.index(board | game.mask[i])];
            if (value > best) best = value, next = board | game.mask[i];
        }
        if (next == board) break;
        board = game.clear(next);
    }
    return placed;
}

// ---- The device: a GPU, or one core

#if defined(__CUDACC__)

#define CHECK(call)                                                                               \
    do {                                                                                          \
        const cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                              \
            std::fprintf(stderr, "tenten_survival: %s: %s\n", #call, cudaGetErrorString(status)); \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

constexpr int kThreads = 256;
__constant__ Game device_game;

__device__ void float_max(float* target, float value) {  // for values that are not negative
    atomicMax(reinterpret_cast<int*>(target), __float_as_int(value));
}

__global__ void __launch_bounds__(kThreads)
    sweep_chunk(float* values, Board first, Board boards, double gain, Stats* stats) {
    // Blocks start in about the order of their numbers, and what comes later in the table is wanted first.
    const Board block = gridDim.x - 1 - blockIdx.x;
    const Board offset = (block * kThreads + threadIdx.x) * kLanes;
    Stats own = {};
    if (offset < boards) sweep_lanes(device_game, values, first + offset, gain, own);
    for (int step = 16; step; step /= 2) {
        own.rise = fmaxf(own.rise, __shfl_xor_sync(~0u, own.rise, step));
        own.fall = fmaxf(own.fall, __shfl_xor_sync(~0u, own.fall, step));
        own.greatest = fmaxf(own.greatest, __shfl_xor_sync(~0u, own.greatest, step));
    }
    if (threadIdx.x % 32 == 0) {
        // Most warps have nothing new to say; a look is cheaper than an atomic.
        const volatile Stats* seen = stats;
        if (own.rise > seen->rise) float_max(&stats->rise, own.rise);
        if (own.fall > seen->fall) float_max(&stats->fall, own.fall);
        if (own.greatest > seen->greatest) float_max(&stats->greatest, own.greatest);
    }
}

__global__ void fill(float* values, Board count, float value) {
    const Board step = static_cast<Board>(gridDim.x) * blockDim.x;
    for (Board i = static_cast<Board>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) values[i] = value;
}

__global__ void play(const float* values, std::uint64_t seed, int games, int limit, int* rounds) {
    const int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number < games) rounds[number] = play_one(device_game, values, seed, number, limit);
}

struct Table {
    Game game;
    Board count;
    float* values = nullptr;
    Stats* stats = nullptr;

    explicit Table(const Game& g) : game(g), count(g.stored()) {
        std::size_t free_bytes = 0, total_bytes = 0;
        CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        if (count * sizeof(float) > free_bytes) {
            std::fprintf(stderr, "tenten_survival: %dx%d needs %llu bytes of GPU memory, and %zu are free\n", g.rows,
                         g.columns, count * sizeof(float), free_bytes);
            std::exit(2);
        }
        CHECK(cudaMalloc(&values, count * sizeof(float)));
        CHECK(cudaMalloc(&stats, sizeof(Stats)));
        CHECK(cudaMemcpyToSymbol(device_game, &g, sizeof g));
        fill<<<4096, 256>>>(values, count, 1.0f);
    }
    ~Table() {
        cudaFree(stats);
        cudaFree(values);
    }
    Stats sweep(double gain) {
        const Board chunk = std::max<Board>(Board(1) << 11, count >> 11 & ~Board(kLanes - 1));
        CHECK(cudaMemset(stats, 0, sizeof(Stats)));
        for (Board end = count; end > 0;) {
            const Board size = std::min(chunk, end);
            end -= size;
            const auto blocks = static_cast<unsigned>((size / kLanes + kThreads - 1) / kThreads);
            sweep_chunk<<<blocks, kThreads>>>(values, end, size, gain, stats);
        }
        CHECK(cudaGetLastError());
        Stats seen;
        CHECK(cudaMemcpy(&seen, stats, sizeof seen, cudaMemcpyDeviceToHost));
        return seen;
    }
    float value(Board board) const {
        float found;
        CHECK(cudaMemcpy(&found, values + game.index(board), sizeof found, cudaMemcpyDeviceToHost));
        return found;
    }
    std::vector<int> games(int number, int limit) const {
        int* rounds = nullptr;
        CHECK(cudaMalloc(&rounds, number * sizeof(int)));
        play<<<(number + 127) / 128, 128>>>(values, 1, number, limit, rounds);
        std::vector<int> played(number);
        CHECK(cudaMemcpy(played.data(), rounds, number * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(rounds));
        return played;
    }
};

#else

struct Table {
    Game game;
    Board count;
    std::vector<float> values;

    explicit Table(const Game& g) : game(g), count(g.stored()), values(count, 1.0f) {}
    Stats sweep(double gain) {
        Stats seen = {};
        for (Board first = count; first > 0;) {
            first -= kLanes;
            sweep_lanes(game, values.data(), first, gain, seen);
        }
        return seen;
    }
    float value(Board board) const { return values[game.index(board)]; }
    std::vector<int> games(int number, int limit) const {
        std::vector<int> played(number);
        for (int i = 0; i < number; ++i) played[i] = play_one(game, values.data(), 1, i, limit);
        return played;
    }
};

#endif

// ---- Games and boards

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
    g.rows = rows, g.columns = columns;
    const bool square = rows == columns;
    g.diagonal = square ? rows : rows * columns;
    g.pairs = square ? rows * (rows - 1) / 2 : 0;
    for (int row = 0, pair = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            if (!square) g.cell[row * columns + column] = row * columns + column;
            if (square && row == column) g.cell[row * columns + column] = row;
            if (square && row > column) {
                g.cell[row * columns + column] = g.diagonal + pair;
                g.cell[column * columns + row] = g.diagonal + g.pairs + pair++;
            }
        }
    }
    const auto bit = [&](int row, int column) { return Board(1) << g.cell[row * columns + column]; };
    g.lines = rows + columns;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            g.line[row] |= bit(row, column);
            g.line[rows + column] |= bit(row, column);
        }
    }
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
                        if (inside) mask |= bit(row + r, column + c);
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
            if (text[at] == '#') board |= Board(1) << g.cell[row * g.columns + column];
        }
    }
    return true;
}

// What the table knows about one board. `scale` turns a stored value into draws.
static void tell(const Table& table, double scale, const std::string& text) {
    const Game& g = table.game;
    Board board;
    if (!read_board(g, text, board)) {
        std::fprintf(stderr, "tenten_survival: %s is not a board of %d rows and %d columns of # and .\n", text.c_str(),
                     g.rows, g.columns);
        return;
    }
    const auto draws = [&](Board b) { return table.value(b) * scale; };
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
            if (best >> g.cell[cell] & 1) std::printf("%s%d", n++ ? ", " : "", cell);
        }
        std::printf("], \"mean_rounds_left\": %.6g}", std::max(value - 1, 0.0));
    }
    std::printf("]}\n");
}

int main(int argc, char** argv) {
    const auto pieces = argc > 3 ? piece_set(argv[3]) : piece_set("");
    const int rows = argc > 3 ? std::atoi(argv[1]) : 0, columns = argc > 3 ? std::atoi(argv[2]) : 0;
    const double limit = argc > 4 ? std::atof(argv[4]) : 900;
    if (pieces.empty() || rows < 1 || columns < 1 || rows > 6 || columns > 6 || rows * columns < 11 || !(limit > 0)) {
        std::fprintf(stderr,
                     "usage: tenten_survival ROWS COLUMNS three|seven|full|no-3x3 [SECONDS] [BOARD...]\n"
                     "boards of 11 to 36 cells, at most 6 rows and columns\n");
        return 2;
    }
    Table table(make_game(rows, columns, pieces));
    // The empty board drifts to about 1.8 while the gain settles.
    double gain = 0.02, low = 0, high = INFINITY, width_before = INFINITY;
    int sweeps = 0, stale = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    while (true) {
        const Stats seen = table.sweep(gain);
        const double y = table.value(0);
        ++sweeps;
        const double rounding = seen.greatest * 6e-8;  // half a unit in the last place of a float
        const double most = gain + 2.0 * seen.fall + rounding, least = gain - 2.0 * seen.rise - rounding;
        low = std::max(low, y / most);
        if (least > 0) high = std::min(high, y / least);
        std::printf(
            "{\"sweep\": %d, \"seconds\": %.3f, \"gain\": %.9g, \"first\": %.9g, \"fall\": %.6g, "
            "\"rise\": %.6g, \"rounds_low\": %.9g, \"rounds_high\": %.9g}\n",
            sweeps, elapsed(), gain, y, seen.fall, seen.rise, low - 1, std::isfinite(high) ? high - 1 : -1.0);
        std::fflush(stdout);
        const double width = high - low;
        stale = width < width_before * 0.999 || !std::isfinite(width) ? 0 : stale + 1;
        width_before = std::min(width_before, width);
        const bool exact = seen.rise == 0 && seen.fall == 0;
        if (exact || stale >= 12 || width < 1e-7 * low || elapsed() > limit) break;
        // A gain that is too high by d raises all values by about four draws' worth of d per sweep.
        const double middle = 0.5 * (static_cast<double>(seen.rise) - seen.fall);
        gain = std::min(std::max(gain - middle / 4, gain / 2), gain * 2);
    }
    const double seconds = elapsed();
    // Games of the table's policy, as a check that does not depend on the bounds.
#if defined(__CUDACC__)
    constexpr int kGames = 1 << 17;
#else
    constexpr int kGames = 1 << 10;
#endif
    constexpr int kLimit = 1 << 16;
    double sum = 0, squares = 0;
    int cut = 0;
    for (const int r : table.games(kGames, kLimit)) {
        sum += r, squares += static_cast<double>(r) * r, cut += r >= kLimit;
    }
    const double mean = sum / kGames, error = std::sqrt((squares / kGames - mean * mean) / kGames);
    std::printf(
        "{\"rows\": %d, \"columns\": %d, \"pieces\": \"%s\", \"bytes\": %llu, "
        "\"mean_rounds\": %.9g, \"mean_rounds_low\": %.9g, \"mean_rounds_high\": %.9g, "
        "\"deaths_per_million_draws\": %.9g, \"sweeps\": %d, \"seconds\": %.3f, \"seconds_per_sweep\": %.4f, "
        "\"games\": %d, \"games_mean_rounds\": %.6g, \"games_half_width_95\": %.3g, \"games_cut\": %d}\n",
        rows, columns, argv[3], table.count * static_cast<Board>(sizeof(float)), 0.5 * (low + high) - 1, low - 1,
        high - 1, 2e6 / (low + high), sweeps, seconds, seconds / sweeps, kGames, mean, 1.96 * error, cut);
    const double scale = 0.5 * (low + high) / table.value(0);
    for (int i = 5; i < argc; ++i) tell(table, scale, argv[i]);
}
