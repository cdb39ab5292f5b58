// What people look at on a 1010! board, as numbers: the 21 features of the paper's LSPI, and a faster set of our own.
//
// Every feature is defined here and nowhere else; tests hold them against slow Python.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "games/tenten/rules.hpp"
#include "games/tenten/value.hpp"

namespace rookery::tenten {

// Questions about runs and regions of a set of cells, answered with shifts of the whole board.
class Geometry {
public:
    explicit Geometry(const Rules& rules) : rows_(rules.rows()), columns_(rules.columns()) {
        all_ = rules.cells() == 128 ? ~Board(0) : (Board(1) << rules.cells()) - 1;
        for (int width = 1; width <= columns_; ++width) {
            for (int row = 0; row < rows_; ++row) {
                fits_[width] |= ((Board(1) << (columns_ - width + 1)) - 1) << (row * columns_);
            }
        }
    }

    Board all() const { return all_; }
    Board left_of(Board x) const { return x >> 1 & fits_[2 <= columns_ ? 2 : 0]; }
    Board right_of(Board x) const { return (x & fits_[2 <= columns_ ? 2 : 0]) << 1; }
    Board above(Board x) const { return x >> columns_; }
    Board below(Board x) const { return x << columns_ & all_; }

    // Left ends of runs of `width` cells.
    Board runs_across(Board x, int width) const {
        if (width > columns_) return 0;
        Board runs = x & fits_[width];
        for (int i = 1; i < width; ++i) runs &= x >> i;
        return runs;
    }
    // Upper ends of runs of `height` cells.
    Board runs_down(Board x, int height) const {
        Board runs = x;
        for (int i = 1; i < height; ++i) runs &= x >> (i * columns_);
        return runs;
    }

    int longest_across(Board x) const {
        int length = 0;
        while (length < columns_ && runs_across(x, length + 1)) ++length;
        return length;
    }
    int longest_down(Board x) const {
        int length = 0;
        for (Board runs = x; runs; runs &= above(runs)) ++length;
        return length;
    }

    int largest_square(Board x) const {
        int side = 0;
        while (side < rows_ && side < columns_ && runs_down(runs_across(x, side + 1), side + 1)) ++side;
        return side * side;
    }
    int largest_rectangle(Board x) const {
        int best = 0;
        Board runs = x;
        for (int height = 1; height <= rows_ && runs; ++height, runs = runs_down(x, height)) {
            best = std::max(best, height * longest_across(runs));
        }
        return best;
    }

    // The number of connected regions, and the size of the largest.
    std::pair<int, int> regions(Board x) const {
        int count = 0, largest = 0;
        while (x) {
            Board region = x & (~x + 1), grown = region;
            do {
                region = grown;
                grown |= (left_of(region) | right_of(region) | above(region) | below(region)) & x;
            } while (grown != region);
            x &= ~region;
            ++count;
            largest = std::max(largest, popcount(region));
        }
        return {count, largest};
    }

private:
    int rows_, columns_;
    Board all_;
    std::array<Board, kMaxSide + 1> fits_{};  // cells at which a run of that width may start
};

// The paper's rewards of a placement.
enum class Reward { lines_and_moves = 1, lines = 2, moves = 3 };

inline constexpr int kPaperFeatures = 21;

// Table 1 of the paper. "Holes" are runs of blank cells; numbers 1 to 11 and 13 to 18 describe the board after the
// placement and its clearing.
class PaperFeatures {
public:
    using Vector = std::array<double, kPaperFeatures>;

    PaperFeatures(const Rules& rules, Reward reward) : rules_(&rules), geometry_(rules), reward_(reward) {}

    const Rules& rules() const { return *rules_; }

    double reward(Board after, int lines) const {
        double sum = reward_ == Reward::moves ? 0 : lines * lines;
        if (reward_ == Reward::lines) return sum;
        for (std::size_t i = 0; i < rules_->pieces().size(); ++i) {
            sum += rules_->probabilities()[i] * popcount(rules_->placements(after, static_cast<int>(i)));
        }
        return sum;
    }

    Vector operator()(int piece, int cell, Board after, int lines) const {
        const Geometry& g = geometry_;
        const Board blank = ~after & g.all();
        const int rows = rules_->rows(), columns = rules_->columns();
        const int blanks = popcount(blank), runs_across = popcount(blank & ~g.right_of(blank)),
                  runs_down = popcount(blank & ~g.below(blank));
        const auto [blank_regions, largest_blank] = g.regions(blank);
        const auto [full_regions, largest_full] = g.regions(after);
        const Piece& p = rules_->pieces()[piece];
        const int row = cell / columns, column = cell % columns;
        double survival = 0;
        for (std::size_t i = 0; i < rules_->pieces().size(); ++i) {
            if (rules_->placements(after, static_cast<int>(i))) survival += rules_->probabilities()[i];
        }
        return {
            runs_across ? static_cast<double>(blanks) / runs_across : 0.0,               // 1 mean blank run across
            static_cast<double>(g.longest_across(blank)),                                // 2 longest
            runs_down ? static_cast<double>(blanks) / runs_down : 0.0,                   // 3 mean blank run down
            static_cast<double>(g.longest_down(blank)),                                  // 4 longest
            static_cast<double>(popcount(after)),                                        // 5 filled cells
            static_cast<double>(blanks),                                                 // 6 blank cells
            static_cast<double>(popcount(g.runs_down(blank, 5))),                        // 7 places of 5x1
            static_cast<double>(popcount(g.runs_across(blank, 5))),                      // 8 places of 1x5
            static_cast<double>(popcount(g.runs_down(g.runs_across(blank, 3), 3))),      // 9 places of 3x3
            static_cast<double>(g.largest_square(blank)),                                // 10 cells
            static_cast<double>(g.largest_rectangle(blank)),                             // 11 cells
            static_cast<double>(std::min({row, column, rows - row - p.height, columns - column - p.width})),  // 12
            static_cast<double>(popcount(g.runs_across(blank, columns))),                // 13 blank rows
            static_cast<double>(popcount(g.runs_down(blank, rows))),                     // 14 blank columns
            static_cast<double>(blank_regions),                                          // 15
            static_cast<double>(full_regions),                                           // 16
            static_cast<double>(largest_blank),                                          // 17
            static_cast<double>(largest_full),                                           // 18
            reward(after, lines),                                                        // 19
            survival,  // 20 chance the next piece fits
            1.0,  // 21
        };
    }

private:
    const Rules* rules_;
    Geometry geometry_;
    Reward reward_;
};

// A weighted sum of the paper's features, for playing.
struct PaperValue {
    const PaperFeatures* features;
    const double* weights;

    const Rules& rules() const { return features->rules(); }
    template <class F>
    void for_each_placement(Board board, int piece, Board places, F&& f) const {
        for_each_afterstate(rules(), board, piece, places, [&](int cell, Board after, int lines) {
            const auto vector = (*features)(piece, cell, after, lines);
            double sum = 0;
            for (int i = 0; i < kPaperFeatures; ++i) sum += weights[i] * vector[i];
            f(Placement{cell, lines, after, static_cast<float>(sum)});
        });
    }
};

inline constexpr int kHandFeatures = 16;

// Our own features, of a board after a placement, for a linear evaluation that is fast enough to be tuned by playing.
class HandFeatures {
public:
    using Vector = std::array<float, kHandFeatures>;

    explicit HandFeatures(const Rules& rules) : rules_(&rules), geometry_(rules), death_(rules) {
        for (int row = 0; row < rules.rows(); ++row) {
            lines_.push_back(((Board(1) << rules.columns()) - 1) << (row * rules.columns()));
        }
        for (int column = 0; column < rules.columns(); ++column) {
            lines_.push_back(0);
            for (int row = 0; row < rules.rows(); ++row) lines_.back() |= Board(1) << (row * rules.columns() + column);
        }
    }

    const Rules& rules() const { return *rules_; }

    Vector operator()(Board board) const {
        const Geometry& g = geometry_;
        const int columns = rules_->columns();
        const Board free = ~board & g.all();
        // A neighbour outside the board counts as filled.
        const Board left = free & g.right_of(free), right = free & g.left_of(free);
        const Board up = free & g.below(free), down = free & g.above(free);
        const int free_pairs = popcount(right) + popcount(down);
        const Board filled_right = board & g.left_of(board), filled_down = board & g.above(board);
        const int filled_pairs = popcount(filled_right) + popcount(filled_down);
        const int pairs = rules_->rows() * (columns - 1) + columns * (rules_->rows() - 1);
        const Board any = left | right | up | down;
        const Board two = (left & (right | up | down)) | (right & (up | down)) | (up & down);
        const Board filled_any = filled_right | g.right_of(filled_right) | filled_down | g.below(filled_down);
        // 2x2 blocks of cells by the number of free ones, named by their upper left cell.
        const Board corner = g.left_of(g.above(g.all()));
        const Board a = free & corner, b = g.left_of(free) & corner, c = g.above(free) & corner,
                    d = g.left_of(g.above(free)) & corner;
        const Board odd = a ^ b ^ c ^ d, at_least_two = (a & b) | (c & d) | ((a | b) & (c | d));
        const Board diagonal = (a & d & ~b & ~c) | (b & c & ~a & ~d);
        const Board three_across = g.runs_across(free, 3), three_down = g.runs_down(free, 3);
        const Board squares = g.runs_down(three_across, 3);
        const auto logs = [](Board places) { return std::log2(1.0f + static_cast<float>(popcount(places))); };
        const Board other_across = three_across >> (2 * columns), other_down = three_down >> 2;
        int fill_squares = 0;
        for (const Board line : lines_) {
            const int n = popcount(board & line);
            fill_squares += n * n;
        }
        int apart = 0;  // 3x3 squares that fit side by side, taken greedily
        for (Board rest = squares; rest && apart < 4; ++apart) {
            const int cell = lowest_bit(rest), row = cell / columns, first = std::max(0, cell % columns - 2);
            const int last = std::min(columns - 1, cell % columns + 2);
            const Board line = ((Board(1) << (last - first + 1)) - 1) << first;
            for (int r = row; r < std::min(rules_->rows(), row + 3); ++r) rest &= ~(line << (r * columns));
        }
        return {
            static_cast<float>(popcount(board)),  // filled cells
            static_cast<float>(pairs - free_pairs - filled_pairs),  // edges between filled and free
            static_cast<float>(popcount(free & ~any)),  // free cells without a free neighbour
            static_cast<float>(popcount(any & ~two)),  // ... with exactly one
            static_cast<float>(popcount(board & ~filled_any)),  // filled cells without a filled neighbour
            static_cast<float>(popcount(odd & ~at_least_two)),  // inner corners: one of 2x2 free
            static_cast<float>(popcount(odd & at_least_two)),  // outer corners: three of 2x2 free
            static_cast<float>(popcount(diagonal)),  // two of 2x2 free, touching at a corner
            logs(squares),  // places of 3x3, log2(1 + n)
            logs(g.runs_across(free, 5)) + logs(g.runs_down(free, 5)),  // places of 1x5 and 5x1
            logs(three_across & three_down) + logs(three_across & other_down) + logs(other_across & three_down) +
                logs(other_across & other_down),  // places of the large corners
            logs(a & b & c & d),  // places of 2x2
            static_cast<float>(death_(board)),  // chance that the next piece does not fit
            static_cast<float>(fill_squares) / static_cast<float>(columns),  // squares of filled cells a line
            static_cast<float>(apart),  // 3x3 squares side by side, up to 4
            static_cast<float>(g.regions(free).first),  // regions of free cells
        };
    }

private:
    const Rules* rules_;
    Geometry geometry_;
    DeathChance death_;
    std::vector<Board> lines_;  // rows and columns
};

// A weighted sum of our own features.
struct LinearValue {
    const HandFeatures* features;
    const float* weights;

    const Rules& rules() const { return features->rules(); }
    template <class F>
    void for_each_placement(Board board, int piece, Board places, F&& f) const {
        for_each_afterstate(rules(), board, piece, places, [&](int cell, Board after, int lines) {
            const auto vector = (*features)(after);
            float sum = 0;
            for (int i = 0; i < kHandFeatures; ++i) sum += weights[i] * vector[i];
            f(Placement{cell, lines, after, sum});
        });
    }
};

}  // namespace rookery::tenten
