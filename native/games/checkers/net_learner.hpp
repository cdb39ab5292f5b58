// Gradient descent for the net of net.hpp: cross-entropy of the chance of winning, Adam.
#pragma once

#include <numeric>
#include <span>

#include "core/control.hpp"
#include "core/rng.hpp"
#include "games/checkers/net.hpp"
#include "games/checkers/self_play.hpp"

namespace rookery::checkers {

class NetLearner {
public:
    static constexpr int kInputs = NetValue::kInputs, kWide = NetValue::kWide, kNarrow = NetValue::kNarrow;

    // Random weights; most units start in their linear range.
    explicit NetLearner(std::uint64_t seed) : weights_(NetValue::kWeights) {
        Rng rng(seed);
        std::size_t i = 0;
        const auto fill = [&](int count, int inputs, double centre) {
            const double most = 1 / std::sqrt(inputs);
            for (int n = 0; n < count; ++n) weights_[i++] = static_cast<float>(centre + most * (2 * rng.uniform() - 1));
        };
        fill(kInputs * kWide, kInputs, 0);
        fill(kWide, kInputs, 0.3);
        for (int stage = 0; stage < NetValue::kStages; ++stage) {
            fill(kNarrow * kWide, kWide, 0);
            fill(kNarrow, kWide, 0.3);
            fill(kNarrow + 1, kNarrow, 0);
        }
    }

    // As NetValue takes them.
    const std::vector<float>& weights() const { return weights_; }

    void restore(std::vector<float> weights) {
        if (weights.size() != NetValue::kWeights) throw std::invalid_argument("the net has another number of weights");
        weights_ = std::move(weights);
    }

    // Passes over all examples in random order. The learning rate rises to `rate` during the first twentieth of the steps and
    // falls to zero after it. Returns the root of the mean squared error of the chances in the last pass. The result does
    // not depend on `threads`: a batch is added up in parts that are always the same. `control.done` counts examples.
    double learn(std::span<const Example> examples, int epochs, int batch, double rate, std::uint64_t seed, int threads,
                 Control& control) {
        if (examples.empty()) throw std::invalid_argument("there is nothing to learn from");
        if (epochs < 1 || batch < 1 || !(rate > 0))
            throw std::invalid_argument("epochs, batch and rate must be positive");
        std::vector<std::uint32_t> order(examples.size());
        std::iota(order.begin(), order.end(), 0u);
        means_.assign(NetValue::kWeights, 0);
        squares_.assign(NetValue::kWeights, 0);
        const std::int64_t batches = static_cast<std::int64_t>((order.size() + batch - 1) / batch),
                           steps = epochs * batches;
        const double warm = std::max(1.0, 0.05 * static_cast<double>(steps));
        double squared = 0;
        std::int64_t step = 0;
        Rng rng(seed);
        for (int epoch = 0; epoch < epochs; ++epoch) {
            for (std::size_t i = order.size(); i > 1; --i) {
                std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
            }
            squared = 0;
            for (std::size_t first = 0; first < order.size(); first += batch) {
                if (control.stopped()) return 0;
                const std::size_t end = std::min(order.size(), first + batch);
                parallel_blocks(kParts, threads, [&](std::int64_t part) {
                    auto& [gradient, error] = parts_[part];
                    gradient.assign(NetValue::kWeights, 0);
                    error = 0;
                    for (std::size_t i = first + part; i < end; i += kParts) {
                        error += add_gradient(examples[order[i]], gradient);
                    }
                });
                for (const auto& part : parts_) squared += part.squared_error;
                ++step;
                const double now = static_cast<double>(step), left = static_cast<double>(steps) - warm;
                const double share = std::min(now / warm, left > 0 ? (static_cast<double>(steps) - now + 1) / left : 1);
                move(rate * share, static_cast<double>(end - first), step);
                control.add(static_cast<std::int64_t>(end - first));
            }
        }
        return std::sqrt(squared / static_cast<double>(order.size()));
    }

    // Adds the gradient of one example; returns its squared error.
    double add_gradient(const Example& example, std::vector<float>& gradient) const {
        const float* first = weights_.data();
        const float* first_bias = first + kInputs * kWide;
        const Position p{{example.own, example.other}, example.kings, kBlack};
        const std::size_t stage = NetValue::kFirstWeights + NetValue::stage(p) * NetValue::kStageWeights;
        const float* second = weights_.data() + stage;
        const float* second_bias = second + kNarrow * kWide;
        const float* output = second_bias + kNarrow;
        std::array<int, 32> active;
        int n = 0;
        NetValue::for_each_input(p, [&](int input) { active[n++] = input; });
        alignas(32) std::array<float, kWide> a, wide, to_a{};
        for (int i = 0; i < kWide; ++i) a[i] = first_bias[i];
        for (int k = 0; k < n; ++k) {
            const float* row = first + active[k] * kWide;
            for (int i = 0; i < kWide; ++i) a[i] += row[i];
        }
        for (int i = 0; i < kWide; ++i) wide[i] = std::clamp(a[i], 0.0f, 1.0f);
        double value = output[kNarrow];
        std::array<float, kNarrow> b, narrow;
        for (int j = 0; j < kNarrow; ++j) {
            b[j] = second_bias[j] + dot(second + j * kWide, wide.data());
            narrow[j] = std::clamp(b[j], 0.0f, 1.0f);
            value += output[j] * narrow[j];
        }
        const double error = 1 / (1 + std::exp(-value)) - example.target;

        float* to_first = gradient.data();
        float* to_first_bias = to_first + kInputs * kWide;
        float* to_second = gradient.data() + stage;
        float* to_second_bias = to_second + kNarrow * kWide;
        float* to_output = to_second_bias + kNarrow;
        const auto slope = static_cast<float>(error);
        to_output[kNarrow] += slope;
        for (int j = 0; j < kNarrow; ++j) {
            to_output[j] += slope * narrow[j];
            if (!(b[j] > 0 && b[j] < 1)) continue;
            const float to_b = slope * output[j];
            to_second_bias[j] += to_b;
            const float* row = second + j * kWide;
            float* to_row = to_second + j * kWide;
            for (int i = 0; i < kWide; ++i) {
                to_row[i] += to_b * wide[i];
                to_a[i] += to_b * row[i];
            }
        }
        for (int i = 0; i < kWide; ++i) {
            if (!(a[i] > 0 && a[i] < 1)) to_a[i] = 0;
            to_first_bias[i] += to_a[i];
        }
        for (int k = 0; k < n; ++k) {
            float* row = to_first + active[k] * kWide;
            for (int i = 0; i < kWide; ++i) row[i] += to_a[i];
        }
        return error * error;
    }

private:
    // Eight sums side by side, so that the compiler may use vectors.
    static float dot(const float* x, const float* y) {
        std::array<float, 8> sums{};
        for (int i = 0; i < kWide; i += 8) {
            for (int k = 0; k < 8; ++k) sums[k] += x[i + k] * y[i + k];
        }
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    }

    // One step of Adam. Weights stay below what NetValue clips them to.
    void move(double rate, double count, std::int64_t step) {
        const auto scale = static_cast<float>(rate * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step)));
        const auto each = static_cast<float>(1 / count);
        std::vector<float>& gradient = parts_[0].gradient;
        for (int part = 1; part < kParts; ++part) {
            const float* other = parts_[part].gradient.data();
            for (std::size_t i = 0; i < weights_.size(); ++i) gradient[i] += other[i];
        }
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const float g = gradient[i] * each;
            means_[i] += 0.1f * (g - means_[i]);
            squares_[i] += 0.001f * (g * g - squares_[i]);
            weights_[i] -= scale * means_[i] / (std::sqrt(squares_[i]) + 1e-8f);
        }
        const auto clip = [&](std::size_t first, std::size_t count_of, float most) {
            for (std::size_t i = first; i < first + count_of; ++i) weights_[i] = std::clamp(weights_[i], -most, most);
        };
        clip(0, kInputs * kWide, NetValue::kMostFirst);
        clip(kInputs * kWide, kWide, NetValue::kMostBias);
        for (int stage = 0; stage < NetValue::kStages; ++stage) {
            clip(NetValue::kFirstWeights + stage * NetValue::kStageWeights, kNarrow * kWide, NetValue::kMostSecond);
        }
    }

    static constexpr int kParts = 16;
    struct Part {
        std::vector<float> gradient;
        double squared_error = 0;
    };

    std::vector<float> weights_, means_, squares_;
    std::array<Part, kParts> parts_;
};

}  // namespace rookery::checkers
