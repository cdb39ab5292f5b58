#include "search/puct.hpp"

#include <map>

#include "tests/check.hpp"
#include "tests/toys.hpp"

namespace rookery {
namespace {

using testing::Places;
using testing::Stones;

// A net that knows nothing: all moves alike, all positions worth 0.
template <class S>
void search(PuctForest<S>& forest, std::int64_t simulations, int walks) {
    for (;;) {
        const NetInput input = forest.find_leaves(simulations, walks, 1);
        std::vector<float> priors(input.actions.size()), values(input.offsets.size() - 1, 0.0f);
        for (std::size_t leaf = 0; leaf + 1 < input.offsets.size(); ++leaf) {
            const auto begin = input.offsets[leaf], end = input.offsets[leaf + 1];
            for (auto i = begin; i < end; ++i) priors[i] = 1.0f / static_cast<float>(end - begin);
        }
        forest.expand(priors, values);
        bool done = true;
        for (const auto& tree : forest.trees()) {
            done &= tree.searched(simulations);
        }
        if (done) return;
    }
}

template <class S>
Action most_visited(const Puct<S>& tree) {
    const auto moves = tree.moves();
    return std::max_element(moves.begin(), moves.end(), [](auto& a, auto& b) { return a.visits < b.visits; })->action;
}

TEST(puct_wins_a_won_game_of_two_players) {
    for (const int walks : {1, 8}) {
        for (int stones = 5; stones < 12; ++stones) {
            if (stones % 4 == 0) continue;
            const Stones::Rules rules{stones, 2};
            PuctForest<Stones> forest(Stones(rules), 3, {.exploration = 1.5, .prove = false});
            search(forest, 3000, walks);
            for (const auto& tree : forest.trees()) {
                CHECK(tree.simulations() == 3000);
                CHECK(most_visited(tree) == stones % 4);
                for (const auto& move : tree.moves()) {
                    if (move.action == stones % 4) CHECK(move.value > 0.5);
                    if (move.action != stones % 4) CHECK(move.value < 0.2);
                }
            }
        }
    }
}

TEST(puct_proves_won_and_lost_games) {
    for (const int walks : {1, 8}) {
        for (int stones = 1; stones < 20; ++stones) {
            const Stones::Rules rules{stones, 2};
            PuctForest<Stones> forest(Stones(rules), 2, {.exploration = 1.5});
            search(forest, 1'000'000, walks);
            for (const auto& tree : forest.trees()) {
                CHECK(tree.simulations() < 100'000);  // the proof ended the search
                for (const auto& move : tree.moves()) {
                    const bool wins = (stones - move.action) % 4 == 0;
                    if (stones % 4 != 0) CHECK((move.visits > 0) == wins);
                    if (move.visits > 0) CHECK(move.value == (wins ? 1 : -1));
                }
            }
            // What was proven is known after a move too, from the other side.
            const auto moves = forest.trees()[0].moves();
            const auto best =
                std::max_element(moves.begin(), moves.end(), [](auto& a, auto& b) { return a.value < b.value; });
            forest.apply(0, best->action);
            CHECK(forest.trees()[0].searched(1'000'000));
        }
    }
}

TEST(puct_keeps_what_it_knows_of_the_move_played) {
    const Stones::Rules rules{11, 2};
    PuctForest<Stones> forest(Stones(rules), 1, {.exploration = 1.5, .prove = false});
    search(forest, 1000, 1);
    std::map<Action, std::int64_t> visits;
    for (const auto& move : forest.trees()[0].moves()) visits[move.action] = move.visits;
    // Every simulation but the first, which looks at the root itself, goes through one of the moves.
    CHECK(visits[1] + visits[2] + visits[3] == 999);
    forest.apply(0, 3);
    CHECK(forest.trees()[0].simulations() == visits[3]);
    CHECK(forest.trees()[0].root().left == 8);
    std::int64_t below = 0;
    for (const auto& move : forest.trees()[0].moves()) below += move.visits;
    CHECK(below == visits[3] - 1);
    search(forest, 1500, 4);
    for (const auto& move : forest.trees()[0].moves()) CHECK(move.value < 0);  // 8 stones are lost
}

TEST(puct_of_one_player_seeks_scores_above_the_threshold) {
    const Stones::Rules rules{6, 1};
    PuctForest<Stones> forest(Stones(rules), 1, {1.5, 5.0});  // only six single stones are more than 5 moves
    search(forest, 2000, 1);
    CHECK(most_visited(forest.trees()[0]) == 1);
    CHECK(forest.trees()[0].best_score() == 6);
    CHECK((forest.trees()[0].best_game() == ActionList{1, 1, 1, 1, 1, 1}));
    forest.apply(0, 1);
    CHECK(forest.trees()[0].best_score() == 6);  // from the start, not from the new root
}

TEST(puct_values_a_score_on_the_threshold_as_told) {
    const Stones::Rules rules{1, 1};  // one move, so every game scores 1
    for (const double tie : {-1.0, 0.0, 1.0}) {
        PuctForest<Stones> forest(Stones(rules), 1, {1.0, 1.0, tie});
        search(forest, 11, 1);
        CHECK(forest.trees()[0].moves()[0].value == tie);
    }
}

TEST(puct_values_a_move_not_tried_as_told) {
    // Whoever takes the last of two stones wins. Taking one loses, and the net is sure of it. With a mean of -1 for the
    // other move it must wait for its bonus; with 0 it is tried next.
    const Stones::Rules rules{2, 2};
    for (const bool mean : {true, false}) {
        PuctForest<Stones> forest(Stones(rules), 1, {0.1, 0.0, 0.0, mean});
        forest.find_leaves(3, 1, 1);
        const std::vector<float> root = {0.9f, 0.1f}, nothing = {0.0f};
        forest.expand(root, nothing);
        forest.find_leaves(3, 1, 1);  // takes one, the most probable move
        const std::vector<float> only = {1.0f}, won = {1.0f};
        forest.expand(only, won);  // and the opponent wins
        forest.find_leaves(3, 1, 1);
        CHECK(forest.trees()[0].moves()[1].visits == (mean ? 0 : 1));
    }
}

TEST(puct_leaves_out_actions_without_a_probability) {
    const Stones::Rules rules{6, 1};
    PuctForest<Stones> forest(Stones(rules), 1, {1.0, 0.0});
    const NetInput input = forest.find_leaves(10, 1, 1);
    CHECK((input.actions == ActionList{1, 2, 3}));
    const std::vector<float> priors = {-1.0f, 0.5f, 0.5f}, values = {0.0f};
    forest.expand(priors, values);
    CHECK(forest.trees()[0].moves().size() == 2);
    CHECK(forest.trees()[0].moves()[0].action == 2);
}

// Two ends, worth 1 and -1: how often each is tried follows from the formula alone.
TEST(puct_shares_its_visits_as_the_formula_says) {
    const Places::Rules rules{1, {{0, {1, 2}, {}}, {kTerminal, {}, {}, 3}, {kTerminal, {}, {}, 2}}};
    const std::array<double, 2> worth = {1, -1}, priors = {0.2, 0.8};
    for (const double exploration : {0.5, 2.0}) {
        for (const bool untried_mean : {true, false}) {
            std::array<double, 2> visits{};
            for (int done = 0; done < 99; ++done) {
                const double all = visits[0] + visits[1];
                const double mean = all > 0 && untried_mean ? (visits[0] - visits[1]) / all : 0;
                std::array<double, 2> score;
                for (std::size_t i = 0; i < 2; ++i) {
                    score[i] = (visits[i] > 0 ? worth[i] : mean) + exploration * std::sqrt(std::max(1.0, all)) *
                                                                       static_cast<float>(priors[i]) / (1 + visits[i]);
                }
                ++visits[score[0] >= score[1] ? 0 : 1];
            }
            PuctForest<Places> forest(Places(rules), 1,
                                      {.exploration = exploration, .threshold = 2.5, .untried_mean = untried_mean});
            forest.find_leaves(100, 1, 1);
            forest.expand(std::vector<float>{0.2f, 0.8f}, std::vector<float>{0.5f});
            while (!forest.trees()[0].searched(100)) {
                CHECK(forest.find_leaves(100, 7, 1).actions.empty());  // ends need no net
                forest.expand(std::vector<float>{}, std::vector<float>{});
            }
            const auto moves = forest.trees()[0].moves();
            for (std::size_t i = 0; i < 2; ++i) {
                CHECK(moves[i].visits == static_cast<std::int64_t>(visits[i]) && moves[i].value == worth[i]);
                CHECK(moves[i].prior == static_cast<float>(priors[i]));
            }
        }
    }
}

// A safe end, or chance and then the other player, who takes the least.
TEST(puct_weighs_chance) {
    const Places::Rules rules{2,
                              {{0, {1, 2}, {}},
                               {kTerminal, {}, {}, 0.1},
                               {kChance, {3, 4}, {0.7, 0.3}},
                               {1, {5, 6}, {}},
                               {kTerminal, {}, {}, -1},
                               {kTerminal, {}, {}, 0.5},
                               {kTerminal, {}, {}, 1}}};
    for (const bool prove : {false, true}) {
        for (const int walks : {1, 4}) {
            PuctForest<Places> forest(Places(rules), 1, {.exploration = 2.0, .prove = prove}, 3);
            search(forest, 20'000, walks);
            const auto moves = forest.trees()[0].moves();
            CHECK(std::abs(moves[0].value - 0.1) < 1e-6);
            // 0.7 times 0.5, less 0.3; a little more as long as the other player still tries the 1.
            CHECK(std::abs(moves[1].value - 0.05) < 0.05 && moves[1].visits > 1000 && moves[0].visits > 1000);
            CHECK(forest.trees()[0].simulations() == 20'000);
        }
    }
    // Chance at the root is drawn at once, by its probability.
    const Places::Rules chance{1, {{kChance, {1, 2}, {0.7, 0.3}}, {0, {3}, {}}, {0, {3}, {}}, {kTerminal, {}, {}}}};
    PuctForest<Places> forest(Places(chance), 3000, {}, 5);
    int first = 0;
    for (const auto& tree : forest.trees()) {
        CHECK(tree.root().player() == 0 && tree.history().size() == 1);
        first += tree.root().at == 1;
    }
    CHECK(std::abs(first - 2100) < 150);
}

// A share of Dirichlet noise: means 1/3, variance 2 / (9 (3 alpha + 1)).
TEST(puct_mixes_noise_into_the_probabilities_of_the_root) {
    const Stones::Rules rules{9, 2};
    for (const double alpha : {0.3, 2.0}) {
        constexpr int kTrees = 4000;
        PuctForest<Stones> forest(Stones(rules), kTrees, {.noise = 0.25, .noise_alpha = alpha}, 1);
        const NetInput input = forest.find_leaves(1, 1, 1);
        std::vector<float> priors, values(kTrees, 0.0f);
        for (int i = 0; i < kTrees; ++i) priors.insert(priors.end(), {0.5f, 0.3f, 0.2f});
        forest.expand(priors, values);
        std::array<double, 3> sums{}, squares{};
        for (const auto& tree : forest.trees()) {
            double all = 0;
            const auto moves = tree.moves();
            for (std::size_t i = 0; i < 3; ++i) {
                const double noise = (moves[i].prior - 0.75 * priors[i]) / 0.25;
                CHECK(noise > -1e-5 && noise < 1 + 1e-5);
                all += moves[i].prior;
                sums[i] += noise / kTrees;
                squares[i] += noise * noise / kTrees;
            }
            CHECK(std::abs(all - 1) < 1e-5);
        }
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(std::abs(sums[i] - 1.0 / 3) < 0.03);
            CHECK(std::abs(squares[i] - sums[i] * sums[i] - 2 / (9 * (3 * alpha + 1))) < 0.015);
        }
        forest.apply(0, 1);
        CHECK(forest.trees()[0].root().left == 8);
    }
}

TEST(puct_refuses_what_does_not_fit) {
    const Stones::Rules rules{9, 2}, few{2, 2};
    PuctForest<Stones> forest(Stones(rules), 2, {});
    const auto refused = [](auto&& work) {
        try {
            work();
        } catch (const std::exception&) {
            return true;
        }
        return false;
    };
    CHECK(forest.find_leaves(10, 1, 1).actions.size() == 6);
    const std::vector<float> six(6, 1.0f / 3), two(2, 0.0f);
    CHECK(refused([&] { forest.find_leaves(10, 1, 1); }) && refused([&] { forest.apply(0, 1); }));
    CHECK(refused([&] { forest.expand(two, two); }) && refused([&] { forest.expand(six, six); }));
    forest.expand(six, two);
    CHECK(refused([&] { forest.apply(0, 4); }) && refused([&] { forest.apply(2, 1); }));
    forest.apply(1, 2);
    CHECK(forest.trees()[0].root().left == 9 && forest.trees()[1].root().left == 7);
    CHECK((forest.trees()[1].history() == ActionList{2}));
    forest.restart(1, Stones(few));
    CHECK(forest.trees()[1].root().left == 2 && forest.trees()[1].simulations() == 0);
    CHECK(forest.trees()[1].history().empty());
}

}  // namespace
}  // namespace rookery
