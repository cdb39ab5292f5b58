// Every 4x4 Solitaire Chess board with up to ten pieces of the boxed set (K, Q, 2R, 2B, 2N, 2P), solved.
//
// A board with k pieces is a word of k letters, the kinds of its pieces in the order of their cells, and the set of
// these cells. Its place in layer k is word number * C(16, k) + number of the cell set. A capture takes one cell out of
// the set and rewrites the word, and each of the two depends on itself alone: so a layer is worked out word by word,
// and within a word every answer needed lies in k(k-1) short rows of the layer below.
#pragma once

#include <algorithm>
#include <span>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/solitaire_chess/rules.hpp"

namespace rookery::solitaire_chess {

inline constexpr int kBoxSide = 4;
inline constexpr int kBoxCells = kBoxSide * kBoxSide;
inline constexpr std::array<int, kKinds> kBox = {1, 1, 2, 2, 2, 2};  // pieces of each kind
inline constexpr int kBoxPieces = 10;

// What is known of a board, in one byte: kUnsolvable, kSeveralFinals, or 1 + kind * 16 + cell of the only piece that
// can be the last one.
inline constexpr std::uint8_t kUnsolvable = 0, kSeveralFinals = 255;

// Three bits a letter, the first letter lowest.
using Word = std::uint32_t;
using CellSet = std::uint16_t;

inline int letter(Word word, int i) { return word >> (3 * i) & 7; }
inline Word with_letter(Word word, int i, int kind) { return (word & ~(Word(7) << (3 * i))) | Word(kind) << (3 * i); }
inline Word without_letter(Word word, int i) {
    const Word low = (Word(1) << (3 * i)) - 1;
    return (word & low) | (word >> 3 & ~low);
}

// All boards with a given number of pieces.
struct Layer {
    int pieces;
    std::vector<Word> words;  // ascending
    std::vector<CellSet> cell_sets;  // ascending
    std::vector<std::uint8_t> values;  // [words, cell sets]
    std::int64_t solvable = 0;
    std::int64_t unique = 0;  // solvable, with one possible final piece and cell

    explicit Layer(int pieces) : pieces(pieces) {
        list_words(0, 0, kBox);
        std::sort(words.begin(), words.end());
        for (std::uint32_t set = 0; set < 1u << kBoxCells; ++set) {
            if (std::popcount(set) == pieces) cell_sets.push_back(static_cast<CellSet>(set));
        }
        values.resize(words.size() * cell_sets.size());
    }

    std::int64_t boards() const { return static_cast<std::int64_t>(values.size()); }

    // Number of a word or cell set; it must be there.
    std::size_t number(Word word) const { return std::lower_bound(words.begin(), words.end(), word) - words.begin(); }
    std::size_t number(CellSet set) const {
        return std::lower_bound(cell_sets.begin(), cell_sets.end(), set) - cell_sets.begin();
    }

    std::span<std::uint8_t> row(std::size_t word) {
        return std::span(values).subspan(word * cell_sets.size(), cell_sets.size());
    }
    std::span<const std::uint8_t> row(std::size_t word) const {
        return std::span(values).subspan(word * cell_sets.size(), cell_sets.size());
    }

    // Place of the board with these kinds on the 16 cells.
    std::int64_t index(const std::vector<int>& kinds) const {
        if (kinds.size() != kBoxCells) throw std::invalid_argument("a board lists a kind for each of 16 cells");
        auto left = kBox;
        Word word = 0;
        CellSet set = 0;
        int count = 0;
        for (int cell = 0; cell < kBoxCells; ++cell) {
            if (kinds[cell] == kNoPiece) continue;
            if (kinds[cell] < 0 || kinds[cell] >= kKinds) throw std::invalid_argument("kinds of pieces are 0 to 5");
            if (count == pieces || left[kinds[cell]]-- == 0) {
                throw std::invalid_argument("the board has more pieces than the layer or the set K, Q, 2R, 2B, 2N, 2P");
            }
            word |= Word(kinds[cell]) << (3 * count++);
            set |= CellSet(1 << cell);
        }
        if (count != pieces) throw std::invalid_argument("the board has fewer pieces than the layer");
        return static_cast<std::int64_t>(number(word) * cell_sets.size() + number(set));
    }

    // The inverse of index().
    std::vector<int> board(std::int64_t index) const {
        if (index < 0 || index >= boards()) throw std::invalid_argument("there is no board with that index");
        const Word word = words[index / cell_sets.size()];
        std::vector<int> kinds(kBoxCells, kNoPiece);
        int i = 0;
        for (std::uint64_t set = cell_sets[index % cell_sets.size()]; set; set &= set - 1) {
            kinds[lowest_bit(set)] = letter(word, i++);
        }
        return kinds;
    }

private:
    void list_words(Word word, int length, std::array<int, kKinds> left) {
        if (length == pieces) return words.push_back(word);
        for (int kind = 0; kind < kKinds; ++kind) {
            if (left[kind] == 0) continue;
            --left[kind];
            list_words(with_letter(word, length, kind), length + 1, left);
            ++left[kind];
        }
    }
};

inline Layer single_pieces() {
    Layer layer(1);
    for (std::size_t word = 0; word < layer.words.size(); ++word) {
        for (int cell = 0; cell < kBoxCells; ++cell) {
            layer.row(word)[cell] = static_cast<std::uint8_t>(1 + layer.words[word] * kBoxCells + cell);
        }
    }
    layer.solvable = layer.unique = layer.boards();
    return layer;
}

// For every cell set: what the i-th of its pieces attacks if it is of a given kind, as a set of places in the word, and
// the number of the set without the i-th cell. Laid out so that the work on one word reads along the rows.
struct CellSetTables {
    std::array<std::array<std::vector<std::uint16_t>, kKinds>, kBoxPieces> attacks;
    std::array<std::vector<std::uint16_t>, kBoxPieces> smaller;

    CellSetTables(const Layer& layer, const Layer& below) {
        std::vector<int> kinds(kBoxCells, kNoPiece);
        kinds[0] = kKing;
        const Rules rules(kBoxSide, kBoxSide, 0, true, kinds, std::vector<int>(kBoxCells));
        for (const CellSet set : layer.cell_sets) {
            int i = 0;
            for (std::uint64_t left = set; left; left &= left - 1, ++i) {
                const int cell = lowest_bit(left);
                smaller[i].push_back(static_cast<std::uint16_t>(below.number(CellSet(set & ~(1 << cell)))));
                for (int kind = 0; kind < kKinds; ++kind) {
                    std::uint16_t places = 0;
                    for (Bitboard hit = rules.attacks(kind, cell, set); hit; hit &= hit - 1) {
                        places |= 1 << popcount(std::uint64_t(set) & ((hit & -hit) - 1));
                    }
                    attacks[i][kind].push_back(places);
                }
            }
        }
    }
};

// The answers of several continuations taken together.
inline std::uint8_t combine(std::uint8_t a, std::uint8_t b) {
    return a == kUnsolvable || a == b ? b : b == kUnsolvable ? a : kSeveralFinals;
}

// The layer with one piece more. `control.done` counts boards; stopped early, the layer is of no use.
inline Layer next_layer(const Layer& below, int threads, Control& control) {
    if (below.pieces >= kBoxPieces) throw std::invalid_argument("the set holds no more than 10 pieces");
    Layer layer(below.pieces + 1);
    const CellSetTables tables(layer, below);
    const int k = layer.pieces;
    std::atomic<std::int64_t> solvable{0}, unique{0};
    parallel_blocks(static_cast<std::int64_t>(layer.words.size()), threads, [&](std::int64_t block) {
        if (control.stopped()) return;
        const Word word = layer.words[block];
        const std::span<std::uint8_t> row = layer.row(block);
        // Row of the layer below that a capture by piece i of piece j leads to. The king is not captured.
        std::array<std::array<const std::uint8_t*, kBoxPieces>, kBoxPieces> child{};
        std::uint16_t capturable = 0;
        for (int j = 0; j < k; ++j) capturable |= (letter(word, j) != kKing) << j;
        for (int i = 0; i < k; ++i) {
            for (int j = 0; j < k; ++j) {
                if (i == j || !(capturable >> j & 1)) continue;
                const Word next = without_letter(with_letter(word, j, letter(word, i)), i);
                child[i][j] = below.row(below.number(next)).data();
            }
        }
        std::array<const std::uint16_t*, kBoxPieces> attacks{}, smaller{};
        for (int i = 0; i < k; ++i) {
            attacks[i] = tables.attacks[i][letter(word, i)].data();
            smaller[i] = tables.smaller[i].data();
        }
        const auto value_of = [&](std::size_t set) {
            std::uint8_t value = kUnsolvable;
            for (int i = 0; i < k; ++i) {
                for (std::uint32_t hit = attacks[i][set] & capturable; hit; hit &= hit - 1) {
                    value = combine(value, child[i][std::countr_zero(hit)][smaller[i][set]]);
                    if (value == kSeveralFinals) return value;
                }
            }
            return value;
        };
        std::int64_t row_solvable = 0, row_several = 0;
        for (std::size_t set = 0; set < row.size(); ++set) {
            row[set] = value_of(set);
            row_solvable += row[set] != kUnsolvable;
            row_several += row[set] == kSeveralFinals;
        }
        solvable += row_solvable;
        unique += row_solvable - row_several;
        control.add(static_cast<std::int64_t>(row.size()));
    });
    layer.solvable = solvable;
    layer.unique = unique;
    return layer;
}

}  // namespace rookery::solitaire_chess
