// The value of a checkers position from a small net: 121 inputs, two hidden layers of clipped linear units, log-odds.
//
// The position is seen by the side to move, its men going down. Inputs: own men on squares 0 to 27, other men on 4 to 31,
// own and other kings on all squares, and who has "the move" (opposition). Few inputs are on, so the first layer is a sum
// of at most 25 rows; both layers are integers.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "games/checkers/patterns.hpp"

namespace rookery::checkers {

class NetValue : public Evaluation {
public:
    static constexpr int kInputs = 121, kWide = 128, kNarrow = 32;
    static constexpr float kUnit = 256;  // an integer of this size means 1
    // Larger weights could overflow 16 bits: 25 of the first layer and a bias in a sum.
    static constexpr float kMostFirst = 4, kMostBias = 8, kMostSecond = 16;

    // Of both layers and the output, row by row: [kInputs][kWide], [kWide], [kNarrow][kWide], [kNarrow], [kNarrow], [1].
    static constexpr std::size_t kWeights =
        std::size_t(kInputs) * kWide + kWide + std::size_t(kNarrow) * kWide + 2 * kNarrow + 1;

    // Weights of the two layers are rounded to 1/256 and clipped.
    explicit NetValue(const std::vector<float>& weights) {
        if (weights.size() != kWeights) throw std::invalid_argument("the net has another number of weights");
        for (const float weight : weights) {
            if (!std::isfinite(weight)) throw std::invalid_argument("a weight is not a finite number");
        }
        const float* next = weights.data();
        const auto rounded = [&next](float most) {
            return static_cast<std::int16_t>(std::lrint(kUnit * std::clamp(*next++, -most, most)));
        };
        for (auto& row : first_) for (auto& w : row) w = rounded(kMostFirst);
        for (auto& b : first_bias_) b = rounded(kMostBias);
        for (auto& row : second_) for (auto& w : row) w = rounded(kMostSecond);
        for (auto& b : second_bias_) b = static_cast<std::int32_t>(std::lrint(kUnit * kUnit * std::clamp(*next++, -1000.0f, 1000.0f)));
        for (auto& w : output_) w = *next++;
        output_bias_ = *next;
    }

    Score operator()(const Position& given) const override {
        const Position p = seen_by_mover(given);
        alignas(32) std::array<std::int16_t, kWide> sums = first_bias_;
        const auto add = [&](int input) {
            const auto& row = first_[input];
            for (int i = 0; i < kWide; ++i) sums[i] = static_cast<std::int16_t>(sums[i] + row[i]);
        };
        for_each_input(p, add);
        for (auto& x : sums) x = std::clamp<std::int16_t>(x, 0, static_cast<std::int16_t>(kUnit));
        float value = output_bias_;
        for (int j = 0; j < kNarrow; ++j) {
            std::int32_t sum = second_bias_[j];
            for (int i = 0; i < kWide; ++i) sum += std::int32_t(sums[i]) * second_[j][i];
            value += output_[j] * static_cast<float>(std::clamp(sum, 0, 1 << 16)) * (1.0f / (1 << 16));
        }
        return static_cast<Score>(std::lrint(std::clamp(kScoreScale * value, -float(kMaxEvaluation), float(kMaxEvaluation))));
    }

    // Calls visit(input) for every input that is on; the position must be seen by the mover.
    template <class Visit>
    static void for_each_input(const Position& p, Visit&& visit) {
        const auto each = [&](Squares squares, int first) {
            for (; squares; squares &= squares - 1) visit(first + std::countr_zero(squares));
        };
        each(p.own() & ~p.kings, 0);
        each(p.other() & ~p.kings, 28 - 4);
        each(p.own() & p.kings, 56);
        each(p.other() & p.kings, 88);
        if (std::popcount((p.pieces[0] | p.pieces[1]) & kOddRows) & 1) visit(120);
    }

private:
    alignas(32) std::array<std::array<std::int16_t, kWide>, kInputs> first_;
    alignas(32) std::array<std::int16_t, kWide> first_bias_;
    alignas(32) std::array<std::array<std::int16_t, kWide>, kNarrow> second_;
    std::array<std::int32_t, kNarrow> second_bias_;
    std::array<float, kNarrow> output_;
    float output_bias_ = 0;
};

}  // namespace rookery::checkers
