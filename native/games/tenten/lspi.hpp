// Samples for LSPI: games played with the current weights, summed up into the normal equations A w = b.
#pragma once

#include <vector>

#include "core/control.hpp"
#include "core/parallel.hpp"
#include "games/tenten/features.hpp"
#include "games/tenten/lookahead.hpp"

namespace rookery::tenten {

struct NormalEquations {
    std::vector<double> a = std::vector<double>(kPaperFeatures * kPaperFeatures);
    std::vector<double> b = std::vector<double>(kPaperFeatures);
    std::int64_t rounds = 0;
};

// One game. For every placement (s, a) with the next one (s', a'):
//     A += phi(s, a) (phi(s, a) - discount phi(s', a'))^T,   b += phi(s, a) r;
// the last placement of a game has no next one, and the penalty as its reward.
inline NormalEquations lspi_game(const PaperFeatures& features, const double* weights, double discount, double penalty,
                                 Rng& rng, std::int64_t max_rounds, Control& control) {
    const Rules& rules = features.rules();
    const PaperValue value{&features, weights};
    NormalEquations sums;
    PaperFeatures::Vector last{};
    double last_reward = 0;
    Board board = 0;
    const auto add = [&](const PaperFeatures::Vector* next, double reward) {
        for (int i = 0; i < kPaperFeatures; ++i) {
            for (int j = 0; j < kPaperFeatures; ++j) {
                sums.a[i * kPaperFeatures + j] += last[i] * (last[j] - (next ? discount * (*next)[j] : 0.0));
            }
            sums.b[i] += last[i] * reward;
        }
    };
    while (sums.rounds < max_rounds && !control.stopped()) {
        const int piece = rules.draw(rng);
        Placement best{};
        if (!best_placement(value, board, piece, best)) {
            if (sums.rounds > 0) add(nullptr, penalty);
            break;
        }
        const auto now = features(piece, best.cell, best.board, best.lines);
        if (sums.rounds > 0) add(&now, last_reward);
        last = now;
        last_reward = features.reward(best.board, best.lines);
        board = best.board;
        ++sums.rounds;
    }
    return sums;
}

// `games` games with streams first .. first + games - 1 of the seed, in this order whatever the number of threads.
inline std::vector<NormalEquations> lspi_games(const PaperFeatures& features, const double* weights, double discount,
                                               double penalty, std::int64_t games, std::uint64_t seed,
                                               std::int64_t first, std::int64_t max_rounds, int threads,
                                               Control& control) {
    std::vector<NormalEquations> sums(games);
    parallel_blocks(games, threads, [&](std::int64_t game) {
        Rng rng(seed, static_cast<std::uint64_t>(first + game));
        sums[game] = lspi_game(features, weights, discount, penalty, rng, max_rounds, control);
        control.add(1);
    });
    return sums;
}

// How often an evaluation would die: the mean chance, over `rounds` placements, that the next piece does not fit.
// A game that ends is started again.
template <class E>
double death_rate(const E& evaluation, const DeathChance& death, std::int64_t rounds, Rng& rng, Control& control) {
    const Rules& rules = evaluation.rules();
    double sum = 0;
    Board board = 0;
    Placement best{};
    for (std::int64_t i = 0; i < rounds && !control.stopped(); ++i) {
        const int piece = rules.draw(rng);
        if (best_placement(evaluation, board, piece, best)) {
            board = best.board;
            sum += death(board);
        } else {
            board = 0;
        }
    }
    return sum / static_cast<double>(rounds);
}

}  // namespace rookery::tenten
