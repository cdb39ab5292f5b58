// Temporal-difference learning of the n-tuple value by playing 1010!.
//
// After every placement the risk of the board is moved towards
//     death + (1 - death) * discount * risk(board after the best placement of the next piece),
// where `death`, the chance that the next piece does not fit, is computed and not sampled, and the next piece is drawn
// among those that fit. The rare and noisy event of 1010!, its end, is thus learned from its exact chance. The error is
// measured on the log-odds scale, where a risk of one in a thousand has as fine a grain as one in two, and is cut off:
// without that the few steps into a far worse board drown what all others teach (measured: a tenth of the strength).
// With `every_piece` the risk behind the next piece is averaged over all pieces instead of drawn.
#pragma once

#include <cmath>
#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/tenten/value.hpp"

namespace rookery::tenten {

inline float risk(float value) { return 1.0f / (1.0f + std::exp(value)); }

inline constexpr double kLargestError = 3.0;  // of the log-odds
inline constexpr double kLeastVariance = 1e-5;  // keeps the error finite where the risk is almost 0 or 1

// A learner of its own: lanes learn apart from each other and are merged now and then, so that the result depends on
// the number of lanes and not on the number of threads.
struct Lane {
    CoherentWeights weights;
    std::vector<Board> boards;  // one game each, after a placement
};

class TdLearner {
public:
    std::int64_t rounds = 0, deaths = 0;

    TdLearner(const Rules& rules, const std::vector<NTuples::Shape>& shapes, int lanes, int games, double first_value,
              double discount, bool every_piece, double restart)
        : discount_(discount), every_piece_(every_piece), restart_(restart), features_(rules, shapes), death_(rules),
          merged_(features_.weights()) {
        if (lanes < 1 || games < 1) throw std::invalid_argument("lanes and games must be at least 1");
        if (!(discount > 0 && discount <= 1)) throw std::invalid_argument("the discount lies in (0, 1]");
        if (!(restart >= 0 && restart < 1)) throw std::invalid_argument("the chance of a restart lies in [0, 1)");
        // Optimistic: what was never seen looks safe, so that the greedy player goes and looks.
        for (auto& value : merged_.value) value = static_cast<float>(first_value / features_.features());
        for (int i = 0; i < lanes; ++i) lanes_.push_back({merged_, std::vector<Board>(games)});
    }

    const TupleFeatures& features() const { return features_; }
    CoherentWeights& weights() { return merged_; }
    std::vector<Lane>& lanes() { return lanes_; }

    // Every lane plays and learns `steps` placements, rounded up to whole turns of all its games; then the lanes are
    // merged. An error is corrected by `step` of it. `batch` numbers the calls and with the seed gives the random stream.
    // `control.done` counts placements.
    void train(std::int64_t steps, double step, std::uint64_t seed, std::int64_t batch, int threads, Control& control) {
        const auto n = static_cast<std::int64_t>(lanes_.size());
        std::vector<std::int64_t> lane_rounds(n), lane_deaths(n);
        parallel_blocks(n, threads, [&](std::int64_t i) {
            lanes_[i].weights = merged_;
            Rng rng(seed, static_cast<std::uint64_t>(batch * n + i));
            while (lane_rounds[i] < steps && !control.stopped()) {
                for (Board& board : lanes_[i].boards) {
                    lane_deaths[i] += !learn_step(lanes_[i].weights, step, board, rng);
                }
                lane_rounds[i] += static_cast<std::int64_t>(lanes_[i].boards.size());
                control.add(static_cast<std::int64_t>(lanes_[i].boards.size()));
            }
        });
        for (std::int64_t i = 0; i < n; ++i) rounds += lane_rounds[i], deaths += lane_deaths[i];
        merge();
    }

private:
    // False where the game ended and started again.
    bool learn_step(CoherentWeights& weights, double step, Board& board, Rng& rng) const {
        const Rules& rules = features_.rules();
        const double death = death_(board);
        double target = 1;
        bool alive = death < 1;
        Board next = 0;
        if (alive) {
            int drawn;
            do {
                drawn = rules.draw(rng);
                alive &= rules.placements(board, drawn) != 0;
            } while (!rules.placements(board, drawn));
            double later = 0;  // risk behind the next piece, given that it fits
            for (int piece = 0; piece < static_cast<int>(rules.pieces().size()); ++piece) {
                if (piece != drawn && !every_piece_) continue;
                const Board places = rules.placements(board, piece);
                if (!places) continue;
                float best = -INFINITY;
                features_.for_each_placement(weights.value.data(), board, piece, places, [&](const Placement& p) {
                    if (p.value <= best) return;
                    best = p.value;
                    if (piece == drawn) next = p.board;
                });
                later += every_piece_ ? rules.probabilities()[piece] / (1 - death) * risk(best) : risk(best);
            }
            target = death + (1 - death) * discount_ * later;
        }
        const double seen = risk(features_.value(weights.value.data(), board));
        const auto error = static_cast<float>(
            std::clamp((seen - target) / (seen * (1 - seen) + kLeastVariance), -kLargestError, kLargestError));
        const auto each = static_cast<float>(step / features_.features());
        features_.for_each(board, [&](std::uint32_t i) { weights.learn(i, each, error); });
        board = alive ? next : Board(0);
        if (restart_ > 0 && rng.uniform() < restart_) board = random_board(rng);
        return alive;
    }

    // Good players rarely see bad boards, and must still know them.
    Board random_board(Rng& rng) const {
        const Rules& rules = features_.rules();
        const double filled = rng.uniform();
        Board board = 0;
        for (int cell = 0; cell < rules.cells(); ++cell) board |= Board(rng.uniform() < filled) << cell;
        int lines;
        return rules.clear_lines(board, lines);
    }

    // Each weight moves by the lanes' mean movement, weighted by how much each lane learned about it.
    void merge() {
        for (std::size_t i = 0; i < merged_.value.size(); ++i) {
            double moved = 0, error = 0, learned = 0;
            for (const Lane& lane : lanes_) {
                const double share = lane.weights.magnitude[i] - merged_.magnitude[i];
                moved += share * (lane.weights.value[i] - merged_.value[i]);
                error += lane.weights.error[i] - merged_.error[i];
                learned += share;
            }
            if (learned <= 0) continue;
            merged_.value[i] += static_cast<float>(moved / learned);
            merged_.error[i] += static_cast<float>(error);
            merged_.magnitude[i] += static_cast<float>(learned);
        }
    }

    double discount_;
    bool every_piece_;
    double restart_;
    TupleFeatures features_;
    DeathChance death_;
    CoherentWeights merged_;
    std::vector<Lane> lanes_;
};

}  // namespace rookery::tenten
