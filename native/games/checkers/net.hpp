// The value of a checkers position from a small net: 121 inputs, two hidden layers of clipped linear units, log-odds.
//
// The position is seen by the side to move, its men going down. Inputs: own men on squares 0 to 27, other men on 4 to 31,
// own and other kings on all squares, and who has "the move" (opposition). Few inputs are on, so the first layer is a sum
// of at most 25 rows; both layers are integers. The second layer and the output have weights for every stage of the game.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <vector>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "games/checkers/patterns.hpp"

namespace rookery::checkers {

class NetValue : public Evaluation {
public:
    static constexpr int kInputs = 121, kWide = 128, kNarrow = 32, kStages = 4;
    static constexpr float kUnit = 256;  // an integer of this size means 1
    // Larger weights could overflow 16 bits: 25 of the first layer and a bias in a sum.
    static constexpr float kMostFirst = 4, kMostBias = 8, kMostSecond = 16;

    // Of the first layer, row by row: [kInputs][kWide], [kWide]; then for every stage of the game of the second one and
    // the output: [kNarrow][kWide], [kNarrow], [kNarrow], [1].
    static constexpr std::size_t kFirstWeights = std::size_t(kInputs) * kWide + kWide;
    static constexpr std::size_t kStageWeights = std::size_t(kNarrow) * kWide + 2 * kNarrow + 1;
    static constexpr std::size_t kWeights = kFirstWeights + kStages * kStageWeights;

    // The stage of the game, by the number of pieces: 0 for few.
    static int stage(const Position& p) {
        const int pieces = std::popcount(p.pieces[0] | p.pieces[1]);
        return pieces <= 8 ? 0 : pieces <= 12 ? 1 : pieces <= 17 ? 2 : 3;
    }

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
        for (auto& row : first_)
            for (int i = 0; i < kWide; ++i) row[i / kLanes][i % kLanes] = rounded(kMostFirst);
        for (int i = 0; i < kWide; ++i) first_bias_[i / kLanes][i % kLanes] = rounded(kMostBias);
        for (Stage& stage : stages_) {
            for (int j = 0; j < kNarrow; ++j) {
                for (int i = 0; i < kWide; ++i) stage.second[i / 2][2 * j + i % 2] = rounded(kMostSecond);
            }
            for (auto& b : stage.second_bias)
                b = static_cast<std::int32_t>(std::lrint(kUnit * kUnit * std::clamp(*next++, -1000.0f, 1000.0f)));
            for (auto& w : stage.output) w = *next++;
            stage.output_bias = *next++;
        }
    }

    Score operator()(const Position& given) const override {
        std::array<int, 32> active;
        int count = 0;
        for_each_input(seen_by_mover(given), [&](int input) { active[count++] = input; });
        std::array<Lanes, kWide / kLanes> wide;
        constexpr auto kOne = static_cast<std::int16_t>(kUnit);
        for (int i = 0; i < kWide / kLanes; i += 4) {  // few enough at a time to stay in registers
            Lanes a = first_bias_[i], b = first_bias_[i + 1], c = first_bias_[i + 2], d = first_bias_[i + 3];
            for (int k = 0; k < count; ++k) {
                const auto& row = first_[active[k]];
                a += row[i], b += row[i + 1], c += row[i + 2], d += row[i + 3];
            }
            for (int k = 0; Lanes x : {a, b, c, d}) {
                x = x > 0 ? x : Lanes{};
                wide[i + k++] = x < kOne ? x : Lanes{} + kOne;
            }
        }
        std::array<std::int32_t, kWide / 2> pairs;
        std::memcpy(pairs.data(), wide.data(), sizeof pairs);
        const Stage& now = stages_[stage(given)];
        Sums sums = now.second_bias;
        add_products(now, pairs, sums);
        std::array<float, 8> parts{};  // side by side, so that the compiler may use vectors
        for (int j = 0; j < kNarrow; j += 8) {
            for (int k = 0; k < 8; ++k)
                parts[k] += now.output[j + k] * static_cast<float>(std::clamp(sums[j + k], 0, 1 << 16));
        }
        const float sum =
            ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
        const float value = now.output_bias + sum * (1.0f / (1 << 16));
        return static_cast<Score>(
            std::lrint(std::clamp(kScoreScale * value, -float(kMaxEvaluation), float(kMaxEvaluation))));
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
    static constexpr int kLanes = 16;
    using Lanes = std::int16_t __attribute__((vector_size(2 * kLanes)));  // a vector type of gcc and clang
    using Sums = std::array<std::int32_t, kNarrow>;
    using Row = std::array<std::int16_t, 2 * kNarrow>;  // the weights of two inputs, alternating, for every output

    // What depends on the stage of the game.
    struct Stage {
        alignas(32) std::array<Row, kWide / 2> second;
        Sums second_bias;
        std::array<float, kNarrow> output;
        float output_bias = 0;
    };

    // Two inputs at a time, all outputs side by side.
    static void add_products(const Stage& stage, const std::array<std::int32_t, kWide / 2>& pairs, Sums& sums) {
#if defined(__AVX2__)
        static_assert(kNarrow == 32);
        const auto sums_at = [&](int j) { return reinterpret_cast<__m256i*>(sums.data() + 8 * j); };
        __m256i a = _mm256_loadu_si256(sums_at(0)), b = _mm256_loadu_si256(sums_at(1));
        __m256i c = _mm256_loadu_si256(sums_at(2)), d = _mm256_loadu_si256(sums_at(3));
        for (int i = 0; i < kWide / 2; ++i) {
            const auto* row = reinterpret_cast<const __m256i*>(stage.second[i].data());
            const __m256i both = _mm256_set1_epi32(pairs[i]);
            a = _mm256_add_epi32(a, _mm256_madd_epi16(both, row[0]));
            b = _mm256_add_epi32(b, _mm256_madd_epi16(both, row[1]));
            c = _mm256_add_epi32(c, _mm256_madd_epi16(both, row[2]));
            d = _mm256_add_epi32(d, _mm256_madd_epi16(both, row[3]));
        }
        _mm256_storeu_si256(sums_at(0), a);
        _mm256_storeu_si256(sums_at(1), b);
        _mm256_storeu_si256(sums_at(2), c);
        _mm256_storeu_si256(sums_at(3), d);
#else
        for (int i = 0; i < kWide / 2; ++i) {
            const auto low = static_cast<std::int16_t>(pairs[i] & 0xffff),
                       high = static_cast<std::int16_t>(pairs[i] >> 16);
            for (int j = 0; j < kNarrow; ++j)
                sums[j] += low * stage.second[i][2 * j] + high * stage.second[i][2 * j + 1];
        }
#endif
    }

    std::array<std::array<Lanes, kWide / kLanes>, kInputs> first_;
    std::array<Lanes, kWide / kLanes> first_bias_;
    std::array<Stage, kStages> stages_;
};

}  // namespace rookery::checkers
