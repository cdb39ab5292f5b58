// The trial of destroy and repair: moves are taken out of a grid, with all that was built on them, and the game is played
// to its end again.
//
// A move stays if and only if all dots of its line are still there, since a line that is taken out never forbids another.
// So what falls is found in one pass over the moves (a cascade), and nothing is replayed.
//
// A row, column or diagonal of the board is one word: its dots, what its lines use (segments, or dots where lines are
// disjoint), and the known lines in it by their first places. Words are numbered like the rows of lines in rules.hpp.
#pragma once

#include <array>
#include <cstring>
#include <memory>

#include "games/morpion/rules.hpp"

namespace rookery::morpion {

// A move of a grid.
struct Placed {
    Line line;
    std::uint8_t position;  // of the new dot in the line
    std::uint8_t x, y;      // of the new dot
};

// Moves in the order of play.
struct Grid {
    std::vector<Placed> moves = std::vector<Placed>(kMaxMoves);
    int size = 0;

    std::span<const Placed> played() const { return {moves.data(), static_cast<std::size_t>(size)}; }
    void add(Placed placed) {
        if (size == kMaxMoves) throw std::length_error("the game is longer than any possible one");
        moves[size++] = placed;
    }
};

// The cells within `radius` rows and columns of the centre.
struct Hole {
    int x, y, radius;
    bool contains(int column, int row) const {
        return static_cast<unsigned>(column - x + radius) <= static_cast<unsigned>(2 * radius) &&
               static_cast<unsigned>(row - y + radius) <= static_cast<unsigned>(2 * radius);
    }
};

class Cascade {
public:
    virtual ~Cascade() = default;

    // The grid that trials start from. It must be a finished game from the start.
    virtual void set(const Grid& grid) = 0;
    // A trial of that grid, which must be the one that was set or accepted last: it is without the hole, and repaired at
    // random. Lines that fall have `kKnown` times the weight of others.
    virtual void repair(const Grid& grid, const Hole& hole, Rng& rng, Grid& trial) = 0;
    // The last trial is the grid that further ones start from.
    virtual void accept() = 0;

    static constexpr std::uint32_t kKnown = 1000;

    // For the variant of the position, whose moves stay where they are.
    static std::unique_ptr<Cascade> of(const State& start);
};

template <int kLength, bool kTouching>
class CascadeOf final : public Cascade {
public:
    explicit CascadeOf(const State& start) : rules_(start.rules()) {
        for (int direction = 0; direction < kDirections; ++direction) {
            for (int y = 0; y < rules_.side(); ++y) {
                for (int x = 0; x < rules_.side(); ++x) {
                    if (!rules_.on_board(step({x, y}, direction, kLength - 1))) continue;
                    const int line = line_at(direction, {x, y});
                    on_board_[line / kRow] |= bit(line % kRow);
                }
            }
        }
        for (const Cell dot : rules_.cross()) place(start_, dot.x, dot.y);
        for (const Action action : start.moves()) {
            const Rules::Move move = rules_.move(action);
            place(start_, move.dot.x, move.dot.y);
            start_.used[move.line / kRow] |= kUsed << move.line % kRow;
        }
        trial_ = start_;
    }

    void set(const Grid& grid) override {
        grid_ = start_;
        for (const Placed& move : grid.played()) {
            place(grid_, move.x, move.y);
            grid_.used[move.line / kRow] |= kUsed << move.line % kRow;
        }
    }

    void repair(const Grid& grid, const Hole& hole, Rng& rng, Grid& trial) override {
        known_.fill(0);
        known_count_ = other_count_ = 0;
        trial.size = 0;
        if (grid.size == 0) {
            trial_ = start_;
            for (int word = 0; word < kWords; ++word) list_legal(word, on_board_[word]);
        } else {
            trial_ = grid_;
            destroy(grid, hole, trial);
        }
        play_on(rng, trial);
    }

    void accept() override { std::swap(grid_, trial_); }

private:
    static constexpr int kWords = kDirections * kRow;
    static constexpr std::uint64_t kDots = (1 << kLength) - 1;
    static constexpr std::uint64_t kUsed = kTouching ? (1 << (kLength - 1)) - 1 : kDots;

    struct Position {
        std::array<std::uint64_t, kWords> dots{}, used{};
    };

    static std::uint64_t bit(int place) { return std::uint64_t(1) << place; }

    // The four words that a dot is in.
    static std::array<int, kDirections> words_of(int x, int y) {
        return {y, kRow + x, 2 * kRow + ((x + y + 32) & (kRow - 1)), 3 * kRow + ((x - y + 32) & (kRow - 1))};
    }

    static void place(Position& position, int x, int y) {
        const auto words = words_of(x, y);
        for (int direction = 0; direction < kDirections; ++direction) {
            position.dots[words[direction]] |= bit(direction == 1 ? y : x);
        }
    }

    // Lists the legal lines of a word among those that start at the given places.
    void list_legal(int word, std::uint64_t starts) {
        const std::uint64_t missing = ~trial_.dots[word], used = trial_.used[word];
        std::uint64_t one = missing, two = 0, overlap = used;  // at least one, two of the dots are missing
        for (int i = 1; i < kLength; ++i) {
            two |= one & (missing >> i);
            one |= missing >> i;
        }
        for (int i = 1; i < (kTouching ? kLength - 1 : kLength); ++i) overlap |= used >> i;
        for (std::uint64_t legal = one & ~two & ~overlap & starts; legal; legal &= legal - 1) {
            const int start = lowest_bit(legal);
            const bool is_known = (known_[word] >> start) & 1;
            lists_[is_known][is_known ? known_count_++ : other_count_++] = static_cast<Line>(word * kRow + start);
        }
    }

    void destroy(const Grid& grid, const Hole& hole, Grid& trial) {
        std::array<std::uint64_t, kDirections> changed{};  // words of each direction
        for (const Placed& move : grid.played()) {
            const int word = move.line / kRow, start = move.line % kRow;
            const bool stands = ((trial_.dots[word] >> start) & kDots) == kDots, out = hole.contains(move.x, move.y);
            if (stands && !out) {
                trial.moves[trial.size++] = move;
                continue;
            }
            const auto words = words_of(move.x, move.y);
            for (int direction = 0; direction < kDirections; ++direction) {
                trial_.dots[words[direction]] &= ~bit(direction == 1 ? move.y : move.x);
                changed[direction] |= bit(words[direction] % kRow);
            }
            trial_.used[word] &= ~(kUsed << start);
            known_[word] |= std::uint64_t(!out) << start;
        }
        // No line was legal, so one that is now lies in a word that has changed.
        for (int direction = 0; direction < kDirections; ++direction) {
            for (std::uint64_t rows = changed[direction]; rows; rows &= rows - 1) {
                const int word = direction * kRow + lowest_bit(rows);
                list_legal(word, on_board_[word]);
            }
        }
    }

    // A line is taken out of its list when it is drawn, whether it is still legal or not; if not, another one is drawn. So
    // every legal line has the chance that its weight gives it, and no list is ever searched.
    void play_on(Rng& rng, Grid& game) {
        while (known_count_ + other_count_ > 0) {
            const std::uint64_t number = rng.next();
            const std::uint32_t known_weight = kKnown * known_count_;
            const auto point = static_cast<std::uint32_t>((number >> 32) * (known_weight + other_count_) >> 32);
            const bool is_known = point < known_weight;
            std::uint32_t& count = is_known ? known_count_ : other_count_;
            const std::uint32_t pick =
                is_known ? static_cast<std::uint32_t>((number & 0xffffffff) * count >> 32) : point - known_weight;
            auto& list = lists_[is_known];
            const Line line = list[pick];
            list[pick] = list[--count];
            const int word = line / kRow, start = line % kRow;
            const std::uint64_t missing = (~trial_.dots[word] >> start) & kDots;
            if (!std::has_single_bit(missing) || ((trial_.used[word] >> start) & kUsed)) continue;
            const int position = lowest_bit(missing);
            const Cell dot = step(first_cell(line), direction_of(line), position);
            rules_.check_on_grid(dot);
            game.add({line, static_cast<std::uint8_t>(position), static_cast<std::uint8_t>(dot.x),
                      static_cast<std::uint8_t>(dot.y)});
            trial_.used[word] |= kUsed << start;
            place(trial_, dot.x, dot.y);
            const auto words = words_of(dot.x, dot.y);
            for (int direction = 0; direction < kDirections; ++direction) {
                const int here = direction == 1 ? dot.y : dot.x;  // lines through the dot start up to kLength - 1 before it
                const std::uint64_t through = here < kLength - 1 ? kDots >> (kLength - 1 - here)
                                                                 : kDots << (here - (kLength - 1));
                list_legal(words[direction], through & on_board_[words[direction]]);
            }
        }
    }

    const Rules& rules_;
    std::array<std::uint64_t, kWords> on_board_{};  // first places of lines that stay on the board
    Position start_, grid_, trial_;
    std::array<std::uint64_t, kWords> known_{};
    std::array<std::array<Line, kMaxLegal>, 2> lists_;  // other lines that are or were legal, and known ones
    std::uint32_t known_count_ = 0, other_count_ = 0;
};

inline std::unique_ptr<Cascade> Cascade::of(const State& start) {
    const Rules& rules = start.rules();
    if (rules.length() == 5) {
        if (rules.touching()) return std::make_unique<CascadeOf<5, true>>(start);
        return std::make_unique<CascadeOf<5, false>>(start);
    }
    if (rules.touching()) return std::make_unique<CascadeOf<4, true>>(start);
    return std::make_unique<CascadeOf<4, false>>(start);
}

}  // namespace rookery::morpion
