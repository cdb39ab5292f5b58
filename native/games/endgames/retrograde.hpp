// Distance to mate in every position of an endgame, found backwards from the mates.
//
// Level n settles the positions that are n plies from mate. With the lone king to move n is even: it is mated now (0),
// or all its moves lead to positions settled before. With the strong side to move n is odd: some move leads to a
// position settled at n - 1. What is never settled is drawn. Captures and promotions lead to other endgames, whose
// tables must exist already; a position that owes its value to them is looked at when the level of that value comes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/endgames/index.hpp"

namespace rookery::endgames {

// A byte of a table: plies to mate, or one of these.
inline constexpr std::uint8_t kDrawn = 254;
inline constexpr std::uint8_t kUnused = 255;  // no legal position has this number

// What `DistanceTable::distance` answers besides plies: positive if the side to move mates, negative if it is mated, 0
// if it is mated now.
inline constexpr std::int16_t kDrawDistance = 32767;
inline constexpr std::int16_t kNoDistance = -32768;  // not a legal position of this endgame or of one it leads to

class DistanceTable {
public:
    using Tables = std::vector<std::shared_ptr<const DistanceTable>>;

    // `others`: the tables of all endgames that one capture or promotion leads to and that can be won.
    DistanceTable(Kinds kinds, Tables others)
        : index(kinds),
          plies{std::vector<std::uint8_t>(index.size(), kUnused), std::vector<std::uint8_t>(index.size(), kUnused)},
          others_(std::move(others)) {}

    const EndgameIndex index;
    std::array<std::vector<std::uint8_t>, 2> plies;  // [0: strong side to move, 1: weak side][number]

    // The byte of a legal position.
    std::uint8_t look_up(const Position& p) const {
        if (insufficient_material(p)) return kDrawn;
        if (index.covers(p)) return plies[!p.strong_to_move()][index.of(p)];
        for (const auto& other : others_) {
            if (other->index.covers(p)) return other->look_up(p);
        }
        throw std::invalid_argument("the table does not cover this material");
    }

    bool covers(const Position& p) const {
        if (insufficient_material(p) || index.covers(p)) return true;
        return std::any_of(others_.begin(), others_.end(), [&](const auto& other) { return other->index.covers(p); });
    }

    // Plies to mate, signed for the side to move.
    std::int16_t distance(const Position& p) const {
        const std::uint8_t byte = look_up(p);
        if (byte == kDrawn) return kDrawDistance;
        return p.strong_to_move() ? byte : static_cast<std::int16_t>(-byte);
    }

    // The same for whatever stands in eight bytes.
    std::int16_t distance_if_legal(const Position& p) const {
        Position sorted = p;
        sort_pieces(sorted);
        return fault(p) || sorted != p || !covers(p) ? kNoDistance : distance(p);
    }

    // Positions of every byte's value, all images on the board counted: [side as in plies][byte].
    std::array<std::array<std::int64_t, 256>, 2> histogram() const {
        std::array<std::array<std::int64_t, 256>, 2> counts{};
        for (int side = 0; side < 2; ++side) {
            for (std::size_t number = 0; number < index.size(); ++number) {
                const std::uint8_t byte = plies[side][number];
                if (byte != kUnused) counts[side][byte] += index.images(index.at(number, side));
            }
        }
        return counts;
    }

private:
    Tables others_;
};

// The distance that a move gives its mover, from the distance of the position it leads to.
inline std::int16_t distance_before(std::int16_t next) {
    if (next == kDrawDistance) return next;
    return static_cast<std::int16_t>(next <= 0 ? 1 - next : -1 - next);
}

// Is distance a better for the side that has it than b? A fast mate is best, then a slow one, a draw, a slow loss, a
// fast one.
inline bool is_better(std::int16_t a, std::int16_t b) {
    const auto rank = [](std::int16_t d) { return d == kDrawDistance ? 0 : d > 0 ? 1000 - d : -1000 - d; };
    return rank(a) > rank(b);
}

struct MoveDistance {
    Action action;
    std::int16_t distance;  // for the side that moves, counted from before the move
};

inline std::vector<MoveDistance> move_distances(const DistanceTable& table, const Position& p) {
    std::vector<MoveDistance> rows;
    for_each_move(p, legal_moves(p), [&](Move move) {
        rows.push_back({action_of(move), distance_before(table.distance(after(p, move)))});
    });
    return rows;
}

namespace retrograde {

inline constexpr std::size_t kBlock = 1 << 13;

// Workers may settle one position at the same time, with the same value.
inline std::uint8_t read(std::uint8_t& byte) { return std::atomic_ref(byte).load(std::memory_order_relaxed); }
inline void write(std::uint8_t& byte, std::uint8_t value) {
    std::atomic_ref(byte).store(value, std::memory_order_relaxed);
}

class Generator {
public:
    Generator(DistanceTable& table, int threads, Control& control)
        : table_(table), threads_(threads), control_(control) {}

    void run() {
        mark_legal_and_mates();
        for (int level = 0; level < kDrawn - 1 && level <= last_level_; ++level) {
            if (control_.stopped()) return;
            level % 2 == 0 ? from_lost(level) : from_won(level);
        }
        add(static_cast<std::int64_t>(2 * table_.index.size()) - settled_);  // the rest is drawn
    }

private:
    // Every legal position is drawn until it is settled.
    void mark_legal_and_mates() {
        for_blocks([&](std::size_t begin, std::size_t end) {
            std::array<std::vector<std::pair<std::uint8_t, std::size_t>>, 2> found;
            std::int64_t settled = 0;
            for (std::size_t number = begin; number < end; ++number) {
                for (int side = 0; side < 2; ++side) {
                    const auto p = table_.index.legal(number, side);
                    if (!p) {
                        ++settled;
                        continue;
                    }
                    const Moves moves = legal_moves(*p);
                    const bool mate = moves.count == 0 && in_check(*p);
                    table_.plies[side][number] = mate ? 0 : kDrawn;
                    settled += mate;
                    for_each_move(*p, moves, [&](Move move) {
                        if (!leaves(*p, move)) return;
                        const std::uint8_t value = table_.look_up(after(*p, move));
                        if (value != kDrawn) found[side].emplace_back(value, number);
                    });
                }
            }
            std::lock_guard lock(mutex_);
            for (int side = 0; side < 2; ++side) {
                for (const auto& [level, number] : found[side]) {
                    waiting_[level].push_back(number);
                    last_level_ = std::max<int>(last_level_, level);
                }
            }
            add(settled);
        });
    }

    void add(std::int64_t settled) {
        settled_ += settled;
        control_.add(settled);
    }

    // The position before the move is of this endgame, the one after it is not.
    bool leaves(const Position& p, Move move) const {
        return move.promotion() || (!p.strong_to_move() && p.pieces() & bit(move.to()));
    }

    // The lone king to move is mated in `level` plies: whoever can bring that about mates in one more.
    void from_lost(int level) {
        const auto settle_number = [&](std::size_t number, std::int64_t& settled) {
            auto& byte = table_.plies[0][number];
            if (read(byte) != kDrawn) return;
            write(byte, static_cast<std::uint8_t>(level + 1));
            ++settled;
        };
        for_settled(level, settle_number,
                    [&](const Position& p, std::int64_t& settled) { settle_number(table_.index.of(p), settled); });
    }

    // The strong side mates in `level` plies: a lone king that has no better move left is mated in one more.
    void from_won(int level) {
        const auto settle = [&](const Position& p, std::size_t number, std::int64_t& settled) {
            auto& byte = table_.plies[1][number];
            if (read(byte) != kDrawn || !all_lose(p, level)) return;
            write(byte, static_cast<std::uint8_t>(level + 1));
            ++settled;
        };
        for_settled(
            level,
            [&](std::size_t number, std::int64_t& settled) { settle(table_.index.at(number, 1), number, settled); },
            [&](const Position& p, std::int64_t& settled) { settle(p, table_.index.of(p), settled); });
    }

    bool all_lose(const Position& p, int level) const {
        for (Squares targets = legal_moves(p).targets[0]; targets; targets &= targets - 1) {
            Position next = p;
            if (p.pieces() & lowest(targets)) {
                next = after(p, Move(p.weak_king, lowest_bit(targets)));
            } else {
                next.weak_king = static_cast<std::uint8_t>(lowest_bit(targets));
                next.to_move ^= 1;
            }
            if (table_.look_up(next) > level) return false;
        }
        return true;
    }

    static Squares lowest(Squares squares) { return squares & -squares; }

    // Hands on the positions that waited for this level, and those before the ones settled at it.
    template <class SettleNumber, class SettlePosition>
    void for_settled(int level, SettleNumber&& settle_number, SettlePosition&& settle_position) {
        const int side = level % 2 == 0 ? 1 : 0;
        const std::int64_t before = settled_;
        std::int64_t first = 0;
        for (const std::size_t number : waiting_[level]) settle_number(number, first);
        add(first);
        for_blocks([&](std::size_t begin, std::size_t end) {
            std::int64_t settled = 0;
            for (std::size_t number = begin; number < end; ++number) {
                if (table_.plies[side][number] != level) continue;
                for_each_quiet_predecessor(table_.index.at(number, side),
                                           [&](const Position& p) { settle_position(p, settled); });
            }
            add(settled);
        });
        if (settled_ > before) last_level_ = std::max(last_level_, level + 1);
    }

    template <class Work>
    void for_blocks(Work&& work) {
        const std::size_t size = table_.index.size();
        parallel_blocks(static_cast<std::int64_t>((size + kBlock - 1) / kBlock), threads_, [&](std::int64_t block) {
            if (control_.stopped()) return;
            const std::size_t begin = static_cast<std::size_t>(block) * kBlock;
            work(begin, std::min(size, begin + kBlock));
        });
    }

    DistanceTable& table_;
    int threads_;
    Control& control_;
    std::atomic<std::int64_t> settled_{0};  // and numbers that no legal position has
    std::mutex mutex_;
    // By the distance of the position that a capture or promotion leads to: the numbers of the positions before it.
    std::array<std::vector<std::size_t>, 256> waiting_;
    int last_level_ = 1;  // the last one that has something to hand on
};

}  // namespace retrograde

// `control.done` counts the positions that are settled or cannot be, of `2 * index.size()`; stopped early, the table is
// of no use. The table does not depend on the number of threads.
inline std::shared_ptr<DistanceTable> generate(Kinds kinds, DistanceTable::Tables others, int threads,
                                               Control& control) {
    auto table = std::make_shared<DistanceTable>(kinds, std::move(others));
    retrograde::Generator(*table, threads, control).run();
    return table;
}

}  // namespace rookery::endgames
