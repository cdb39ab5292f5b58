// The learned value of a checkers position: a sum of weights, looked up by patterns, on the scale of log-odds.
//
// A position is seen by the side to move, its men going down. Four kinds of patterns:
//   men      nine overlapping squares of 4x4 cells, eight dark squares each: own man, other man or neither (3^8)
//   kings    where there are kings, 21 overlapping blocks of 2x4 cells, four dark squares each, with all pieces (5^4)
//   material how many men and kings each side has
//   move     who has "the move" (opposition), which a sum of local patterns cannot see, by pieces and their difference
// Every pattern has two weights, one for a full board and one for an empty one; the number of pieces mixes them.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "games/tenten/ntuple.hpp"
#include "games/checkers/search.hpp"

namespace rookery::checkers {

class Patterns {
public:
    static constexpr int kMenWindows = 9, kKingWindows = 21;
    static constexpr std::uint32_t kMenStates = 6561, kKingStates = 625;
    static constexpr std::uint32_t kFirstKing = kMenWindows * kMenStates;
    static constexpr std::uint32_t kFirstMaterial = kFirstKing + kKingWindows * kKingStates;
    static constexpr std::uint32_t kFirstMove = kFirstMaterial + 13 * 4 * 13 * 4;
    static constexpr std::uint32_t kCount = kFirstMove + 25 * 2 * 3;
    static constexpr std::uint32_t kWeights = 2 * kCount;
    static constexpr int kMostActive = kMenWindows + kKingWindows + 2;

    // Calls visit(i) for every pattern of the position; its weights are 2i (full board) and 2i + 1 (empty board).
    template <class Visit>
    static void for_each(const Position& given, Visit&& visit) {
        const Tables& t = tables();
        const Position p = seen_by_mover(given);
        const Squares own = p.own() & ~p.kings, other = p.other() & ~p.kings;
        for (int w = 0; w < kMenWindows; ++w) {
            const Squares mask = t.men_windows[w];
            visit(w * kMenStates + t.base3[pack_bits(own, mask)] + 2 * t.base3[pack_bits(other, mask)]);
        }
        const Squares own_kings = p.own() & p.kings, other_kings = p.other() & p.kings;
        if (p.kings) {
            for (int w = 0; w < kKingWindows; ++w) {
                const Squares mask = t.king_windows[w];
                visit(kFirstKing + w * kKingStates + t.base5[pack_bits(own, mask)] +
                      2 * t.base5[pack_bits(other, mask)] + 3 * t.base5[pack_bits(own_kings, mask)] +
                      4 * t.base5[pack_bits(other_kings, mask)]);
            }
        }
        const int men = std::popcount(own), other_men = std::popcount(other);
        const int kings = std::popcount(own_kings), other_kings_count = std::popcount(other_kings);
        visit(kFirstMaterial + ((men * 4 + std::min(kings, 3)) * 13 + other_men) * 4 + std::min(other_kings_count, 3));
        const int pieces = men + kings + other_men + other_kings_count;
        const int lead = std::clamp(men + kings - other_men - other_kings_count, -1, 1) + 1;
        const int parity = std::popcount((p.pieces[0] | p.pieces[1]) & kOddRows) & 1;
        visit(kFirstMove + (pieces * 2 + parity) * 3 + lead);
    }

    // How full the board is, 0 to 1.
    static float fullness(const Position& p) {
        return static_cast<float>(std::popcount(p.pieces[0] | p.pieces[1])) / 24;
    }

    static float value(const float* weights, const Position& p) {
        float full = 0, bare = 0;
        for_each(p, [&](std::uint32_t i) {
            full += weights[2 * i];
            bare += weights[2 * i + 1];
        });
        const float share = fullness(p);
        return share * full + (1 - share) * bare;
    }

private:
    struct Tables {
        std::array<Squares, kMenWindows> men_windows{};
        std::array<Squares, kKingWindows> king_windows{};
        std::array<std::uint16_t, 256> base3{};
        std::array<std::uint16_t, 16> base5{};
    };

    static Squares block(int top, int left, int height, int width) {
        Squares squares = 0;
        for (int square = 0; square < 32; ++square) {
            const int row = square / 4, column = 2 * (square % 4) + (row % 2 == 0);
            if (row >= top && row < top + height && column >= left && column < left + width) {
                squares |= Squares(1) << square;
            }
        }
        return squares;
    }

    static std::uint16_t read_in_base(std::uint32_t bits, int base) {
        std::uint32_t number = 0, digit = 1;
        for (; bits; bits >>= 1, digit *= base) number += (bits & 1) * digit;
        return static_cast<std::uint16_t>(number);
    }

    static const Tables& tables() {
        static const Tables made = [] {
            Tables t;
            for (int i = 0; i < kMenWindows; ++i) t.men_windows[i] = block(i / 3 * 2, i % 3 * 2, 4, 4);
            for (int i = 0; i < kKingWindows; ++i) t.king_windows[i] = block(i / 3, i % 3 * 2, 2, 4);
            for (std::uint32_t i = 0; i < 256; ++i) t.base3[i] = read_in_base(i, 3);
            for (std::uint32_t i = 0; i < 16; ++i) t.base5[i] = read_in_base(i, 5);
            return t;
        }();
        return made;
    }
};

// Log-odds become scores by this factor.
inline constexpr float kScoreScale = 100;

inline double chance_of(Score score) { return 1 / (1 + std::exp(-score / static_cast<double>(kScoreScale))); }

class PatternValue : public Evaluation {
public:
    explicit PatternValue(std::vector<float> weights) : weights_(std::move(weights)) {
        if (weights_.size() != Patterns::kWeights)
            throw std::invalid_argument("the value has another number of weights");
        for (const float weight : weights_) {
            if (!std::isfinite(weight)) throw std::invalid_argument("a weight is not a finite number");
        }
    }

    Score operator()(const Position& p) const override {
        const float score = kScoreScale * Patterns::value(weights_.data(), p);
        return static_cast<Score>(std::lrint(std::clamp(score, -float(kMaxEvaluation), float(kMaxEvaluation))));
    }

    const std::vector<float>& weights() const { return weights_; }

private:
    std::vector<float> weights_;
};

}  // namespace rookery::checkers
