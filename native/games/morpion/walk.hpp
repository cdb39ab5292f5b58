// Destroy and repair of grids of 5T and 5D by warps of 32 lanes: the code of the GPU (walk.cu), which also runs on the CPU,
// lane by lane, for tests. C++17, for nvcc.
//
// Board: 32 x 32 cells, the cross in the middle; a line that would leave it is not legal (the best known grids go out 9 of
// the 11 cells around the cross). x to the right, y down, directions as in rules.hpp. A line lies in a row of its direction
// and starts at a place in it:
//     direction    row             place
//     0 -          y               x
//     1 |          x               y
//     2 /          (x + y) & 31    x
//     3 \          (x - y) & 31    x
// so a row is a 32-bit word: 128 words of dots, 128 of what lines use (segments in 5T, dots in 5D) and 128 of known lines. A
// word of diagonals holds two of them; what lies between them counts as used, so no line crosses over.
// A move is 15 bits: direction 2, row 5, place of the line 5, position of its new dot 3. Bits 8 and up number the word.
//
// A trial takes dots out of the grid. A move stays if and only if all dots of its line are still there, since a line that is
// taken out never forbids another. So what falls is found by a cascade over the moves, 32 at a time, without replaying any.
// Then the game is played to its end at random from two lists of legal lines: known ones, with a high weight, and others.
//
// LANES precedes what every lane does; all else is the same in all lanes. What one lane writes in a LANES block no other
// lane reads there, so the order of the lanes does not matter; the tests run them upwards and downwards.
#pragma once

#include <cstdint>

#include "holes.hpp"

namespace rookery::morpion::warp {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr int kMoves = 224;  // of a game at most, a multiple of 32
constexpr int kList = 64;  // known, and other, legal lines; what does not fit is forgotten, and counted
constexpr int kLosses = 32;  // a trial that is shorter by this much is never accepted

enum Hole { kBox, kStrip, kWedge, kMated, kHoles };  // what a trial takes out; kMated repairs with a partner's lines
constexpr int kTried = 0, kAccepted = 1, kLonger = 2, kTallies = 3;  // trials of a kind, accepted and longer ones

struct Settings {
    u32 used;  // 15: a line uses 4 segments (5T); 31: 5 dots (5D)
    u32 reach;  // lines of a row overlap if they start at most this far from each other: 3 or 4
    u32 weight;  // of a known line
    u32 radius;  // of a box at most
    u32 strips;  // trials of 256 that take out a strip
    u32 wedges;  // trials of 256 that take out a quarter or a half of the plane
    u32 mated;  // trials of 256 with a partner, of walkers that have one
    u32 remade;  // trials of 256 in which any line that makes a dot of the hole again counts as known
};

struct Board {
    u32 cross[128];  // dots of the start
    u32 border[128];  // used from the start, so that no line crosses from one diagonal of a word to the other
};

struct Scratch {  // the shared memory of a warp
    u32 dots[128], used[128], known[128];
    u32 holes[32];  // dots of the hole that may be made again by any line, by row
    u32 lists[2 * kList];  // known lines, others from kList on: move | known << 15 | x of the new dot << 16 | y << 21
    u32 tallies[kHoles * kTallies];
    u16 games[2][kMoves];  // the grid and the trial
};

inline Board make_board() {
    static const char* const kCross[10] = {"...####...", "...#..#...", "...#..#...", "####..####", "#........#",
                                           "#........#", "####..####", "...#..#...", "...#..#...", "...####..."};
    Board board{};
    for (int row = 0; row < 32; ++row) {
        if (row < 31) board.border[64 + row] = 1u << row;
        if (row > 0) board.border[96 + row] = 1u << (row - 1);
    }
    for (int y = 11; y < 21; ++y) {
        for (int x = 11; x < 21; ++x) {
            if (kCross[y - 11][x - 11] != '#') continue;
            board.cross[y] |= 1u << x;
            board.cross[32 + x] |= 1u << y;
            board.cross[64 + ((x + y) & 31)] |= 1u << x;
            board.cross[96 + ((x - y) & 31)] |= 1u << x;
        }
    }
    return board;
}

// ---- One lane

ROOKERY_WARP u64 mix(u64 z) {  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

ROOKERY_WARP u64 stream_of(u64 seed, u32 walker) { return mix(seed + walker * 0xd1342543de82ef95ull); }

ROOKERY_WARP u32 random_at(u64 stream, u32 counter, u32 lane) {
    return static_cast<u32>(mix(stream + ((static_cast<u64>(counter) << 5) + lane + 1) * 0x9e3779b97f4a7c15ull) >> 32);
}

ROOKERY_WARP u32 high(u32 a, u32 b) { return static_cast<u32>((static_cast<u64>(a) * b) >> 32); }

ROOKERY_WARP int ones(u32 word) {
#ifdef __CUDA_ARCH__
    return __popc(word);
#else
    return __builtin_popcount(word);
#endif
}
ROOKERY_WARP int lowest(u32 word) {
#ifdef __CUDA_ARCH__
    return __ffs(static_cast<int>(word)) - 1;
#else
    return __builtin_ctz(word);
#endif
}
ROOKERY_WARP int highest(u32 word) {
#ifdef __CUDA_ARCH__
    return 31 - __clz(static_cast<int>(word));
#else
    return 31 - __builtin_clz(word);
#endif
}
ROOKERY_WARP void keep_in_register(int& value) {  // instead of computing it again wherever it is needed
#ifdef __CUDA_ARCH__
    asm volatile("" : "+r"(value));
#else
    (void)value;
#endif
}

ROOKERY_WARP Dot dot_of(u32 move) {
    const int direction = (move >> 13) & 3, row = (move >> 8) & 31, place = ((move >> 3) & 31) + (move & 7);
    const int diagonal = direction == 2 ? row - place : place - row;
    return {direction == 1 ? row : place, direction == 0 ? row : direction == 1 ? place : diagonal & 31};
}

// ---- 32 lanes

struct GpuWarp {
    static constexpr int kLanes = 1;  // that a thread plays
    template <class T>
    struct Vec {
        T value;
        ROOKERY_WARP T& operator[](int) { return value; }
    };
#ifdef __CUDA_ARCH__
    static ROOKERY_WARP int lane(int) { return threadIdx.x & 31; }
    static ROOKERY_WARP u32 ballot(Vec<bool>& flag) { return __ballot_sync(~0u, flag.value); }
    static ROOKERY_WARP u32 broadcast(Vec<u32>& value, int from) { return __shfl_sync(~0u, value.value, from); }
    static ROOKERY_WARP void sync() { __syncwarp(); }
    static ROOKERY_WARP void set_bits(u32& word, u32 bits) { atomicOr(&word, bits); }
    static ROOKERY_WARP void clear_bits(u32& word, u32 bits) { atomicAnd(&word, ~bits); }
#else  // never called: nvcc compiles the functions of both sides for the host too
    static ROOKERY_WARP int lane(int) { return 0; }
    static ROOKERY_WARP u32 ballot(Vec<bool>& flag) { return flag.value; }
    static ROOKERY_WARP u32 broadcast(Vec<u32>& value, int) { return value.value; }
    static ROOKERY_WARP void sync() {}
    static ROOKERY_WARP void set_bits(u32& word, u32 bits) { word |= bits; }
    static ROOKERY_WARP void clear_bits(u32& word, u32 bits) { word &= ~bits; }
#endif
};

template <bool kDownwards>
struct CpuWarp {
    static constexpr int kLanes = 32;
    template <class T>
    struct Vec {
        T value[32];
        ROOKERY_WARP T& operator[](int lane) { return value[lane]; }
    };
    static ROOKERY_WARP int lane(int i) { return kDownwards ? 31 - i : i; }
    static ROOKERY_WARP u32 ballot(Vec<bool>& flag) {
        u32 mask = 0;
        for (int i = 0; i < 32; ++i) mask |= static_cast<u32>(flag.value[i]) << i;
        return mask;
    }
    static ROOKERY_WARP u32 broadcast(Vec<u32>& value, int from) { return value.value[from]; }
    static ROOKERY_WARP void sync() {}
    static ROOKERY_WARP void set_bits(u32& word, u32 bits) { word |= bits; }
    static ROOKERY_WARP void clear_bits(u32& word, u32 bits) { word &= ~bits; }
};

#if defined(__CUDACC__)
#define ROOKERY_ONCE _Pragma("unroll 1")
#define ROOKERY_ALL _Pragma("unroll")
#else
#define ROOKERY_ONCE
#define ROOKERY_ALL
#endif

#define LANES                                                      \
    ROOKERY_ALL for (int lane_number = 0; lane_number < W::kLanes; \
                     ++lane_number) if (const int lane = W::lane(lane_number); true)

template <class W>
struct Random {
    u64 stream;
    u32 counter;
    int taken = 32;  // of the 32 numbers at hand
    typename W::template Vec<u32> numbers;

    ROOKERY_WARP Random(u64 stream_, u32 counter_) : stream(stream_), counter(counter_) {}
    ROOKERY_WARP u32 next() {
        if (taken == 32) {
            LANES numbers[lane] = random_at(stream, counter, lane);
            ++counter;
            taken = 0;
        }
        return W::broadcast(numbers, taken++);
    }
};

// Of the lines through a new dot, lanes 0 .. 19 look at the one of direction lane / 5 that starts lane % 5 before the dot.
template <class W>
struct Through {
    typename W::template Vec<int> row_x, row_y;  // row = row_x * x + row_y * y
    typename W::template Vec<int> base, back;  // the first word of the direction; lane % 5
    typename W::template Vec<int> step;  // along the direction in 32 * y + x

    ROOKERY_WARP Through() {
        LANES {
            const int direction = (lane * 13) >> 6;
            row_x[lane] = direction == 0 ? 0 : 1;
            row_y[lane] = direction == 1 ? 0 : direction == 3 ? -1 : 1;
            base[lane] = direction * 32;
            back[lane] = lane - 5 * direction;
            step[lane] = direction == 0 ? 1 : direction == 1 ? 32 : direction == 2 ? -31 : 33;
            keep_in_register(row_x[lane]);
            keep_in_register(row_y[lane]);
            keep_in_register(base[lane]);
            keep_in_register(back[lane]);
            keep_in_register(step[lane]);
        }
    }
};

struct Legal {
    int known = 0, other = 0;  // lengths of the two lists
    u32 lost = 0;  // lines that did not fit
};

template <class W>
ROOKERY_WARP void place(Scratch& s, u32 used, u32 move, Dot dot) {
    W::set_bits(s.dots[dot.y], 1u << dot.x);
    W::set_bits(s.dots[32 + dot.x], 1u << dot.y);
    W::set_bits(s.dots[64 + ((dot.x + dot.y) & 31)], 1u << dot.x);
    W::set_bits(s.dots[96 + ((dot.x - dot.y) & 31)], 1u << dot.x);
    W::set_bits(s.used[move >> 8], used << ((move >> 3) & 31));
}

template <class W>
ROOKERY_WARP void take_out(Scratch& s, u32 used, u32 move, Dot dot) {
    W::clear_bits(s.dots[dot.y], 1u << dot.x);
    W::clear_bits(s.dots[32 + dot.x], 1u << dot.y);
    W::clear_bits(s.dots[64 + ((dot.x + dot.y) & 31)], 1u << dot.x);
    W::clear_bits(s.dots[96 + ((dot.x - dot.y) & 31)], 1u << dot.x);
    W::clear_bits(s.used[move >> 8], used << ((move >> 3) & 31));
}

// Appends the entries of the lanes whose flag is set (together the mask `all`), in the order of lanes.
template <class W>
ROOKERY_WARP void append(Scratch& s, Legal& n, u32 all, typename W::template Vec<bool>& flag,
                         typename W::template Vec<u32>& entry) {
    typename W::template Vec<bool> is_known;
    LANES is_known[lane] = flag[lane] && (entry[lane] & 0x8000);
    const u32 known = W::ballot(is_known), other = all & ~known;
    LANES {
        if (flag[lane]) {
            const u32 before = (is_known[lane] ? known : other) & ((1u << lane) - 1);
            const int at = (is_known[lane] ? n.known : n.other) + ones(before);
            if (at < kList) s.lists[at + (is_known[lane] ? 0 : kList)] = entry[lane];
        }
    }
    n.known += ones(known);
    n.other += ones(other);
    if ((n.known | n.other) > kList) {  // one of them is, perhaps
        n.lost += (n.known > kList ? n.known - kList : 0) + (n.other > kList ? n.other - kList : 0);
        n.known = n.known > kList ? kList : n.known;
        n.other = n.other > kList ? kList : n.other;
    }
}

// All legal lines of the position: direction by direction, the first of every row, the second of every row, ...
template <class W>
ROOKERY_WARP void list_legal(Scratch& s, const Settings& settings, Legal& n) {
    typename W::template Vec<u32> legal, entry;
    typename W::template Vec<bool> flag;
    ROOKERY_ONCE for (int direction = 0; direction < 4; ++direction) {
        LANES {
            const int word = direction * 32 + lane;
            const u32 missing = ~s.dots[word], used = s.used[word];
            u32 one = missing, two = 0;  // at least one, two of the dots are missing
            for (int i = 1; i < 5; ++i) {
                two |= one & (missing >> i);
                one |= missing >> i;
            }
            u32 overlap = used | used >> 1;
            overlap |= overlap >> 2;
            if (settings.reach == 4) overlap |= used >> 4;
            legal[lane] = one & ~two & ~overlap & 0x0fffffff;
        }
        while (true) {
            LANES flag[lane] = legal[lane] != 0;
            const u32 all = W::ballot(flag);
            if (!all) break;
            LANES {
                if (flag[lane]) {
                    const int word = direction * 32 + lane, start = lowest(legal[lane]);
                    legal[lane] &= legal[lane] - 1;
                    const u32 move = word << 8 | start << 3 | lowest((~s.dots[word] >> start) & 31);
                    const Dot dot = dot_of(move);
                    const u32 known = s.known[word] >> start | s.holes[dot.y] >> dot.x;
                    entry[lane] = move | (known & 1) << 15 | dot.x << 16 | dot.y << 21;
                }
            }
            append<W>(s, n, all, flag, entry);
        }
    }
    W::sync();
}

// Whether a legal line stays legal after a move: not if it lacks the same dot or overlaps. Lines of different words are
// never that near, since no line starts at the last four places of a word.
ROOKERY_WARP bool stays_legal(u32 entry, u32 move, u32 reach) {
    const int apart = static_cast<int>((entry >> 3) & 0xfff) - static_cast<int>((move >> 3) & 0xfff);
    return (entry ^ move) > 0xffff && static_cast<u32>(apart + static_cast<int>(reach)) > 2 * reach;
}

template <class W>
ROOKERY_WARP int keep_legal(u32* list, int count, u32 move, u32 reach) {
    typename W::template Vec<bool> flag;
    typename W::template Vec<u32> entry;
    int kept = 0;
    ROOKERY_ONCE for (int base = 0; base < count; base += 32) {
        LANES {
            flag[lane] = false;
            if (base + lane < count) {
                entry[lane] = list[base + lane];
                flag[lane] = stays_legal(entry[lane], move, reach);
            }
        }
        const u32 mask = W::ballot(flag);
        W::sync();  // all have read
        LANES {
            if (flag[lane]) list[kept + ones(mask & ((1u << lane) - 1))] = entry[lane];
        }
        kept += ones(mask);
    }
    return kept;
}

// Takes out of both lists what a move forbids. As a rule they are short, and half a warp does for each.
template <class W>
ROOKERY_WARP void keep_legal(Scratch& s, Legal& n, u32 move, u32 reach) {
    if ((n.known | n.other) > 15) {
        ROOKERY_ONCE for (int i = 0; i < 2; ++i) {
            const int kept = keep_legal<W>(s.lists + i * kList, i ? n.other : n.known, move, reach);
            if (i)
                n.other = kept;
            else
                n.known = kept;
        }
        return;
    }
    typename W::template Vec<bool> flag;
    typename W::template Vec<u32> entry;
    LANES {
        flag[lane] = false;
        if ((lane & 15) < (lane < 16 ? n.known : n.other)) {
            entry[lane] = s.lists[(lane & 15) + (lane < 16 ? 0 : kList)];
            flag[lane] = stays_legal(entry[lane], move, reach);
        }
    }
    const u32 mask = W::ballot(flag);
    W::sync();  // all have read
    LANES {
        const u32 before = ((1u << lane) - 1) & (lane < 16 ? 0xffffu : 0xffff0000u);
        if (flag[lane]) s.lists[ones(mask & before) + (lane < 16 ? 0 : kList)] = entry[lane];
    }
    n.known = ones(mask & 0xffff);
    n.other = ones(mask >> 16);
}

// Plays on at random to the end of the game; returns its length.
template <class W>
ROOKERY_WARP int play_on(Scratch& s, const Settings& settings, Through<W>& of, Random<W>& random, u16* game, int length,
                         Legal& n) {
    typename W::template Vec<bool> flag;
    typename W::template Vec<int> word;
    typename W::template Vec<u32> entry, dots, used;
    while (n.known + n.other > 0 && length < kMoves) {
        const u32 number = random.next(), known_weight = settings.weight * n.known, total = known_weight + n.other;
        const u32 point = high(number, total);  // the rest of the number, number * total, chooses among known lines
        const u32 move = s.lists[point < known_weight ? high(number * total, n.known) : kList + point - known_weight];
        const int x = (move >> 16) & 31, y = (move >> 21) & 31, drawn = (move >> 8) & 127;
        const u32 segments = settings.used << ((move >> 3) & 31);
        LANES {
            const int row = (of.row_x[lane] * x + of.row_y[lane] * y) & 31, here = of.base[lane] == 32 ? y : x;
            const int back = of.back[lane], start = here - back;
            flag[lane] = false;
            if (lane < 20) {
                word[lane] = of.base[lane] + row;
                dots[lane] = s.dots[word[lane]] | 1u << here;
                used[lane] = s.used[word[lane]] | (word[lane] == drawn ? segments : 0);
                const u32 missing = (~dots[lane] >> (start & 31)) & 31;
                const u32 overlap = (used[lane] >> (start & 31)) & settings.used;
                // From place 28 on `missing` has fewer than 5 bits, and below 0 it is of other places.
                flag[lane] = (missing != 0) & ((missing & (missing - 1)) == 0) & (overlap == 0) &
                             (static_cast<u32>(start) < 28u);
                const int position = highest(missing | 1);
                const u32 dot = (move >> 16) + (position - back) * of.step[lane];
                const u32 known = s.known[word[lane]] >> (start & 31) | s.holes[(dot >> 5) & 31] >> (dot & 31);
                entry[lane] = (static_cast<u32>(word[lane]) << 8) + (static_cast<u32>(start) << 3) + position +
                              ((known & 1) << 15) + (dot << 16);
            }
        }
        keep_legal<W>(s, n, move, settings.reach);
        LANES {
            if (lane < 20 && of.back[lane] == 0) {
                s.dots[word[lane]] = dots[lane];
                if (word[lane] == drawn) s.used[word[lane]] = used[lane];
            }
            if (lane == 31) game[length] = static_cast<u16>(move & 0x7fff);
        }
        ++length;
        const u32 all = W::ballot(flag);
        if (all) append<W>(s, n, all, flag, entry);
        W::sync();
    }
    return length;
}

// Takes the moves out of the grid whose dots lie in the hole, and all that falls with them; writes what is left to `trial`,
// sets up its position, and marks the fallen lines as known. Returns the length of what is left.
template <class W>
ROOKERY_WARP int destroy(Scratch& s, const Board& board, u32 used, const u16* grid, int length, u16* trial,
                         const Region& hole, bool remade) {
    typename W::template Vec<u32> alive;  // bit i: move 32 * i + lane
    typename W::template Vec<bool> flag;
    LANES {
        alive[lane] = 0;
        s.holes[lane] = 0;
        for (int i = 0; i < 128; i += 32) {
            s.dots[i + lane] = board.cross[i + lane];
            s.used[i + lane] = board.border[i + lane];
            s.known[i + lane] = 0;
        }
    }
    W::sync();
    ROOKERY_ONCE for (int base = 0; base < length; base += 32) {
        LANES {
            if (base + lane < length) {
                const u32 move = grid[base + lane];
                const Dot dot = dot_of(move);
                if (!hole.contains(dot)) {
                    alive[lane] |= 1u << (base >> 5);
                    place<W>(s, used, move, dot);
                } else if (remade) {
                    W::set_bits(s.holes[dot.y], 1u << dot.x);
                }
            }
        }
    }
    W::sync();
    int kept = 0;
    // What supports a move was played before it. So 32 moves are done with once none of them falls any more.
    ROOKERY_ONCE for (int base = 0; base < length; base += 32) {
        while (true) {
            LANES {
                flag[lane] = false;
                if ((alive[lane] >> (base >> 5)) & 1) {
                    const u32 move = grid[base + lane];
                    flag[lane] = ((s.dots[move >> 8] >> ((move >> 3) & 31)) & 31) != 31;
                }
            }
            if (!W::ballot(flag)) break;
            LANES {
                if (flag[lane]) {
                    const u32 move = grid[base + lane];
                    take_out<W>(s, used, move, dot_of(move));
                    W::set_bits(s.known[move >> 8], 1u << ((move >> 3) & 31));
                    alive[lane] &= ~(1u << (base >> 5));
                }
            }
            W::sync();
        }
        LANES flag[lane] = (alive[lane] >> (base >> 5)) & 1;
        const u32 mask = W::ballot(flag);
        LANES {
            if (flag[lane]) trial[kept + ones(mask & ((1u << lane) - 1))] = grid[base + lane];
        }
        kept += ones(mask);
    }
    return kept;
}

// Marks the lines of a grid as known whose dots lie in the hole.
template <class W>
ROOKERY_WARP void know(Scratch& s, const u16* grid, int length, const Region& hole) {
    ROOKERY_ONCE for (int base = 0; base < length; base += 32) {
        LANES {
            if (base + lane < length) {
                const u32 move = grid[base + lane];
                if (hole.contains(dot_of(move))) W::set_bits(s.known[move >> 8], 1u << ((move >> 3) & 31));
            }
        }
    }
    W::sync();
}

struct Choice {
    Hole hole;
    Region region;
    bool remade;
};

// What a trial takes out: mostly a box around a random dot of the grid.
template <class W>
ROOKERY_WARP Choice choose(const Settings& settings, Random<W>& random, const u16* grid, int length, bool partner) {
    const u32 number = random.next(), shape = (number >> 8) & 255, size = number >> 16;
    const Dot centre = dot_of(grid[high(random.next(), length)]);
    if (partner && (number & 255) < settings.mated) {
        // Half of them a box of up to 8 cells around the centre, half a wedge.
        return {kMated, shape < 128 ? box(centre, static_cast<int>(size * 9 >> 16)) : wedge(centre, size), false};
    }
    const bool remade = (number & 255) >= 256 - settings.remade;
    if (shape < settings.strips) return {kStrip, strip(centre, static_cast<int>(size >> 4) & 1, size), remade};
    if (shape < settings.strips + settings.wedges) return {kWedge, wedge(centre, size), remade};
    return {kBox, box(centre, static_cast<int>(size * (settings.radius + 1) >> 16)), remade};
}

struct Walker {  // a grid, the best one it has been, and what it goes by
    u16 *grid, *best;
    int length, best_length;
    const u16* partner;  // lines that mated trials take over
    int partner_length;
    u64 stream;
    u32 counter;  // of random numbers, in 32s
    const u32* accept;  // [kLosses]: a trial shorter by i is accepted if a random number is below accept[i]
    u32 lost;  // legal lines that did not fit into the lists
};

template <class W>
ROOKERY_WARP void write(u16* to, const u16* game, int length) {
    LANES {
        for (int i = lane; i < kMoves; i += 32) to[i] = i < length ? game[i] : u16(0);
    }
}

// Does a number of trials. A walker with an empty grid plays a random game first.
template <class W>
ROOKERY_WARP void walk(Scratch& s, const Board& board, const Settings& settings, Walker& walker, int trials) {
    Random<W> random(walker.stream, walker.counter);
    Through<W> of;
    int now = 0, length = walker.length;
    LANES {
        for (int i = lane; i < kMoves; i += 32) s.games[0][i] = walker.grid[i];
        if (lane < kHoles * kTallies) s.tallies[lane] = 0;
    }
    W::sync();
    ROOKERY_ONCE for (int i = length == 0 ? -1 : 0; i < trials; ++i) {
        Choice choice = {kBox, box({0, 0}, 0), false};
        if (length > 0) choice = choose<W>(settings, random, s.games[now], length, walker.partner_length > 0);
        const u16* grid = s.games[now];
        u16* trial = s.games[now ^ 1];
        int made = destroy<W>(s, board, settings.used, grid, length, trial, choice.region, choice.remade);
        if (choice.hole == kMated) know<W>(s, walker.partner, walker.partner_length, choice.region);
        Legal n;
        list_legal<W>(s, settings, n);
        made = play_on<W>(s, settings, of, random, trial, made, n);
        walker.lost += n.lost;
        bool accepted = made >= length;
        if (!accepted) {
            const u32 number = random.next();
            accepted = length - made < kLosses && number < walker.accept[length - made];
        }
        LANES {
            if (lane < kTallies && i >= 0) {
                const bool counts =
                    lane == kTried || (lane == kAccepted && accepted) || (lane == kLonger && made > length);
                s.tallies[choice.hole * kTallies + lane] += counts;
            }
        }
        if (accepted) {
            now ^= 1;
            length = made;
            if (length > walker.best_length) {
                walker.best_length = length;
                W::sync();
                write<W>(walker.best, s.games[now], length);
            }
        }
        W::sync();
    }
    write<W>(walker.grid, s.games[now], length);
    if (length > walker.best_length) {  // it came with this grid
        walker.best_length = length;
        write<W>(walker.best, s.games[now], length);
    }
    walker.length = length;
    walker.counter = random.counter;
}

}  // namespace rookery::morpion::warp
