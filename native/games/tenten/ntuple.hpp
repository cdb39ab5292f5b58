// N-tuple networks on boards of bits: small windows on the board, each an index into a table of weights.
//
// Windows that a symmetry of the game carries into each other share one table, so that a board and its mirror images
// have the same value and every lesson is learned in all of them at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/bits.hpp"

namespace rookery {

// The bits of x under the mask, packed together.
inline std::uint32_t pack_bits(std::uint64_t x, std::uint64_t mask) {
#if defined(__BMI2__)
    return static_cast<std::uint32_t>(_pext_u64(x, mask));
#else
    std::uint32_t packed = 0;
    for (int i = 0; mask; mask &= mask - 1, ++i) {
        packed |= static_cast<std::uint32_t>(x >> std::countr_zero(mask) & 1) << i;
    }
    return packed;
#endif
}

// A symmetry of the rectangle: bit 0 turns it upside down, bit 1 swaps left and right, bit 2 then transposes it.
inline int symmetric_cell(int symmetry, int cell, int rows, int columns) {
    int row = cell / columns, column = cell % columns;
    if (symmetry & 1) row = rows - 1 - row;
    if (symmetry & 2) column = columns - 1 - column;
    if (symmetry & 4) std::swap(row, column);
    return row * columns + column;
}

inline Bits128 symmetric_board(int symmetry, Bits128 board, int rows, int columns) {
    Bits128 image = 0;
    for (; board; board &= board - 1) image |= Bits128(1) << symmetric_cell(symmetry, lowest_bit(board), rows, columns);
    return image;
}

class NTuples {
public:
    using Shape = std::pair<int, int>;  // rows, columns
    static constexpr int kMaxCells = 20;

    // One window for every place of every shape on the board and for its images under the symmetries.
    NTuples(int rows, int columns, const std::vector<Shape>& shapes, const std::vector<int>& symmetries) {
        std::map<Bits128, std::uint32_t> table_of;  // by the smallest image of the window
        for (const auto& [height, width] : shapes) {
            if (height < 1 || width < 1 || height > rows || width > columns || height * width > kMaxCells) {
                throw std::invalid_argument("a tuple must fit on the board and have at most 20 cells");
            }
            std::set<Bits128> images;
            for (int row = 0; row + height <= rows; ++row) {
                for (int column = 0; column + width <= columns; ++column) {
                    Bits128 cells = 0;
                    for (int r = row; r < row + height; ++r) {
                        cells |= ((Bits128(1) << width) - 1) << (r * columns + column);
                    }
                    for (const int s : symmetries) images.insert(symmetric_board(s, cells, rows, columns));
                }
            }
            for (const Bits128 cells : images) add_window(cells, rows, columns, symmetries, table_of);
        }
    }

    int windows() const { return static_cast<int>(windows_.size()); }
    std::uint32_t weights() const { return weights_; }
    Bits128 cells(int window) const { return Bits128(windows_[window].high) << 64 | windows_[window].low; }

    // What is filled in a window of a board given in two halves, one bit per cell.
    std::uint32_t content(int window, std::uint64_t low, std::uint64_t high) const {
        const Window& w = windows_[window];
        return pack_bits(low, w.low) | pack_bits(high, w.high) << w.low_cells;
    }
    // Where the weight of a window with this content lies.
    std::uint32_t index(int window, std::uint32_t content) const {
        const Window& w = windows_[window];
        return w.first + w.map[content];
    }
    std::uint32_t index(int window, std::uint64_t low, std::uint64_t high) const {
        return index(window, content(window, low, high));
    }

private:
    struct Window {
        std::uint64_t low, high;  // its cells
        std::uint32_t low_cells;
        std::uint32_t first;       // of its table
        const std::uint32_t* map;  // from the window's content to the place in the table
    };

    void add_window(Bits128 cells, int rows, int columns, const std::vector<int>& symmetries,
                    std::map<Bits128, std::uint32_t>& table_of) {
        Bits128 smallest = ~Bits128(0);
        for (const int s : symmetries) smallest = std::min(smallest, symmetric_board(s, cells, rows, columns));
        const int size = popcount(cells);
        const auto [table, is_new] = table_of.emplace(smallest, weights_);
        if (is_new) weights_ += 1u << size;
        // Every symmetry that carries the window to the smallest one permutes its content; the least result is used.
        std::vector<std::vector<int>> permutations;
        for (const int s : symmetries) {
            if (symmetric_board(s, cells, rows, columns) != smallest) continue;
            std::vector<int> permutation;
            for (Bits128 rest = cells; rest; rest &= rest - 1) {
                const int image = symmetric_cell(s, lowest_bit(rest), rows, columns);
                permutation.push_back(popcount(smallest & ((Bits128(1) << image) - 1)));
            }
            permutations.push_back(permutation);
        }
        std::sort(permutations.begin(), permutations.end());
        auto& map = maps_[permutations];
        if (!map) {
            map = std::make_shared<std::vector<std::uint32_t>>(std::size_t(1) << size);
            for (std::uint32_t content = 0; content < map->size(); ++content) {
                std::uint32_t least = ~0u;
                for (const auto& permutation : permutations) {
                    std::uint32_t moved = 0;
                    for (int i = 0; i < size; ++i) moved |= (content >> i & 1) << permutation[i];
                    least = std::min(least, moved);
                }
                (*map)[content] = least;
            }
        }
        const auto low = static_cast<std::uint64_t>(cells), high = static_cast<std::uint64_t>(cells >> 64);
        windows_.push_back({low, high, static_cast<std::uint32_t>(popcount(low)), table->second, map->data()});
    }

    std::vector<Window> windows_;
    std::uint32_t weights_ = 0;
    std::map<std::vector<std::vector<int>>, std::shared_ptr<std::vector<std::uint32_t>>> maps_;
};

// Weights learned with temporal coherence: each has a step size of its own, |sum of errors| / sum of |errors|, which
// is 1 while all errors point the same way and falls where they are noise (Beal and Smith; Jaskowski in 2048).
struct CoherentWeights {
    std::vector<float> value, error, magnitude;

    explicit CoherentWeights(std::size_t n) : value(n), error(n), magnitude(n) {}

    void learn(std::uint32_t i, float step, float err) {
        const float rate = magnitude[i] > 0 ? std::abs(error[i]) / magnitude[i] : 1.0f;
        value[i] += step * rate * err;
        error[i] += err;
        magnitude[i] += std::abs(err);
    }
};

}  // namespace rookery
