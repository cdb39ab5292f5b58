// The learned value with a given set of weights, made fast for play.
//
// Two windows of 3x3 side by side are folded into one table of the 4,096 contents of a rectangle of 3x4, which halves
// the look-ups and stays in the cache. A placement that clears no line changes few rectangles, by cells known in
// advance, and takes from the places of the largest pieces those that its cells lie in, which are known as well.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <vector>

#include "games/tenten/value.hpp"

namespace rookery::tenten {

class FoldedValue {
public:
    FoldedValue(const TupleFeatures& features, double discount) : features_(&features), discount_(discount) {
        const NTuples& tuples = features.tuples();
        const int rows = rules().rows(), columns = rules().columns();
        // Larger tables come first, so that the bits of a content are free in the place of its table.
        std::map<int, std::vector<std::pair<Board, std::vector<int>>>, std::greater<>> by_size;
        const auto fold = [&](int window) {
            const Board cells = tuples.cells(window);
            if (rows < 3 || columns < 4) return cells;
            const int row = std::min(lowest_bit(cells) / columns, rows - 3);
            for (int column = 0; column < columns; column += 2) {
                Board rectangle = 0;
                for (int r = row; r < row + 3; ++r) {
                    rectangle |= Board(15) << (r * columns + std::min(column, columns - 4));
                }
                if (!(cells & ~rectangle)) return rectangle;
            }
            return cells;
        };
        for (int window = 0; window < tuples.windows(); ++window) {
            const Board cells = fold(window);
            auto& same = by_size[popcount(cells)];
            auto at = std::find_if(same.begin(), same.end(), [&](const auto& f) { return f.first == cells; });
            if (at == same.end()) at = same.insert(same.end(), {cells, {}});
            at->second.push_back(window);
        }
        std::uint32_t size = 0;
        for (const auto& [bits, same] : by_size) {
            for (const auto& [cells, windows] : same) {
                const auto low = static_cast<std::uint64_t>(cells), high = static_cast<std::uint64_t>(cells >> 64);
                folds_.push_back({low, high, static_cast<std::uint32_t>(popcount(low)), size, {}});
                for (const int window : windows) {
                    folds_.back().parts.emplace_back(window, content(folds_.back(), tuples.cells(window)));
                }
                size += 1u << bits;
            }
        }
        table_.resize(size);
        find_placements();
    }

    // Takes over the weights.
    void fold(const float* weights) {
        static std::atomic<std::uint64_t> count = 0;
        id_ = ++count;
        std::fill(table_.begin(), table_.end(), 0.0f);
        std::vector<float> part;
        for (const Fold& fold : folds_) {
            const std::uint32_t size = 1u << popcount(fold.low) << popcount(fold.high);
            for (const auto& [window, cells] : fold.parts) {
                part.resize(std::size_t(1) << popcount(std::uint64_t(cells)));
                for (std::uint32_t i = 0; i < part.size(); ++i) part[i] = weights[features_->tuples().index(window, i)];
                for (std::uint32_t i = 0; i < size; ++i) table_[fold.first + i] += part[pack_bits(i, cells)];
            }
        }
        mobility_.assign(weights + features_->tuples().weights(), weights + features_->weights());
    }

    const Rules& rules() const { return features_->rules(); }
    double survival(float value) const { return 1 - discount_ / (1 + std::exp(static_cast<double>(value))); }

    float value(Board board) const {
        float sum = 0;
        for (const Fold& fold : folds_) sum += table_[fold.first + content(fold, board)];
        if (features_->mobility()) features_->mobility()->for_each(board, [&](auto i) { sum += mobility_[i]; });
        return sum;
    }

    // Calls f(Placement) for every place of the piece; f must not ask for those of another board.
    template <class F>
    void for_each_placement(Board board, int piece, Board places, F&& f) const {
        thread_local Seen seen;
        if (seen.id != id_ || seen.board != board) look(board, seen);
        const Mobility* mobility = features_->mobility();
        const int filled = seen.filled + rules().pieces()[piece].size;
        for (; places; places &= places - 1) {
            const int cell = lowest_bit(places);
            const Change& change = changes_[piece * rules().cells() + cell];
            const Board full = board | change.cells;
            if (change.lines & seen.lines) {
                int lines = 0;
                const Board after = rules().clear_lines(full, lines);
                if (lines) {
                    f(Placement{cell, lines, after, value(after)});
                    continue;
                }
            }
            float v = seen.sum + changed(change, seen);
            if (mobility) {
                const Board* blocked = &blocked_[(piece * rules().cells() + cell) * seen.fits.size()];
                float sum = 0;
                mobility->for_each_of(
                    filled, [&](int shape) { return popcount(seen.fits[shape] & ~blocked[shape]); },
                    [&](std::uint32_t i) { sum += mobility_[i]; });
                v += sum;
            }
            f(Placement{cell, 0, full, v});
        }
    }

private:
    struct Fold {
        std::uint64_t low, high;  // its cells
        std::uint32_t low_cells;
        std::uint32_t first;  // of its table
        std::vector<std::pair<int, std::uint32_t>> parts;  // windows in it, and which of its cells they are
    };
    // What a piece on a cell changes.
    struct Change {
        Board cells;
        std::uint32_t first, last;  // of the rectangles touched
        std::uint32_t lines;        // rows, then columns
    };
    struct Touched {
        std::uint32_t fold, filled;
    };
    struct Content {
        std::uint32_t index;
        float weight;
    };
    // A board before the placements that are compared.
    struct Seen {
        std::uint64_t id = 0;
        Board board = 0;
        int filled = 0;
        float sum = 0;
        std::uint32_t lines = 0;  // those that one piece may fill
        std::vector<Content> contents;
        std::vector<Board> fits;
    };

    // What a placement that clears no line changes in the sum of the rectangles.
    float changed(const Change& change, const Seen& seen) const {
        float now = 0, before = 0;
        const float* table = table_.data();
        const Content* contents = seen.contents.data();
        for (const Touched *t = touched_.data() + change.first, *end = touched_.data() + change.last; t != end; ++t) {
            const Content& content = contents[t->fold];
            now += table[content.index | t->filled];
            before += content.weight;
        }
        return now - before;
    }

    static std::uint32_t content(const Fold& fold, Board board) {
        return pack_bits(static_cast<std::uint64_t>(board), fold.low) |
               pack_bits(static_cast<std::uint64_t>(board >> 64), fold.high) << fold.low_cells;
    }

    void find_placements() {
        const int rows = rules().rows(), columns = rules().columns(), cells = rules().cells();
        for (int line = 0; line < rows + columns; ++line) {
            Board mask = 0;
            for (int i = 0; i < (line < rows ? columns : rows); ++i) {
                mask |= Board(1) << (line < rows ? line * columns + i : i * columns + line - rows);
            }
            lines_.push_back(mask);
        }
        const Mobility* mobility = features_->mobility();
        for (const Piece& piece : rules().pieces()) {
            longest_ = std::max({longest_, piece.height, piece.width});
            for (int cell = 0; cell < cells; ++cell) {
                Change change{0, static_cast<std::uint32_t>(touched_.size()), 0, 0};
                if (piece.anchors >> cell & 1) change.cells = piece.cells << cell;
                for (std::size_t line = 0; line < lines_.size(); ++line) {
                    change.lines |= static_cast<std::uint32_t>((lines_[line] & change.cells) != 0) << line;
                }
                for (std::uint32_t i = 0; i < folds_.size(); ++i) {
                    if (const auto filled = content(folds_[i], change.cells)) touched_.push_back({i, filled});
                }
                change.last = static_cast<std::uint32_t>(touched_.size());
                changes_.push_back(change);
                for (int i = 0; mobility && i < mobility->shapes(); ++i) {
                    blocked_.push_back(~mobility->fits(i, ~change.cells));
                }
            }
        }
    }

    void look(Board board, Seen& seen) const {
        seen.id = id_;
        seen.board = board;
        seen.filled = popcount(board);
        seen.sum = 0;
        seen.contents.clear();
        for (const Fold& fold : folds_) {
            const std::uint32_t index = fold.first + content(fold, board);
            seen.contents.push_back({index, table_[index]});
            seen.sum += table_[index];
        }
        seen.lines = 0;
        for (std::size_t line = 0; line < lines_.size(); ++line) {
            seen.lines |= static_cast<std::uint32_t>(popcount(lines_[line] & ~board) <= longest_) << line;
        }
        seen.fits.clear();
        for (int i = 0; features_->mobility() && i < features_->mobility()->shapes(); ++i) {
            seen.fits.push_back(features_->mobility()->fits(i, ~board));
        }
    }

    const TupleFeatures* features_;
    double discount_;
    std::uint64_t id_ = 0;  // of the weights
    std::vector<Fold> folds_;
    std::vector<float> table_, mobility_;
    std::vector<Change> changes_;  // by piece and cell
    std::vector<Touched> touched_;
    std::vector<Board> blocked_;  // places of the largest pieces that a piece on a cell takes
    std::vector<Board> lines_;
    int longest_ = 0;
};

}  // namespace rookery::tenten
