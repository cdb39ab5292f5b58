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
#include <memory>

#include "games/morpion/holes.hpp"
#include "games/morpion/rules.hpp"

namespace rookery::morpion {

// A move of a grid.
struct alignas(8) Placed {
    Line line;
    std::uint8_t position;  // of the new dot in the line
    std::uint8_t x, y;  // of the new dot
};

// Moves in the order of play.
struct Grid {
    std::vector<Placed> moves = std::vector<Placed>(kMaxMoves);
    int size = 0;

    std::span<const Placed> played() const { return {moves.data(), static_cast<std::size_t>(size)}; }
};

class Cascade {
public:
    virtual ~Cascade() = default;

    // A random game from the start.
    virtual void play(Rng& rng, Grid& game) = 0;
    // The grid that trials start from: a finished game from the start.
    virtual void set(const Grid& grid) = 0;
    // The grid without the hole and what falls with it, played to its end at random: a line of the grid that lies outside
    // the hole has `kKnown` times the weight of another, and with `remake` so has any line whose new dot was in the hole.
    // `grid` must be the one that was set last.
    virtual void repair(const Grid& grid, const Region& hole, bool remake, Rng& rng, Grid& trial) = 0;
    // Whether the last trial has the same moves as the grid, in whatever order.
    virtual bool same(const Grid& grid, const Grid& trial) const = 0;

    static constexpr std::uint32_t kKnown = 1000;

    // For the variant of the start, whose moves stay where they are.
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
        for (int word = 0; word < kWords; ++word) {
            const int direction = word / kRow;
            const Cell cell = first_cell(static_cast<Line>(word * kRow));
            const std::uint32_t right = 1, down = 1 << 16;
            cells_[word] = {cell.x * right + cell.y * down, kStepX[direction] * right + kStepY[direction] * down};
        }
        for (const Cell dot : rules_.cross()) place(start_, dot.x, dot.y);
        for (const Action action : start.moves()) {
            const Rules::Move move = rules_.move(action);
            place(start_, move.dot.x, move.dot.y);
            start_.used[move.line / kRow] |= kUsed << move.line % kRow;
        }
    }

    void play(Rng& rng, Grid& game) override {
        trial_ = start_;
        known_ = {};
        for (int direction = 0; direction < kDirections; ++direction) {
            rows_[direction] = {direction * kRow, (direction + 1) * kRow};
        }
        game.size = 0;
        play_on<false>(rng, game);
    }

    void set(const Grid& grid) override {
        grid_ = start_;
        lines_ = {};
        owner_.fill(0);
        chunks_ = grid.size / 64 + 1;  // bit 0 is the start
        for (int i = 0; i <= grid.size; ++i) {
            for (int k = 0; k < chunks_; ++k) above_[i][k] = 0;
        }
        for (int i = 1; i <= grid.size; ++i) {
            const Placed& move = grid.moves[i - 1];
            place(grid_, move.x, move.y);
            grid_.used[move.line / kRow] |= kUsed << move.line % kRow;
            lines_[move.line / kRow] |= bit(move.line % kRow);
            line_of_[i] = move.line;
            owner_[cell_of(move.x, move.y)] = static_cast<std::uint16_t>(i);
            above_[i][i / 64] = bit(i % 64);
        }
        // From the last move to the first: what stands on a move stands on all that the move stands on.
        for (int i = grid.size; i > 0; --i) {
            const Placed& move = grid.moves[i - 1];
            const int along = kAlong[direction_of(move.line)];
            int cell = cell_of(move.x, move.y) - move.position * along;
            for (int k = 0; k < kLength; ++k, cell += along) {
                const int support = owner_[cell];  // 0, which nobody asks for, where the start made the dot
                for (int chunk = 0; chunk < chunks_; ++chunk) above_[support][chunk] |= above_[i][chunk];
            }
        }
        for (int k = 0; k < chunks_; ++k) above_[0][k] = 0;
        for (int direction = 0; direction < kDirections; ++direction) {
            const auto dots = grid_.dots.begin() + direction * kRow;
            int first = 0, last = kRow;
            while (first < last && !dots[first]) ++first;
            while (first < last && !dots[last - 1]) --last;
            rows_[direction] = {direction * kRow + first, direction * kRow + last};
        }
    }

    void repair(const Grid& grid, const Region& hole, bool remake, Rng& rng, Grid& trial) override {
        destroy(grid, hole, trial);
        kept_ = trial.size;
        if (remake) {
            play_on<true>(rng, trial);
        } else {
            play_on<false>(rng, trial);
        }
    }

    bool same(const Grid& grid, const Grid& trial) const override {
        if (trial.size != grid.size) return false;
        for (const Placed& move : trial.played().subspan(static_cast<std::size_t>(kept_))) {
            const int owner = owner_[cell_of(move.x, move.y)];
            if (!owner || line_of_[owner] != move.line) return false;
        }
        return true;
    }

private:
    static constexpr int kWords = kDirections * kRow;
    static constexpr std::uint64_t kDots = (1 << kLength) - 1;
    static constexpr std::uint64_t kUsed = kTouching ? (1 << (kLength - 1)) - 1 : kDots;
    static constexpr std::array<int, kDirections> kAlong = {1, kRow, 1 - kRow, 1 + kRow};  // from cell to cell
    static constexpr int kChunks = kMaxMoves / 64 + 1;

    using Words = std::array<std::uint64_t, kWords>;
    struct Position {
        Words dots{}, used{};
    };

    // Of the kLength lines through a dot, by the dots, or by what is used, from kLength - 1 places before it to as many
    // after it. Places before the first are the last ones, where no line stays on the board.
    static constexpr unsigned kWindow = 1 << (2 * kLength - 1);
    using Through = std::array<std::uint8_t, kWindow>;
    static constexpr Through through(bool used) {
        Through lines{};
        for (unsigned window = 0; window < kWindow; ++window) {
            for (int i = 0; i < kLength; ++i) {
                const bool good = used ? !((window >> i) & kUsed) : std::has_single_bit(~(window >> i) & kDots);
                lines[window] |= static_cast<std::uint8_t>(good << i);
            }
        }
        return lines;
    }
    static constexpr Through kLacksOne = through(false), kFree = through(true);

    // The cells of a word: column and row * 2^16 at once.
    struct Row {
        std::uint32_t origin, along;
        std::uint32_t cell(int place) const { return (origin + along * static_cast<std::uint32_t>(place)) & 0x3f003f; }
    };

    static std::uint64_t bit(int place) { return std::uint64_t(1) << place; }
    static int cell_of(int x, int y) { return y * kRow + x; }

    // The words that a dot is in, by direction.
    static std::array<int, kDirections> words_of(int x, int y) {
        return {y, kRow + x, 2 * kRow + ((x + y + 32) & (kRow - 1)), 3 * kRow + ((x - y + 32) & (kRow - 1))};
    }

    static void place(Position& position, int x, int y) {
        const auto words = words_of(x, y);
        const std::uint64_t at_x = bit(x);
        position.dots[words[0]] |= at_x;
        position.dots[words[1]] |= bit(y);
        position.dots[words[2]] |= at_x;
        position.dots[words[3]] |= at_x;
    }

    // First places of legal lines in a word; some may leave the board.
    static std::uint64_t legal(std::uint64_t dots, std::uint64_t used) {
        const std::uint64_t missing = ~dots;
        std::uint64_t one = missing, two = 0, overlap = used;  // at least one, two of the dots are missing
        for (int i = 1; i < kLength; ++i) {
            two |= one & (missing >> i);
            one |= missing >> i;
        }
        for (int i = 1; i < (kTouching ? kLength - 1 : kLength); ++i) overlap |= used >> i;
        return one & ~two & ~overlap;
    }

    // Lines that were legal when they were listed, known ones and others.
    struct Lists {
        std::array<Line, kMaxLegal> known, other;
    };

    // Sets up the position of the trial without the hole and what stands on it.
    void destroy(const Grid& grid, const Region& hole, Grid& trial) {
        std::array<std::uint64_t, kChunks> falls{};
        known_ = lines_;
        hole_ = {};
        const auto take_out = [&](int move) {
            for (int k = 0; k < chunks_; ++k) falls[k] |= above_[move][k];
            if (!move) return;
            known_[line_of_[move] / kRow] &= ~bit(line_of_[move] % kRow);
            const Placed& placed = grid.moves[move - 1];
            hole_[placed.y] |= bit(placed.x);
        };
        const auto [centre, diagonal, left, right, top, bottom] = hole;
        if (!diagonal && right - left < 9 && bottom - top < 9) {  // fewer cells than moves
            for (int y = std::max(centre.y + top, 0); y <= std::min(centre.y + bottom, kRow - 1); ++y) {
                for (int x = std::max(centre.x + left, 0); x <= std::min(centre.x + right, kRow - 1); ++x) {
                    take_out(owner_[cell_of(x, y)]);
                }
            }
        } else {
            for (int i = 0; i < grid.size; ++i) {
                if (hole.contains({grid.moves[i].x, grid.moves[i].y})) take_out(i + 1);
            }
        }
        int fallen = 0;
        for (int k = 0; k < chunks_; ++k) fallen += popcount(falls[k]);
        const bool few_fall = 2 * fallen < grid.size;
        trial_ = few_fall ? grid_ : start_;
        trial.size = 0;
        for (int k = 0; k < chunks_; ++k) {
            const int base = 64 * k - 1;  // bit i is move i - 1
            const std::uint64_t all = grid.size - 64 * k >= 63 ? ~std::uint64_t(0) : bit(grid.size - 64 * k + 1) - 1;
            for (std::uint64_t rest = (k ? all : all & ~std::uint64_t(1)) & ~falls[k]; rest; rest &= rest - 1) {
                const Placed move = grid.moves[base + lowest_bit(rest)];
                trial.moves[trial.size++] = move;
                if (!few_fall) {
                    place(trial_, move.x, move.y);
                    trial_.used[move.line / kRow] |= kUsed << move.line % kRow;
                }
            }
            for (std::uint64_t rest = few_fall ? falls[k] : 0; rest; rest &= rest - 1) {
                const Placed move = grid.moves[base + lowest_bit(rest)];
                const auto words = words_of(move.x, move.y);
                const std::uint64_t not_x = ~bit(move.x);
                trial_.dots[words[0]] &= not_x;
                trial_.dots[words[1]] &= ~bit(move.y);
                trial_.dots[words[2]] &= not_x;
                trial_.dots[words[3]] &= not_x;
                trial_.used[move.line / kRow] &= ~(kUsed << move.line % kRow);
            }
        }
    }

    // A line is taken out of its list when it is drawn, whether it is still legal or not; if not, another one is drawn. So
    // every legal line has the chance that its weight gives it, and no list is ever searched.
    template <bool kRemake>
    void play_on(Rng& given, Grid& game) {
        Rng rng = given;  // here and below, what is in registers: a copy, and counts apart from the lists
        std::uint32_t known_count = 0, other_count = 0;
        const auto list = [&](int word, int place) {
            const auto line = static_cast<Line>(word * kRow + place);
            const std::uint32_t on_board = (on_board_[word] >> place) & 1;
            std::uint32_t known = (known_[word] >> place) & on_board;
            if constexpr (kRemake) {
                const std::uint32_t dot = cells_[word].cell(place + std::countr_one(trial_.dots[word] >> place));
                known |= (hole_[dot >> 16] >> (dot & 0xff)) & on_board;
            }
            lists_.known[known_count] = lists_.other[other_count] = line;
            known_count += known;
            other_count += on_board - known;
        };
        std::array<std::uint64_t, kRow> legal_lines;
        for (const auto& [first, last] : rows_) {
            for (int i = first; i < last; ++i) legal_lines[i - first] = legal(trial_.dots[i], trial_.used[i]);
            for (int i = first; i < last; ++i) {
                for (std::uint64_t lines = legal_lines[i - first]; lines; lines &= lines - 1)
                    list(i, lowest_bit(lines));
            }
        }
        int size = game.size;
        while (known_count + other_count > 0) {
            const std::uint64_t number = rng.next();
            const std::uint64_t total = kKnown * known_count + other_count;
            const std::uint64_t point = (number >> 32) * total >> 32;
            // A branch, which is nearly always foreseen, while a choice without one would have to wait for the point.
            const auto draw = [](Line* lines, std::uint64_t pick, std::uint32_t& count) {
                const Line line = lines[pick];
                lines[pick] = lines[--count];
                return line;
            };
            const Line line = point < other_count
                                  ? draw(lists_.other.data(), point, other_count)
                                  : draw(lists_.known.data(), (number & 0xffffffff) * known_count >> 32, known_count);
            const int word = line / kRow, start = line % kRow;
            const std::uint64_t missing = (~trial_.dots[word] >> start) & kDots;
            const std::uint64_t overlap = (trial_.used[word] >> start) & kUsed;
            if ((missing & (missing - 1)) | overlap | !missing) continue;
            const int position = lowest_bit(missing);
            const std::uint32_t dot = cells_[word].cell(start + position);
            const int x = dot & 0xff, y = dot >> 16;
            rules_.check_on_grid({x, y});
            if (size == kMaxMoves) throw std::length_error("the game is longer than any possible one");
            game.moves[size++] = {line, static_cast<std::uint8_t>(position), static_cast<std::uint8_t>(x),
                                  static_cast<std::uint8_t>(y)};
            trial_.used[word] |= kUsed << start;
            // Lines through the dot start up to kLength - 1 places before it; their bits are put side by side.
            const auto at = words_of(x, y);
            const int from_x = (x - (kLength - 1)) & (kRow - 1), from_y = (y - (kLength - 1)) & (kRow - 1);
            const auto legal_through = [&](int direction, int here, int from) {
                const std::uint64_t dots = trial_.dots[at[direction]] |= bit(here);
                const std::uint64_t used = trial_.used[at[direction]];
                const unsigned lacks_one = kLacksOne[std::rotr(dots, from) & (kWindow - 1)];
                return (lacks_one & kFree[std::rotr(used, from) & (kWindow - 1)]) << 8 * direction;
            };
            unsigned lines = legal_through(0, x, from_x) | legal_through(1, y, from_y) | legal_through(2, x, from_x) |
                             legal_through(3, x, from_x);
            for (; lines; lines &= lines - 1) {
                const int i = std::countr_zero(lines);
                list(at[i / 8], ((i / 8 == 1 ? from_y : from_x) + i % 8) & (kRow - 1));
            }
        }
        game.size = size;
        given = rng;
    }

    const Rules& rules_;
    Words on_board_{};  // first places of lines that stay on the board
    std::array<Row, kWords> cells_;
    Position start_, grid_, trial_;
    Words lines_{}, known_{};  // of the grid, and those of them outside the hole, by first places
    std::array<std::uint16_t, kRow * kRow> owner_;  // the move of a dot, counted from 1
    std::array<Line, kMaxMoves + 1> line_of_{};  // of these moves
    int chunks_ = 0;
    std::array<std::array<std::uint64_t, kChunks>, kMaxMoves + 1> above_;  // what stands on a move, itself included
    struct Range {
        int first, last;
    };
    std::array<Range, kDirections> rows_;  // words that have dots
    Lists lists_;
    std::array<std::uint64_t, kRow> hole_{};  // dots of the grid that lay in it, by row
    int kept_ = 0;  // moves of the grid that the last trial still has
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
