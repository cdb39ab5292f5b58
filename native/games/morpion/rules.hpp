// Morpion Solitaire: from a Greek cross of dots, each move adds one dot and draws a line through it and the
// length - 1 dots beside it. Lines of one direction may not overlap: touching (T) they share no segment, disjoint (D)
// no dot. The score is the number of moves.
//
// A cell is (x, y), x to the right and y down. A line is a direction and its first cell along the direction's step.
//
// Everything a move needs to know about a line is one byte: bit p is set while the dot at place p of the line is
// missing, and kBlocked is set if the line overlaps a drawn one or leaves the board. So a line is a legal move if and
// only if its byte has exactly one bit set, and that bit says where the new dot goes. The bytes of the lines along one
// row, column or diagonal lie side by side: the up to 5 lines of a direction through a new dot, and the up to 9 that a
// new line blocks, are one word of memory each, updated at once.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/bits.hpp"
#include "core/state.hpp"

namespace rookery::morpion {

static_assert(std::endian::native == std::endian::little, "the bytes of lines are read as words, lowest byte first");

inline constexpr int kDirections = 4;  // in the order and with the steps of Pentasol: - | / and backslash
inline constexpr std::array<int, kDirections> kStepX = {1, 0, 1, 1};
inline constexpr std::array<int, kDirections> kStepY = {0, 1, -1, 1};

inline constexpr int kMaxSide = 64;       // of the board
inline constexpr int kFarFromBorder = 4;  // on the unlimited grid, which must look unlimited from every dot
inline constexpr int kMaxMoves = 512;     // no game is that long: 485 is a proven bound for 5T, the longest variant
// Each legal line has all dots but one, and a dot lies on at most 4 * length lines; so there are at most 5 legal lines
// for each dot with length 5, and at most 5.33 with length 4, which starts from fewer dots.
inline constexpr int kMaxLegal = 3000;

// Where the byte of a line is: 64 rows of 64 bytes for each direction. A row holds the lines along one row, column or
// diagonal of the board by their first cell. A row of diagonals holds two of them, one after the other, since the
// number of a diagonal is taken modulo 64. Writing past the first line of a row or diagonal hits the end of another
// one, and no line that starts there stays on the board, so those bytes are blocked and stay so.
using Line = std::uint16_t;
inline constexpr int kRow = 64;
inline constexpr int kPlane = kRow * kRow;

struct Cell {
    int x, y;
};

// The row and the place in it are sums of x and y. Tables instead of cases: the direction of a move is anybody's guess,
// and a wrong guess of the processor costs more than the sums. The 32 keeps the middle of the board away from the wrap.
inline int row_of(int direction, Cell cell) {
    static constexpr std::array<int, kDirections> kX = {0, 1, 1, 1}, kY = {1, 0, 1, -1}, kShift = {0, 0, 32, 32};
    return (kX[direction] * cell.x + kY[direction] * cell.y + kShift[direction]) & (kRow - 1);
}

inline int line_at(int direction, Cell first) {
    return direction * kPlane + row_of(direction, first) * kRow + (direction == 1 ? first.y : first.x);
}

inline int direction_of(Line line) { return line / kPlane; }

inline Cell first_cell(Line line) {
    static constexpr std::array<int, kDirections> kPlace = {0, 1, -1, 1}, kLine = {1, 0, 1, -1};
    static constexpr std::array<int, kDirections> kShift = {0, 0, 32, 32};
    const int direction = direction_of(line), row = line / kRow % kRow, place = line % kRow;
    return {direction == 1 ? row : place,
            (kPlace[direction] * place + kLine[direction] * row + kShift[direction]) & (kRow - 1)};
}

inline Cell step(Cell cell, int direction, int steps) {
    return {cell.x + steps * kStepX[direction], cell.y + steps * kStepY[direction]};
}

class Rules {
public:
    // `board` 0 is the unlimited grid, of which 64 x 64 cells are kept: a game that comes near their border throws
    // std::length_error. Otherwise the game is played on a board of that many rows and columns, and a line that would
    // leave it is not legal.
    Rules(int length, bool touching, int board)
        : length_(length), touching_(touching), limited_(board != 0), side_(limited_ ? board : kMaxSide) {
        if (length != 4 && length != 5) throw std::invalid_argument("a line must have 4 or 5 dots");
        const int arm = length - 1, frame = 3 * arm - 2;
        if (side_ < std::max(8, frame) || side_ > kMaxSide) {
            throw std::invalid_argument("the board must have " + std::to_string(std::max(8, frame)) +
                                        " to 64 rows and columns, or 0 for the unlimited grid");
        }
        corner_ = (side_ - frame) / 2;
        reciprocal_ = (std::uint64_t(1) << 32) / side_ + 1;
        // The outline of a plus whose arms are `arm` dots wide.
        const auto in_plus = [&](int x, int y) {
            const auto middle = [&](int i) { return i >= arm - 1 && i < 2 * arm - 1; };
            const auto inside = [&](int i) { return i >= 0 && i < frame; };
            return inside(x) && inside(y) && (middle(x) || middle(y));
        };
        for (int y = 0; y < frame; ++y) {
            for (int x = 0; x < frame; ++x) {
                bool surrounded = true;
                for (int dy = -1; dy <= 1; ++dy) {
                    for (int dx = -1; dx <= 1; ++dx) surrounded &= in_plus(x + dx, y + dy);
                }
                if (in_plus(x, y) && !surrounded) cross_.push_back({corner_ + x, corner_ + y});
            }
        }
        // See State::place_dot and State::draw for the words these masks apply to.
        for (int back = 0; back < length; ++back) {
            dot_bits_ |= std::uint64_t(1) << back << 8 * (kReach - back);
            dot_lines_ |= std::uint64_t(0x80) << 8 * (kReach - back);
        }
        const int reach = touching ? length - 2 : length - 1;
        for (int offset = -reach; offset <= reach; ++offset) overlap_[kReach + offset] = kBlocked;
    }

    static constexpr int players() { return 1; }
    Action num_actions() const { return kDirections * side_ * side_ * length_; }
    Shape observation_shape() const { return {1 + 2 * kDirections, side_, side_}; }
    int num_codes() const { return kDirections * kPlane; }

    int length() const { return length_; }
    bool touching() const { return touching_; }
    bool limited() const { return limited_; }
    int side() const { return side_; }
    int corner() const { return corner_; }  // x and y of the top left cell of the square around the cross
    const std::vector<Cell>& cross() const { return cross_; }

    int number(Cell cell) const { return cell.y * side_ + cell.x; }
    bool on_board(Cell cell) const { return cell.x >= 0 && cell.x < side_ && cell.y >= 0 && cell.y < side_; }

    // On the unlimited grid: throws where lines that pass through the dot would leave the part that is kept.
    void check_on_grid(Cell dot) const {
        const auto inner = static_cast<unsigned>(kMaxSide - 2 * kFarFromBorder);
        const bool far_from_border = static_cast<unsigned>(dot.x - kFarFromBorder) < inner &&
                                     static_cast<unsigned>(dot.y - kFarFromBorder) < inner;
        if (limited_ || far_from_border) return;
        throw std::length_error("the game left the 64 x 64 cells that are kept of the unlimited grid");
    }

    Action action(Line line, int position) const {
        return (direction_of(line) * side_ * side_ + number(first_cell(line))) * length_ + position;
    }

    struct Move {
        int line;
        int direction;
        Cell dot;
    };
    Move move(Action action) const {
        const auto code = static_cast<std::uint32_t>(action);
        const std::uint32_t start = length_ == 5 ? code / 5 : code / 4;
        const int position = static_cast<int>(code - start * length_);
        const std::uint32_t row = divide_by_side(start);  // of the four directions' boards, one below the other
        const int direction = static_cast<int>(divide_by_side(row));
        const Cell first = {static_cast<int>(start - row * side_), static_cast<int>(row - direction * side_)};
        return {line_at(direction, first), direction, step(first, direction, position)};
    }

    // The action under a symmetry of the cross, 0 .. 7: bit 0 mirrors columns, bit 1 rows, then bit 2 swaps them.
    bool centred() const { return (side_ - (3 * length_ - 5)) % 2 == 0; }
    Action transform(Action action, int symmetry) const {
        if (!centred())
            throw std::invalid_argument("only a board with the cross in its centre has the symmetries of it");
        const Move given = move(action);
        const auto turned = [&](Cell cell) -> Cell {
            if (symmetry & 1) cell.x = side_ - 1 - cell.x;
            if (symmetry & 2) cell.y = side_ - 1 - cell.y;
            return symmetry & 4 ? Cell{cell.y, cell.x} : cell;
        };
        int position = action % length_;
        Cell first = turned(step(given.dot, given.direction, -position));
        Cell last = turned(step(given.dot, given.direction, length_ - 1 - position));
        // A line goes right, or straight down.
        if (last.x < first.x || (last.x == first.x && last.y < first.y)) {
            std::swap(first, last);
            position = length_ - 1 - position;
        }
        const int direction = last.x == first.x ? 1 : last.y == first.y ? 0 : last.y < first.y ? 2 : 3;
        return (direction * side_ * side_ + number(first)) * length_ + position;
    }

private:
    friend class State;

    static constexpr int kReach = 4;  // lines that overlap start at most this far from each other
    static constexpr std::uint8_t kBlocked = 0x60;

    // Exact for all n below 2^32 / side, and much quicker than a division.
    std::uint32_t divide_by_side(std::uint64_t n) const { return static_cast<std::uint32_t>(n * reciprocal_ >> 32); }

    // A vector type of gcc and clang, so that the 9 bytes are one load and one store.
    using Overlap = std::uint8_t __attribute__((vector_size(16)));

    int length_;
    bool touching_, limited_;
    int side_, corner_ = 0;
    std::uint64_t reciprocal_ = 0;  // of the side, times 2^32, rounded up
    std::vector<Cell> cross_;
    std::uint64_t dot_bits_ = 0;   // in the word of lines that start at dot - 4 .. dot + 3: the dot's bit in each
    std::uint64_t dot_lines_ = 0;  // the top bit of the bytes of those that pass through the dot
    Overlap overlap_{};            // from the line that starts 4 before a drawn one: kBlocked where it overlaps
};

class State {
public:
    using Rules = morpion::Rules;

    explicit State(const Rules& rules) : rules_(&rules) {
        bytes_.fill(Rules::kBlocked);
        const int side = rules.side(), length = rules.length();
        for (int direction = 0; direction < kDirections; ++direction) {
            for (int y = 0; y < side; ++y) {
                for (int x = 0; x < side; ++x) {
                    if (rules.on_board(step({x, y}, direction, length - 1))) {
                        byte(line_at(direction, {x, y})) = static_cast<std::uint8_t>((1 << length) - 1);
                    }
                }
            }
        }
        for (const Cell dot : rules.cross()) {
            place_dot(dot);
            drop_illegal([](Line) {});
        }
        touched_ = {};  // what the start has is the same for all states of these rules
    }

    // The position after these moves; throws std::invalid_argument at the first that is not legal.
    State(const Rules& rules, const std::vector<Action>& moves) : State(rules) {
        for (std::size_t i = 0; i < moves.size(); ++i) {
            if (!is_legal(moves[i])) {
                throw std::invalid_argument("move " + std::to_string(i + 1) + ", action " + std::to_string(moves[i]) +
                                            ", is not legal");
            }
            apply(moves[i]);
        }
    }

    State(const State& other) : rules_(other.rules_), bytes_(other.bytes_) { copy_lists(other); }

    // Copies only the rows of bytes that one of the two has changed since the start: playouts reset a state this way.
    State& operator=(const State& other) {
        if (this == &other) return *this;
        if (rules_ != other.rules_) {
            rules_ = other.rules_;
            bytes_ = other.bytes_;
        } else {
            for (int direction = 0; direction < kDirections; ++direction) {
                for (std::uint64_t rows = touched_[direction] | other.touched_[direction]; rows; rows &= rows - 1) {
                    const int row = kPadding + direction * kPlane + lowest_bit(rows) * kRow;
                    std::memcpy(&bytes_[row], &other.bytes_[row], kRow);
                }
            }
        }
        copy_lists(other);
        return *this;
    }

    const Rules& rules() const { return *rules_; }
    int player() const { return legal_count_ == 0 ? kTerminal : 0; }

    // In ascending order, so equal positions list the same actions however they came about.
    void legal_actions(ActionList& actions) const {
        const auto old = static_cast<std::ptrdiff_t>(actions.size());
        for (const Line line : legal_lines()) actions.push_back(action(line));
        std::sort(actions.begin() + old, actions.end());
    }

    std::uint64_t count_legal() const { return static_cast<std::uint64_t>(legal_count_); }
    Action random_action(Rng& rng) const { return action(legal_[rng.below(static_cast<std::uint32_t>(legal_count_))]); }

    bool is_legal(Action action) const {
        if (action < 0 || action >= rules_->num_actions()) return false;
        return byte(rules_->move(action).line) == 1 << action % rules_->length();
    }

    // The legal moves in an order that depends on the history: a line says where its dot goes.
    std::span<const Line> legal_lines() const { return {legal_.data(), static_cast<std::size_t>(legal_count_)}; }
    Action action(Line line) const { return rules_->action(line, lowest_bit(std::uint64_t(byte(line)))); }

    // For searches that keep a table of moves (search/policy_search.hpp): the number of the line, whatever dot it still
    // lacks. A table that tells the dots apart learns slower: NRPA of level 2 then averages 67.1 on 5D, not 68.3.
    void legal_codes(std::vector<std::uint32_t>& codes) const {
        const std::span<const Line> lines = legal_lines();
        codes.insert(codes.end(), lines.begin(), lines.end());
    }
    Action action_of(std::uint32_t code) const { return action(static_cast<Line>(code)); }
    std::uint32_t code_of(Action action) const { return static_cast<std::uint32_t>(rules_->move(action).line); }

    void apply(Action action) {
        play(action, rules_->move(action), [](Line) {});
    }

    int score() const { return move_count_; }
    Returns returns() const { return {static_cast<double>(move_count_), 0.0}; }

    // The set of drawn lines: it says which dots there are and what is blocked.
    std::string key() const {
        std::vector<std::uint16_t> lines;
        for (const Action action : moves()) lines.push_back(static_cast<std::uint16_t>(action / rules_->length()));
        std::sort(lines.begin(), lines.end());
        std::string bytes;
        for (const auto line : lines) {
            bytes.push_back(static_cast<char>(line >> 8));
            bytes.push_back(static_cast<char>(line & 0xff));
        }
        return bytes;
    }

    // Plane 0: dots. Plane 1 + direction: cells from which a drawn segment leads one step along the direction.
    // Plane 5 + direction: cells where a legal line of that direction has its new dot.
    template <class Plane>
    void observe(Plane* planes) const {
        std::fill_n(planes, (1 + 2 * kDirections) * rules_->side() * rules_->side(), Plane(0));
        for (const Cell dot : rules_->cross()) planes[rules_->number(dot)] = 1;
        for (const Action action : moves()) show_move(rules_->move(action), planes);
        for (const Line line : legal_lines()) planes[place_of(line, new_dot(line))] = 1;
    }

    // A move changes a few numbers of the planes and of the mask, and the rest of that memory is not touched.
    template <class Plane>
    void apply_shown(Action action, Plane* planes, bool* mask) {
        const Rules::Move move = rules_->move(action);
        const auto hide = [&](Line line) {
            // The line lacks the dot that it lacked before, unless this is the dot of the move.
            const int direction = direction_of(line), lacks = byte(line) & ~Rules::kBlocked;
            const Cell first = first_cell(line);
            const int position = lacks            ? lowest_bit(std::uint64_t(lacks))
                                 : direction == 1 ? move.dot.y - first.y
                                                  : move.dot.x - first.x;
            mask[rules_->action(line, position)] = false;
            const Cell dot = step(first, direction, position);
            planes[place_of(line, dot)] = static_cast<Plane>(is_new_dot(dot, direction));
        };
        const int shown = play(action, move, hide);
        show_move(move, planes);
        for (const Line line : legal_lines().subspan(static_cast<std::size_t>(shown))) {
            mask[this->action(line)] = true;
            planes[place_of(line, new_dot(line))] = 1;
        }
    }

    // What was played, in order.
    std::span<const Action> moves() const { return {moves_.data(), static_cast<std::size_t>(move_count_)}; }

private:
    // Words around a line reach over the ends of the table by less than this.
    static constexpr int kPadding = 64;

    std::uint8_t& byte(int line) { return bytes_[kPadding + line]; }
    std::uint8_t byte(int line) const { return bytes_[kPadding + line]; }

    template <class Plane>
    void show_move(const Rules::Move& move, Plane* planes) const {
        const int cells = rules_->side() * rules_->side();
        planes[rules_->number(move.dot)] = 1;
        const Cell first = first_cell(static_cast<Line>(move.line));
        for (int i = 0; i < rules_->length() - 1; ++i) {
            planes[(1 + move.direction) * cells + rules_->number(step(first, move.direction, i))] = 1;
        }
    }

    // Where a legal line puts its dot.
    Cell new_dot(Line line) const {
        return step(first_cell(line), direction_of(line), lowest_bit(std::uint64_t(byte(line))));
    }

    // Whether some legal line of the direction puts its dot there.
    bool is_new_dot(Cell dot, int direction) const {
        const int nearest = line_at(direction, dot);
        bool found = false;
        for (int back = 0; back < rules_->length(); ++back) found |= byte(nearest - back) == 1 << back;
        return found;
    }

    // Where the planes show that a legal line puts its dot there.
    int place_of(Line line, Cell dot) const {
        return (1 + kDirections + direction_of(line)) * rules_->side() * rules_->side() + rules_->number(dot);
    }

    // Calls dropped(line) for every line that is no longer legal; the number of those that still are is the answer, and
    // in the list the new ones follow.
    template <class Dropped>
    int play(Action action, const Rules::Move& move, Dropped&& dropped) {
        rules_->check_on_grid(move.dot);
        if (move_count_ == kMaxMoves) throw std::length_error("the game is longer than any possible one");
        moves_[move_count_++] = action;
        draw(move.line);
        const int before = legal_count_;
        place_dot(move.dot);
        const int found = legal_count_ - before;
        drop_illegal(dropped);
        return legal_count_ - found;
    }

    // Blocks every line that overlaps this one, itself included.
    void draw(int line) {
        std::uint8_t* const word = &byte(line - Rules::kReach);
        Rules::Overlap bytes;
        std::memcpy(&bytes, word, sizeof bytes);
        bytes |= rules_->overlap_;
        std::memcpy(word, &bytes, sizeof bytes);
    }

    // Clears the dot's bit in every line through it, and lists the lines that have become legal.
    void place_dot(Cell dot) {
        const std::uint64_t bits = rules_->dot_bits_, through = rules_->dot_lines_;
        std::array<int, kDirections> farthest;  // the first line of each word
        std::uint64_t legal = 0;                // bit 8 * i + direction: line i of that direction's word
        for (int direction = 0; direction < kDirections; ++direction) {
            touched_[direction] |= std::uint64_t(1) << row_of(direction, dot);
            farthest[direction] = line_at(direction, dot) - Rules::kReach;
            std::uint64_t word;
            std::memcpy(&word, &byte(farthest[direction]), sizeof word);
            word &= ~bits;
            std::memcpy(&byte(farthest[direction]), &word, sizeof word);
            legal |= (single_bits(word) & through) >> (7 - direction);
        }
        for (; legal; legal &= legal - 1) {
            const int found = lowest_bit(legal);
            legal_[legal_count_++] = static_cast<Line>(farthest[found % 8] + found / 8);
        }
    }

    // The top bit of every byte that has exactly one bit set. No byte here uses its top bit.
    static std::uint64_t single_bits(std::uint64_t word) {
        constexpr std::uint64_t kTop = 0x8080808080808080, kOnes = 0x0101010101010101;
        const std::uint64_t less_one = (word | kTop) - kOnes;            // top bit: the byte was not 0
        const std::uint64_t several = (word & less_one) + (kTop - kOnes);  // top bit: more than one bit was set
        return less_one & ~several & kTop;
    }

    // Takes the lines out of the list that were legal and have been blocked or filled.
    template <class Dropped>
    void drop_illegal(Dropped&& dropped) {
        int kept = 0;
        for (int i = 0; i < legal_count_; ++i) {
            const Line line = legal_[i];
            legal_[kept] = line;
            // A listed line has one bit left; it is blocked (0x60 and more) or full (0) or still legal.
            const bool legal = static_cast<std::uint8_t>(byte(line) - 1) < Rules::kBlocked - 1;
            if (!legal) dropped(line);
            kept += legal;
        }
        legal_count_ = kept;
    }

    void copy_lists(const State& other) {
        touched_ = other.touched_;
        legal_count_ = other.legal_count_;
        move_count_ = other.move_count_;
        std::copy_n(other.legal_.begin(), legal_count_, legal_.begin());
        std::copy_n(other.moves_.begin(), move_count_, moves_.begin());
    }

    const Rules* rules_;
    alignas(64) std::array<std::uint8_t, kPadding + kDirections * kPlane + kPadding> bytes_;
    std::array<std::uint64_t, kDirections> touched_{};  // rows of bytes that may differ from the start's
    int legal_count_ = 0, move_count_ = 0;
    std::array<Action, kMaxMoves> moves_;
    std::array<Line, kMaxLegal> legal_;  // only the first legal_count_ are set
};

}  // namespace rookery::morpion
