// Prior State Voting for checkers: Algorithm 2 of "Prior State Voting" (Benning, 2021), in time that does not depend on
// the number of positions.
//
// The score of an action is the mean over all learned (position, action) pairs with an equivalent action of
//     q * (cells that are equal when one action is laid upon the other) / 64.
// Seen from the square where the action starts, a cell is an offset, and equal cells are counted one by one: so the sum
// over the pairs can be taken first. For every pattern of action, `Tally` holds the sum of q over the pairs that have a
// given content at a given offset; a score is then a sum over the 64 cells of the board in question. The paper's loop
// over the table, which is still needed to say who voted how, is `strongest_votes`.
#pragma once

#include <unordered_map>

#include "core/parallel.hpp"
#include "games/checkers/q_table.hpp"

namespace rookery::checkers {

// What an action looks like wherever on the board it happens. A step is its direction. A capture has a leading 1 and
// then three bits per jump: direction, and whether a king is captured.
using Pattern = std::uint32_t;

inline Pattern pattern_of(const Position& p, Action action) {
    if (action < kFirstCapture) return track(action).direction;
    Pattern pattern = 0;
    int bits = 0;
    for (Action a = action; a >= kFirstCapture; a = track(a).shorter, bits += 3) {
        const Squares jumped = track(a).captured ^ track(track(a).shorter).captured;
        pattern |= Pattern(track(a).direction << 1 | ((jumped & p.kings) != 0)) << bits;
    }
    return pattern | Pattern(1) << bits;
}

// Ways to look at a position that change nothing about how pieces move. The mirror image of a board is no board, its dark
// squares being where the light ones were; but it can be shifted so that dark lies on dark, and voting shifts anyway.
enum Symmetry {
    kAsIs = 0,
    kRotated = 1,
    kMirrored = 2
};  // rotated by half a turn with colours exchanged; may be added
inline constexpr int kSymmetries = 4;

inline Pattern transform(Pattern pattern, int symmetry) {
    const Pattern flip = (symmetry & kRotated ? 3 : 0) ^ (symmetry & kMirrored ? 1 : 0);  // of a direction
    if (pattern < 4) return pattern ^ flip;
    Pattern mask = 0;
    for (Pattern rest = pattern; rest > 1; rest >>= 3) mask = mask << 3 | flip << 1;
    return pattern ^ mask;
}

// Cells of the 8x8 board are numbered 15 * row + column, so that differences are offsets.
inline constexpr int kOffsets = 15 * 15;
inline constexpr int kNoOffset = 7 * 15 + 7;
enum Content : std::uint8_t { kEmpty, kBlackMan, kBlackKing, kWhiteMan, kWhiteKing };  // light squares are empty
inline constexpr int kContents = 5;

constexpr int place_of(int square) { return 15 * (square / 4) + 2 * (square % 4) + (square / 4 % 2 == 0); }

inline constexpr auto kPlaces = [] {
    std::array<std::array<std::int16_t, 32>, kSymmetries> places{};
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
        for (int square = 0; square < 32; ++square) {
            int row = place_of(square) / 15, column = place_of(square) % 15;
            if (symmetry & kRotated) row = 7 - row, column = 7 - column;
            if (symmetry & kMirrored) column = 7 - column;
            places[symmetry][square] = static_cast<std::int16_t>(15 * row + column);
        }
    }
    return places;
}();

using Contents = std::array<std::uint8_t, 32>;  // by square

inline Contents contents_of(const Position& p) {
    Contents contents{};
    for (int player = 0; player < 2; ++player) {
        for (checkers::Squares rest = p.pieces[player]; rest; rest &= rest - 1) {
            const int square = std::countr_zero(rest);
            contents[square] = static_cast<std::uint8_t>(1 + 2 * player + (p.kings >> square & 1));
        }
    }
    return contents;
}

inline std::uint8_t exchange_colours(std::uint8_t content) {
    return content == kEmpty ? content : content < kWhiteMan ? content + 2 : content - 2;
}

// Where a cell is, seen from the place where an action starts. Equal in two boards for cells that lie upon each other when
// the starts do. The author's program takes the sum of the two for the difference: it shifts the board the other way.
inline int offset_of(int start, int place, bool program) { return program ? start + place : kNoOffset - start + place; }

// Light cells in the overlap of two boards when the square `from` of one lies on a place of the other.
inline int light_cells(int from, int place) {
    const int row = place_of(from) / 15 - place / 15, column = place_of(from) % 15 - place % 15;
    const int cells = (8 - std::abs(row)) * (8 - std::abs(column));
    // Where the overlap has an odd number of cells its corner tells which colour has one more.
    const bool light_corner = (std::max(0, row) + std::max(0, column)) % 2 == 0;
    return (cells + light_corner) / 2;
}

// The votes of all pairs with one pattern and side to move.
struct Tally {
    std::int64_t votes = 0;
    std::array<double, 8 * 15> starts{};  // sum of q by the place where the action starts
    std::array<double, kOffsets * kContents> dark{};  // sum of q by offset and content
    std::array<double, 32> light{};  // sum of q times light cells in the overlap, by square of start

    void add(const Tally& other) {
        votes += other.votes;
        for (std::size_t i = 0; i < starts.size(); ++i) starts[i] += other.starts[i];
        for (std::size_t i = 0; i < dark.size(); ++i) dark[i] += other.dark[i];
    }

    void count_light_cells() {
        for (int from = 0; from < 32; ++from) {
            for (std::size_t i = 0; i < starts.size(); ++i) {
                if (starts[i] != 0) light[from] += starts[i] * light_cells(from, static_cast<int>(i));
            }
        }
    }
};

struct MeanVote {
    double mean = 0.0;  // 0 without votes
    std::int64_t votes = 0;
};

// One pair's say about an action.
struct Vote {
    double weight;  // q * matching / 64
    float q;
    std::int32_t matching;  // equal cells
    std::uint32_t row;  // of the table
    Action action;
    int symmetry;
};

inline void check_symmetries(int symmetries) {
    if (symmetries != 1 && symmetries != 2 && symmetries != 4) {
        throw std::invalid_argument("symmetries is 1 (none), 2 (rotation) or 4 (rotation and mirror image)");
    }
}

// Calls visit(action, q) for every pair of a row that votes: a value of 0 is taken for nothing learned.
template <class Visit>
void for_each_learned(const QTable& table, std::uint32_t row, Visit&& visit) {
    const Position p = table.position(row);
    const float* values = table.values(row);
    checkers::for_each_action(p, checkers::find_starts(p), [&](Action action) {
        const float q = *values++;
        if (q != 0) visit(action, q);
    });
}

inline constexpr std::int64_t kBlocks = 16;  // of a table, whatever the number of threads: sums have one order

template <class Visit>
void for_each_block(const QTable& table, int threads, Visit&& visit) {
    const std::int64_t rows = table.size();
    parallel_blocks(kBlocks, threads, [&](std::int64_t block) {
        visit(block, static_cast<std::uint32_t>(rows * block / kBlocks),
              static_cast<std::uint32_t>(rows * (block + 1) / kBlocks));
    });
}

class PriorStateVoting {
public:
    // `symmetries` is 1, 2 (with rotation) or 4 (with mirror images as well); `program` shifts boards as the author's
    // program does.
    PriorStateVoting(const QTable& table, int symmetries, int threads, bool program = false) : program_(program) {
        check_symmetries(symmetries);
        std::vector<Tallies> parts(kBlocks);
        for_each_block(table, threads, [&](std::int64_t block, std::uint32_t first, std::uint32_t end) {
            for (std::uint32_t row = first; row < end; ++row) count(table, row, symmetries, parts[block]);
        });
        for (const Tallies& part : parts) {
            for (const auto& [key, tally] : part) tallies_[key].add(tally);
        }
        for (auto& [key, tally] : tallies_) tally.count_light_cells();
    }

    // One score per action, in the order of for_each_action.
    void scores(const Position& p, std::vector<MeanVote>& scores) const {
        const Contents contents = contents_of(p);
        scores.clear();
        checkers::for_each_action(p, checkers::find_starts(p), [&](Action action) {
            const auto found = tallies_.find(key(pattern_of(p, action), p.side));
            if (found == tallies_.end()) {
                scores.push_back({});
                return;
            }
            const Tally& tally = found->second;
            const int from = track(action).from();
            double sum = tally.light[from];
            for (int square = 0; square < 32; ++square) {
                const int offset = offset_of(kPlaces[kAsIs][from], kPlaces[kAsIs][square], program_);
                sum += tally.dark[offset * kContents + contents[square]];
            }
            scores.push_back({sum / 64 / static_cast<double>(tally.votes), tally.votes});
        });
    }

private:
    using Tallies = std::unordered_map<std::uint64_t, Tally>;

    static std::uint64_t key(Pattern pattern, std::uint32_t side) { return std::uint64_t(pattern) << 1 | side; }

    void count(const QTable& table, std::uint32_t row, int symmetries, Tallies& tallies) const {
        const Position p = table.position(row);
        const Contents contents = contents_of(p);
        for_each_learned(table, row, [&](Action action, float q) {
            const Pattern pattern = pattern_of(p, action);
            for (int symmetry = 0; symmetry < symmetries; ++symmetry) {
                const bool rotated = symmetry & kRotated;
                Tally& tally = tallies[key(transform(pattern, symmetry), rotated ? 1 - p.side : p.side)];
                const auto& places = kPlaces[symmetry];
                const int from = places[track(action).from()];
                ++tally.votes;
                tally.starts[from] += q;
                for (int square = 0; square < 32; ++square) {
                    const std::uint8_t content = rotated ? exchange_colours(contents[square]) : contents[square];
                    tally.dark[offset_of(from, places[square], program_) * kContents + content] += q;
                }
            }
        });
    }

    Tallies tallies_;
    bool program_;
};

// The `most` votes that weigh most for an action and as many against it, strongest first: the paper's loop over the table.
inline std::pair<std::vector<Vote>, std::vector<Vote>> strongest_votes(const QTable& table, int symmetries,
                                                                       const Position& p, Action action,
                                                                       std::size_t most, int threads,
                                                                       bool program = false) {
    check_symmetries(symmetries);
    const Pattern wanted = pattern_of(p, action);
    const int from = track(action).from();
    std::array<std::uint8_t, kOffsets> here;  // contents by offset from the action's start
    here.fill(0xff);
    const Contents contents = contents_of(p);
    for (int square = 0; square < 32; ++square) {
        here[offset_of(place_of(from), place_of(square), program)] = contents[square];
    }
    const auto matching = [&](const Contents& theirs, int start, int symmetry) {
        const auto& places = kPlaces[symmetry];
        int equal = light_cells(from, places[start]);
        for (int square = 0; square < 32; ++square) {
            const std::uint8_t content = symmetry & kRotated ? exchange_colours(theirs[square]) : theirs[square];
            equal += here[offset_of(places[start], places[square], program)] == content;
        }
        return equal;
    };
    // Of equal votes the one learned first goes before.
    const auto stronger = [](const Vote& a, const Vote& b) { return std::abs(a.weight) > std::abs(b.weight); };
    const auto keep = [&](std::vector<Vote>& votes, const Vote& vote) {
        if (most == 0 || (votes.size() == most && !stronger(vote, votes.back()))) return;
        votes.insert(std::upper_bound(votes.begin(), votes.end(), vote, stronger), vote);
        if (votes.size() > most) votes.pop_back();
    };
    std::array<std::array<std::vector<Vote>, 2>, kBlocks> parts;
    for_each_block(table, threads, [&](std::int64_t block, std::uint32_t first, std::uint32_t end) {
        for (std::uint32_t row = first; row < end; ++row) {
            const Position prior = table.position(row);
            for_each_learned(table, row, [&](Action equivalent, float q) {
                const Pattern pattern = pattern_of(prior, equivalent);
                for (int symmetry = 0; symmetry < symmetries; ++symmetry) {
                    const std::uint32_t side = symmetry & kRotated ? 1 - prior.side : prior.side;
                    if (side != p.side || transform(pattern, symmetry) != wanted) continue;
                    const int equal = matching(contents_of(prior), track(equivalent).from(), symmetry);
                    keep(parts[block][q < 0], {q * (equal / 64.0), q, equal, row, equivalent, symmetry});
                }
            });
        }
    });
    std::array<std::vector<Vote>, 2> all;
    for (const auto& part : parts) {
        for (int against = 0; against < 2; ++against) {
            for (const Vote& vote : part[against]) keep(all[against], vote);
        }
    }
    return {all[0], all[1]};
}

}  // namespace rookery::checkers
