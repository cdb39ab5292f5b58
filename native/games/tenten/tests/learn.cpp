#include "tests/check.hpp"
#include "games/tenten/features.hpp"
#include "games/tenten/folded.hpp"
#include "games/tenten/lspi.hpp"
#include "games/tenten/td.hpp"
#include "games/tenten/lookahead.hpp"

using namespace rookery;
using namespace rookery::testing;

static const std::vector<tenten::Rules::CellList> kPieces = {
    {{0, 0}},
    {{0, 0}, {0, 1}},
    {{0, 0}, {1, 0}},
    {{0, 0}, {0, 1}, {1, 0}},
    {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}},
    {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}},
};

static tenten::Rules make_rules(int rows, int columns, int hand = 1) {
    return tenten::Rules(rows, columns, kPieces, {1, 2, 2, 3, 1, 1}, hand);
}

TEST(tenten_values_of_placements_are_those_of_their_boards) {
    for (const auto& [rows, columns] : {std::pair{10, 10}, {7, 9}, {5, 5}, {2, 9}}) {
        const auto rules = make_rules(rows, columns);
        const tenten::TupleFeatures features(rules, {{2, 3}, {1, columns}, {rows, 1}});
        std::vector<float> weights(features.weights());
        Rng rng(1);
        for (auto& weight : weights) weight = static_cast<float>(rng.uniform());
        tenten::FoldedValue folded(features, 0.95);
        folded.fold(weights.data());
        tenten::Board board = 0;
        for (int round = 0; round < 200; ++round) {
            const int piece = static_cast<int>(rng.below(static_cast<std::uint32_t>(kPieces.size())));
            const auto places = rules.placements(board, piece);
            tenten::Board next = 0;
            features.for_each_placement(weights.data(), board, piece, places, [&](const tenten::Placement& p) {
                CHECK(std::abs(p.value - features.value(weights.data(), p.board)) < 1e-3f);
                if (next == 0 || rng.below(4) == 0) next = p.board;
            });
            auto left = places;
            folded.for_each_placement(board, piece, places, [&](const tenten::Placement& p) {
                int lines = 0;
                CHECK(p.board == rules.clear_lines(board | rules.pieces()[piece].cells << p.cell, lines));
                CHECK(p.lines == lines);
                CHECK(std::abs(p.value - features.value(weights.data(), p.board)) < 1e-3f);
                left &= ~(tenten::Board(1) << p.cell);
            });
            CHECK(left == 0);
            board = next;
        }
    }
}

TEST(tenten_the_best_placement_is_found_without_seeing_others_to_the_end) {
    const auto rules = make_rules(7, 8);
    const tenten::TupleFeatures features(rules, {{2, 3}, {1, 8}});
    std::vector<float> weights(features.weights());
    Rng rng(2);
    for (auto& weight : weights) weight = static_cast<float>(rng.normal() / 8);
    const tenten::TupleValue value{&features, weights.data(), 0.95};
    tenten::Board board = 0;
    for (int round = 0; round < 200; ++round) {
        const int piece = rules.draw(rng);
        const auto all = look_ahead(value, board, piece, 8, 9.0f);
        const auto best = look_ahead(value, board, piece, 8, 9.0f, 0, true);
        CHECK(all.size() == best.size());
        if (!all.empty()) CHECK(all[0].cell == best[0].cell && all[0].value == best[0].value);
        board = all.empty() ? tenten::Board(0) : all[rng.below(static_cast<std::uint32_t>(all.size()))].board;
    }
}

TEST(tenten_learners_run_on_every_size) {
    Control control;
    for (const auto& [rows, columns] : {std::pair{10, 10}, {3, 8}, {2, 2}}) {
        const auto rules = make_rules(rows, columns);
        for (const bool every_piece : {false, true}) {
            tenten::TdLearner learner(rules, {{2, 2}}, 2, 3, 4.0, 0.95, every_piece, 0.1);
            learner.train(300, 1.0, 1, 0, 2, control);
            CHECK(learner.rounds == 600);
            const tenten::TupleValue value{&learner.features(), learner.weights().value.data(), 0.95};
            const auto records = tenten::play_games(value, {3, 1.0f}, 4, 1, 50, 2, control);
            CHECK(records.size() == 4);
        }
        const tenten::PaperFeatures paper(rules, tenten::Reward::lines_and_moves);
        const std::vector<double> weights(tenten::kPaperFeatures, 0.5);
        CHECK(tenten::lspi_games(paper, weights.data(), 0.9, -1000, 3, 1, 0, 50, 2, control).size() == 3);
        const tenten::HandFeatures hand(rules);
        const std::vector<float> linear(tenten::kHandFeatures, -0.5f);
        Rng rng(2);
        const double rate = tenten::death_rate(tenten::LinearValue{&hand, linear.data()}, tenten::DeathChance(rules),
                                               100, rng, control);
        CHECK(rate >= 0 && rate <= 1);
    }
}

TEST(tenten_hands_are_planned) {
    Control control;
    const auto rules = make_rules(6, 6, 3);
    const tenten::TupleFeatures features(rules, {{2, 2}});
    const std::vector<float> weights(features.weights(), 0.1f);
    const tenten::TupleValue value{&features, weights.data(), 0.95};
    const auto records = tenten::play_games(value, {0, 0, 2, 5, 100.0f}, 5, 3, 60, 1, control);
    for (const auto& record : records) CHECK(record.rounds <= 60 && record.hands * 3 <= record.rounds);
}
