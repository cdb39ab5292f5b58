// Q-learning of games whose exact values are known, and examples made of known games.
#include "learn/q_learning.hpp"

#include "learn/examples.hpp"
#include "tests/check.hpp"
#include "tests/toys.hpp"

using namespace rookery;
using testing::Places;
using testing::Stones;

namespace {

QTraining train(ActionValues& table, const Stones& start, Backup backup, double alpha, double discount, int replay,
                std::int64_t games) {
    const QSettings settings{alpha, discount, 1.0, 1.0, backup, replay};
    QLearner<Stones, ActionValues> learner(table, settings);
    const Stones* starts[] = {&start};
    Control control;
    const QTraining result = learner.train(starts, {-1}, {}, 0, 0, games, games, 3, control);
    CHECK(control.done == games && result.games == games);
    CHECK(result.results[0] + result.results[1] + result.results[2] == games);
    CHECK(result.new_starts == std::vector<std::int64_t>{0});
    return result;
}

double best_worth(const Stones& state, double own, double other);

// The value of a move for the mover, by recursion. From one position of the mover to the next the values are discounted
// by `own`, and from his position to that of the opponent by `other`.
double worth(const Stones& state, Action action, double own, double other) {
    Stones after = state;
    after.apply(action);
    const bool alone = after.rules().players() == 1;
    if (after.player() == kTerminal) return after.returns()[static_cast<std::size_t>(alone ? 0 : state.player())];
    // What is the mover's is the other's step when the other is to move.
    return alone ? own * best_worth(after, own, other) : -other * best_worth(after, own, own / other);
}

double best_worth(const Stones& state, double own, double other) {
    ActionList actions;
    state.legal_actions(actions);
    double best = -1e9;
    for (const Action action : actions) best = std::max(best, worth(state, action, own, other));
    return best;
}

template <class Visit>
void for_each_position(const Stones& state, Visit&& visit) {
    if (state.player() == kTerminal) return;
    ActionList actions;
    state.legal_actions(actions);
    visit(state, actions);
    for (const Action action : actions) {
        Stones after = state;
        after.apply(action);
        for_each_position(after, visit);
    }
}

}  // namespace

// With full steps and random moves the table of a game without chance ends at the exact values.
TEST(q_learning_ends_at_the_exact_values) {
    for (const int players : {1, 2}) {
        const Stones::Rules rules{7, players};
        const Stones start(rules);
        for (const Backup backup : {Backup::kMax, Backup::kSelfPlay, Backup::kLeastBestMove}) {
            if (players == 2 && backup == Backup::kMax) continue;  // hopes for the opponent's mistakes
            for (const int replay : {0, 3}) {
                // The least best move looks at a move and its reply at once; else every step counts.
                const bool pairs = players == 2 && backup == Backup::kLeastBestMove;
                const double own = pairs || players == 1 ? 0.9 : 0.81, other = pairs ? 1.0 : 0.9;
                ActionValues table;
                const QTraining result = train(table, start, backup, 1.0, 0.9, replay, 3000);
                CHECK(result.moves > 3 * 3000 && result.moves < 7 * 3000);
                // Of one player the score is the number of moves; of two, one wins.
                if (players == 1) CHECK(result.returns == static_cast<double>(result.moves));
                if (players == 2) CHECK(result.results[1] == 0 && result.results[0] > 500 && result.results[2] > 500);
                std::set<std::string> keys;
                for_each_position(start, [&](const Stones& state, const ActionList& actions) {
                    const auto values = table.find(state.key());
                    CHECK(values.size() == actions.size());
                    for (std::size_t i = 0; i < values.size(); ++i) {
                        CHECK(std::abs(values[i] - worth(state, actions[i], own, other)) < 1e-5);
                    }
                    keys.insert(state.key());
                });
                CHECK(table.size() == keys.size() && table.keys().size() == keys.size());
                // Every position has a way from the start to it.
                for (std::size_t row = 0; row < table.size(); ++row) {
                    ActionList way;
                    for (auto at = table.where(row); at != ActionValues::kNone; at = table.way()[at].before) {
                        way.push_back(table.way()[at].action);
                    }
                    CHECK(way.back() == 0);  // the number of the start
                    Stones state = start;
                    for (std::size_t i = way.size() - 1; i-- > 0;) state.apply(way[i]);
                    CHECK(state.key() == table.keys()[row]);
                }
            }
        }
    }
}

// The first game, by hand: one stone is taken from one, and the value goes half the way to 1.
TEST(q_learning_takes_steps_of_alpha) {
    const Stones::Rules rules{1, 2};
    const Stones start(rules);
    for (const Backup backup : {Backup::kMax, Backup::kSelfPlay, Backup::kLeastBestMove}) {
        ActionValues table;
        train(table, start, backup, 0.5, 1.0, 0, 3);
        CHECK(table.find(start.key())[0] == 0.875f);
        CHECK(table.bytes() >= 8 + 4 + 16 && table.row(0).size() == 1 && table.find("?").empty());
    }
}

// Where a player moves no more in this game, all that counts is what he earned until its end.
TEST(q_learning_by_own_moves_counts_what_is_earned_until_the_next_one) {
    const Stones::Rules rules{2, 2};
    const Stones start(rules);
    ActionValues table;
    train(table, start, Backup::kMax, 1.0, 0.5, 0, 200);
    CHECK((std::vector<float>(table.find(start.key()).begin(), table.find(start.key()).end()) ==
           std::vector<float>{-1, 1}));  // take one, and the other wins; take both
    const QSettings settings{1.0, 1.0, 0.8, 0.2, Backup::kMax, 0};
    CHECK(settings.epsilon(0, 1) == 0.8 && settings.epsilon(0, 4) == 0.8);
    CHECK(std::abs(settings.epsilon(1, 2) - 0.2) < 1e-12);
    CHECK(std::abs(settings.epsilon(3, 4) - 0.2) < 1e-12 && std::abs(settings.epsilon(1, 4) - 0.6) < 1e-12);
}

// Chance between the moves: the mean, for small steps.
TEST(q_learning_weighs_chance) {
    const Places::Rules rules{1,
                              {{kChance, {1}, {1.0}},
                               {0, {2, 3}, {}},
                               {kTerminal, {}, {}, 4},
                               {kChance, {4, 5}, {0.25, 0.75}},
                               {kTerminal, {}, {}, 12},
                               {kTerminal, {}, {}, 0}}};
    const Places start(rules);
    for (const int replay : {0, 2}) {
        ActionValues table;
        const QSettings settings{0.01, 1.0, 1.0, 1.0, Backup::kMax, replay};
        QLearner<Places, ActionValues> learner(table, settings);
        const Places* starts[] = {&start};
        Control control;
        learner.train(starts, {-1}, {}, 0, 0, 4000, 4000, 1, control);
        CHECK(table.size() == 1);
        CHECK(std::abs(table.row(0)[0] - 4) < 1e-3 && std::abs(table.row(0)[1] - 3) < 1.2);
    }
}

// What chance brings before the first move is earned too, even if there is no move.
TEST(q_learning_counts_what_chance_brings_first) {
    const Places::Rules rules{
        1, {{kChance, {1, 2}, {0.5, 0.5}}, {kTerminal, {}, {}, 4}, {0, {3}, {}}, {kTerminal, {}, {}, 6}}};
    const Places start(rules);
    ActionValues table;
    const QSettings settings{0.5, 1.0, 1.0, 1.0, Backup::kMax, 0};
    QLearner<Places, ActionValues> learner(table, settings);
    const Places* starts[] = {&start};
    Control control;
    const QTraining result = learner.train(starts, {-1}, {}, 0, 0, 1000, 1000, 1, control);
    CHECK(result.moves > 400 && result.moves < 600);  // a game of every other has one
    CHECK(result.returns == 4.0 * static_cast<double>(1000 - result.moves) + 6.0 * static_cast<double>(result.moves));
    CHECK(result.results[0] == 1000 && result.results[1] == 0 && result.results[2] == 0);
}

TEST(a_layer_leaves_the_values_below_it_alone) {
    ActionValues base;
    base.find_or_add("a", 2)[1] = 3;
    LayeredValues layer(base);
    CHECK(layer.find("a")[1] == 3 && layer.find("b").empty());
    layer.prefetch("a");
    float* values = layer.find_or_add("a", 2);
    CHECK(values[0] == 0 && values[1] == 3);
    values[1] = 5;
    CHECK(layer.find("a")[1] == 5 && base.find("a")[1] == 3);
    CHECK(layer.find_or_add("a", 2)[1] == 5 && layer.find_or_add("b", 1)[0] == 0);
}

TEST(the_greatest_is_chosen_and_ties_are_fair) {
    Rng rng(1);
    const std::vector<float> values = {1, 3, 2, 3, 3, 0};
    std::array<int, 6> chosen{};
    for (int i = 0; i < 30'000; ++i) ++chosen[static_cast<std::size_t>(choose_greatest(values.data(), 6, rng))];
    CHECK(chosen[0] == 0 && chosen[2] == 0 && chosen[5] == 0);
    for (const std::size_t i : {1, 3, 4}) CHECK(std::abs(chosen[i] - 10'000) < 500);
    CHECK(choose_greatest(values.data(), 1, rng) == 0);
}

// Two games of one player: 1, 2, 3 and 2, 2, 2.
TEST(examples_continue_their_game) {
    const Stones::Rules rules{6, 1};
    const ActionList moves = {1, 2, 3, 2, 2, 2};
    const std::vector<std::int64_t> starts = {0, 3, 6};
    const std::vector<std::int32_t> game = {0, 0, 0, 1}, played = {0, 1, 2, 2};
    const Examples next = make_examples(Stones(rules), std::span<const Action>(moves), std::span(starts),
                                        std::span(game), std::span(played), false, 1, 2);
    CHECK((next.input.planes == std::vector<float>{6, 5, 3, 2}));
    CHECK((next.input.offsets == std::vector<std::int64_t>{0, 3, 6, 9, 11}));
    CHECK((next.wanted == std::vector<std::uint8_t>{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1}));
    // In any order: after two moves one of the three is left; each comes as often.
    std::array<int, 4> left{};
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const std::vector<std::int32_t> one = {0}, two = {2}, none = {0};
        const Examples any = make_examples(Stones(rules), std::span<const Action>(moves), std::span(starts),
                                           std::span(one), std::span(two), true, seed, 1);
        const int stones = static_cast<int>(any.input.planes[0]);
        ++left[static_cast<std::size_t>(stones)];
        CHECK(any.wanted.size() == static_cast<std::size_t>(stones) && any.wanted.back() == 1);
        CHECK(std::count(any.wanted.begin(), any.wanted.end(), 1) == 1);
        const Examples first = make_examples(Stones(rules), std::span<const Action>(moves), std::span(starts),
                                             std::span(one), std::span(none), true, seed, 1);
        CHECK((first.wanted == std::vector<std::uint8_t>{1, 1, 1}));
    }
    for (const std::size_t stones : {1, 2, 3}) CHECK(std::abs(left[stones] - 1000) < 150);
    // In any order too, a move that is the only legal one is made, and a game that has none left is refused: of 5 stones
    // three may be taken, then two, but not three and three.
    const Stones::Rules five{5, 1};
    const auto in_any_order = [&](const ActionList& list, int made, std::uint64_t seed) {
        const std::vector<std::int64_t> all = {0, static_cast<std::int64_t>(list.size())};
        const std::vector<std::int32_t> one = {0}, after = {made};
        return make_examples(Stones(five), std::span<const Action>(list), std::span(all), std::span(one),
                             std::span(after), true, seed, 1);
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK((in_any_order({3, 2, 3}, 2, seed).input.planes == std::vector<float>{0}));
    }
    bool stuck = false;
    try {
        in_any_order({3, 3, 3}, 2, 1);
    } catch (const std::invalid_argument&) {
        stuck = true;
    }
    CHECK(stuck);
    const auto refused = [&](std::vector<std::int32_t> games, std::vector<std::int32_t> made,
                             std::vector<std::int64_t> at, ActionList list = {1, 2, 3, 2, 2, 2}) {
        try {
            for (const bool any_order : {false, true}) {
                make_examples(Stones(rules), std::span<const Action>(list), std::span<const std::int64_t>(at),
                              std::span<const std::int32_t>(games), std::span<const std::int32_t>(made), any_order, 1,
                              1);
            }
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!refused({1}, {2}, starts) && refused({1}, {2, 2}, starts) && refused({1}, {3}, starts));
    CHECK(refused({2}, {0}, starts) && refused({-1}, {0}, starts) && refused({0}, {-1}, starts));
    CHECK(refused({0}, {0}, {}) && refused({0}, {0}, {0, 7}) && refused({0}, {0}, {3, 0}) &&
          refused({0}, {0}, {-1, 3}));
    CHECK(refused({0}, {2}, {0, 3}, {3, 0, 3}) && refused({0}, {2}, {0, 3}, {3, 4, 1}));
}
