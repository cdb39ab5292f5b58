// A learned value of 1010! boards after a placement: windows of cells, and how many ways the large pieces still fit.
//
// The value is the log-odds of staying alive: log((1 - risk) / risk), where the risk of a board is the expected
// discount of the round in which the game ends, E[discount ** rounds left].
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "games/tenten/rules.hpp"
#include "games/tenten/ntuple.hpp"

namespace rookery::tenten {

// One way to place a piece, and what an evaluation thinks of the board after it. More is better.
struct Placement {
    int cell;
    int lines;
    Board board;
    float value;
};

// Calls f(cell, board after it, lines cleared) for every place of the piece.
template <class F>
void for_each_afterstate(const Rules& rules, Board board, int piece, Board places, F&& f) {
    const Piece& p = rules.pieces()[piece];
    for (; places; places &= places - 1) {
        const int cell = lowest_bit(places), row = cell / rules.columns();
        int lines = 0;
        const Board after =
            rules.clear_lines(board | p.cells << cell, row, cell - row * rules.columns(), p.height, p.width, lines);
        f(cell, after, lines);
    }
}

// Shifts by 1 to 63 cells. The compiler's own handles more and uses slow instructions.
inline Board down(Board x, int n) {
    const auto low = static_cast<std::uint64_t>(x), high = static_cast<std::uint64_t>(x >> 64);
    return Board(high >> n) << 64 | (low >> n | high << (64 - n));
}

// Where a shape fits, found with fewer shifts than cells where it is a rectangle: runs are joined by doubling.
class FitMask {
public:
    FitMask(const Piece& piece, int columns) : anchors_(piece.anchors) {
        const auto join = [&](int length, int step) {
            for (int have = 1; have < length;) {
                const int more = std::min(have, length - have);
                shifts_.push_back(more * step);
                have += more;
            }
        };
        rectangle_ = piece.size == piece.height * piece.width;
        if (rectangle_) {
            join(piece.width, 1);
            join(piece.height, columns);
        } else {
            shifts_ = piece.offsets;
        }
    }

    Board operator()(Board free) const {
        if (rectangle_) {
            for (const int shift : shifts_) free &= down(free, shift);
            return free & anchors_;
        }
        Board fits = anchors_;
        for (const int shift : shifts_) fits &= free >> shift;
        return fits;
    }

private:
    Board anchors_;
    bool rectangle_;
    std::vector<int> shifts_;
};

// The piece's (row, column) cells after a symmetry, moved back into the corner.
inline std::vector<std::pair<int, int>> piece_image(const Piece& piece, int symmetry, int columns) {
    std::vector<std::pair<int, int>> cells;
    for (const int offset : piece.offsets) {
        int row = offset / columns, column = offset % columns;
        if (symmetry & 1) row = piece.height - 1 - row;
        if (symmetry & 2) column = piece.width - 1 - column;
        if (symmetry & 4) std::swap(row, column);
        cells.emplace_back(row, column);
    }
    std::sort(cells.begin(), cells.end());
    return cells;
}

// The symmetries of the square under which board and piece set stay the same.
inline std::vector<int> symmetries(const Rules& rules) {
    std::vector<int> found;
    for (int symmetry = 0; symmetry < (rules.rows() == rules.columns() ? 8 : 4); ++symmetry) {
        std::map<std::vector<std::pair<int, int>>, double> before, after;
        for (std::size_t i = 0; i < rules.pieces().size(); ++i) {
            before[piece_image(rules.pieces()[i], 0, rules.columns())] += rules.probabilities()[i];
            after[piece_image(rules.pieces()[i], symmetry, rules.columns())] += rules.probabilities()[i];
        }
        if (before == after) found.push_back(symmetry);
    }
    return found;
}

// The pieces that lie in no other piece. Where all of them fit, every piece fits.
inline std::vector<int> largest_pieces(const Rules& rules) {
    const auto inside = [&](const Piece& a, const Piece& b) {
        for (int row = 0; row + a.height <= b.height; ++row) {
            for (int column = 0; column + a.width <= b.width; ++column) {
                if (((a.cells << (row * rules.columns() + column)) & ~b.cells) == 0) return true;
            }
        }
        return false;
    };
    std::vector<int> largest;
    for (std::size_t i = 0; i < rules.pieces().size(); ++i) {
        const Piece& piece = rules.pieces()[i];
        const bool covered = std::any_of(rules.pieces().begin(), rules.pieces().end(), [&](const Piece& other) {
            return piece.size < other.size && inside(piece, other);
        });
        if (!covered) largest.push_back(static_cast<int>(i));
    }
    return largest;
}

// The chance that the next piece does not fit.
class DeathChance {
public:
    explicit DeathChance(const Rules& rules) : rules_(&rules) {
        for (const int piece : largest_pieces(rules)) largest_.emplace_back(rules.pieces()[piece], rules.columns());
    }
    double operator()(Board board) const {
        const auto fits = [&](const FitMask& mask) { return mask(~board) != 0; };
        if (std::all_of(largest_.begin(), largest_.end(), fits)) return 0;
        double chance = 0;
        for (std::size_t i = 0; i < rules_->pieces().size(); ++i) {
            if (!rules_->placements(board, static_cast<int>(i))) chance += rules_->probabilities()[i];
        }
        return chance;
    }

private:
    const Rules* rules_;
    std::vector<FitMask> largest_;
};

// How many places the largest pieces have, in coarse steps: one table for all of them together, and one for each (up
// to symmetry) together with the number of filled cells. Windows see the board locally; these see it as a whole.
class Mobility {
public:
    explicit Mobility(const Rules& rules) : cells_(rules.cells()) {
        const auto pieces = largest_pieces(rules);
        for (const int piece : pieces) masks_.emplace_back(rules.pieces()[piece], rules.columns());
        const int n = static_cast<int>(pieces.size());
        steps_ = std::clamp(static_cast<int>(std::pow(2.0, 16.0 / n) + 1e-9), 2, 25);
        if (std::pow(steps_, n) > (1 << 20))
            throw std::invalid_argument("too many pieces of which none lies in another");
        for (int count = 0; count <= kMaxSide * kMaxSide; ++count)
            step_[count] = static_cast<std::uint8_t>(step(count));
        find_kinds(rules, pieces);
        std::uint32_t size = 1;
        for (int i = 0; i < n; ++i) size *= steps_;
        joint_.resize(size);
        for (std::uint32_t code = 0; code < size; ++code) joint_[code] = canonical(code);
        weights_ = size + kinds_ * steps_ * (cells_ + 1);
    }

    int features() const { return 1 + shapes(); }
    std::uint32_t weights() const { return weights_; }
    int shapes() const { return static_cast<int>(masks_.size()); }

    // Where one of the largest pieces fits.
    Board fits(int shape, Board free) const { return masks_[shape](free); }

    template <class F>
    void for_each(Board board, F&& f) const {
        for_each_of(popcount(board), [&](int shape) { return popcount(fits(shape, ~board)); }, f);
    }

    // The same for a board of which only the number of filled cells and of places of each largest piece is known.
    template <class Places, class F>
    void for_each_of(int filled, Places&& places, F&& f) const {
        std::uint32_t code = 0;
        for (int i = shapes(); i-- > 0;) {
            const std::uint32_t s = step_[places(i)];
            code = code * steps_ + s;
            f(static_cast<std::uint32_t>(joint_.size()) + (kind_[i] * steps_ + s) * (cells_ + 1) + filled);
        }
        f(joint_[code]);
    }

private:
    int step(int count) const {
        double s = count;
        if (steps_ >= 16)
            s = count < 8 ? count : 8 + std::log2(count / 8.0) * 5;
        else if (steps_ >= 8)
            s = count < 4 ? count : 4 + std::log2(count / 4.0) * 2;
        else
            s = count < 2 ? count : 2 + std::log2(count / 2.0) / 1.5;
        return std::min(static_cast<int>(s), steps_ - 1);
    }

    // Pieces of one kind are images of each other; `swaps_` holds how each symmetry permutes the pieces.
    void find_kinds(const Rules& rules, const std::vector<int>& pieces) {
        std::map<std::vector<std::pair<int, int>>, std::uint32_t> kind_of;
        const auto image = [&](int piece, int symmetry) {
            return piece_image(rules.pieces()[piece], symmetry, rules.columns());
        };
        const auto all = symmetries(rules);
        for (const int symmetry : all) {
            std::vector<int> swap;
            for (const int piece : pieces) {
                const auto moved = image(piece, symmetry);
                for (std::size_t j = 0; j < pieces.size(); ++j) {
                    if (image(pieces[j], 0) == moved) {
                        swap.push_back(static_cast<int>(j));
                        break;
                    }
                }
            }
            swaps_.push_back(swap);
        }
        for (const int piece : pieces) {
            auto least = image(piece, 0);
            for (const int symmetry : all) least = std::min(least, image(piece, symmetry));
            kind_.push_back(kind_of.emplace(least, static_cast<std::uint32_t>(kind_of.size())).first->second);
        }
        kinds_ = static_cast<std::uint32_t>(kind_of.size());
    }

    std::uint32_t canonical(std::uint32_t code) const {
        std::vector<std::uint32_t> digits;
        for (std::size_t i = 0; i < masks_.size(); ++i, code /= steps_) digits.push_back(code % steps_);
        std::uint32_t least = ~0u;
        for (const auto& swap : swaps_) {
            std::uint32_t moved = 0;
            for (std::size_t i = swap.size(); i-- > 0;) moved = moved * steps_ + digits[swap[i]];
            least = std::min(least, moved);
        }
        return least;
    }

    int cells_;
    int steps_ = 0;
    std::uint32_t kinds_ = 0, weights_ = 0;
    std::vector<FitMask> masks_;
    std::vector<std::uint32_t> kind_;
    std::vector<std::vector<int>> swaps_;
    std::vector<std::uint32_t> joint_;  // from the joint code to the least of its images
    std::array<std::uint8_t, kMaxSide * kMaxSide + 1> step_{};
};

// The features of the learned value. Weights live outside: one instance serves many sets of them.
class TupleFeatures {
public:
    TupleFeatures(const Rules& rules, const std::vector<NTuples::Shape>& shapes)
        : rules_(&rules), tuples_(rules.rows(), rules.columns(), shapes, symmetries(rules)) {
        // A window that sees the whole board leaves nothing to add, and what it shares with others would only blur it.
        const bool whole = std::any_of(shapes.begin(), shapes.end(), [&](const NTuples::Shape& shape) {
            return shape.first == rules.rows() && shape.second == rules.columns();
        });
        if (!whole) mobility_.emplace(rules);
        touched_.resize(rules.pieces().size() * rules.cells());
        for (std::size_t piece = 0; piece < rules.pieces().size(); ++piece) {
            for (Board anchors = rules.pieces()[piece].anchors; anchors; anchors &= anchors - 1) {
                const int cell = lowest_bit(anchors);
                for (int w = 0; w < tuples_.windows(); ++w) {
                    const Board cells = rules.pieces()[piece].cells << cell;
                    if (tuples_.cells(w) & cells) {
                        touched_[piece * rules.cells() + cell].push_back(
                            {static_cast<std::uint32_t>(w), tuples_.content(w, static_cast<std::uint64_t>(cells),
                                                                            static_cast<std::uint64_t>(cells >> 64))});
                    }
                }
            }
        }
    }

    const Rules& rules() const { return *rules_; }
    const NTuples& tuples() const { return tuples_; }
    const Mobility* mobility() const { return mobility_ ? &*mobility_ : nullptr; }
    int features() const { return tuples_.windows() + (mobility_ ? mobility_->features() : 0); }
    std::uint32_t weights() const { return tuples_.weights() + (mobility_ ? mobility_->weights() : 0); }

    // Calls f(index of a weight) for every feature of the board.
    template <class F>
    void for_each(Board board, F&& f) const {
        const auto low = static_cast<std::uint64_t>(board), high = static_cast<std::uint64_t>(board >> 64);
        for (int w = 0; w < tuples_.windows(); ++w) f(tuples_.index(w, low, high));
        if (mobility_) mobility_->for_each(board, [&](std::uint32_t i) { f(tuples_.weights() + i); });
    }

    float value(const float* weights, Board board) const {
        float sum = 0;
        for_each(board, [&](std::uint32_t i) { sum += weights[i]; });
        return sum;
    }

    // Calls f(Placement) for every place of the piece. Only windows that the piece touches are looked up again.
    template <class F>
    void for_each_placement(const float* weights, Board board, int piece, Board places, F&& f) const {
        struct Seen {
            std::uint32_t content;
            float weight;
        };
        thread_local std::vector<Seen> windows;
        windows.resize(tuples_.windows());
        Seen* const old = windows.data();
        const auto low = static_cast<std::uint64_t>(board), high = static_cast<std::uint64_t>(board >> 64);
        float sum = 0;
        for (int w = 0; w < tuples_.windows(); ++w) {
            const std::uint32_t content = tuples_.content(w, low, high);
            sum += (old[w] = {content, weights[tuples_.index(w, content)]}).weight;
        }
        const float* mobility_weights = weights + tuples_.weights();
        for_each_afterstate(*rules_, board, piece, places, [&](int cell, Board after, int lines) {
            if (lines) return f(Placement{cell, lines, after, value(weights, after)});
            float v = sum;
            for (const auto& [w, filled] : touched_[piece * rules_->cells() + cell]) {
                v += weights[tuples_.index(w, old[w].content | filled)] - old[w].weight;
            }
            if (mobility_) mobility_->for_each(after, [&](std::uint32_t i) { v += mobility_weights[i]; });
            f(Placement{cell, lines, after, v});
        });
    }

private:
    const Rules* rules_;
    NTuples tuples_;
    std::optional<Mobility> mobility_;
    struct Touched {
        std::uint32_t window, filled;  // what of the window is filled
    };
    std::vector<std::vector<Touched>> touched_;  // windows that a piece on a cell changes
};

}  // namespace rookery::tenten
