// Searches on games whose values are known.
#include <functional>
#include <map>

#include "search/mcts.hpp"
#include "search/minimax.hpp"
#include "search/policy_search.hpp"
#include "search/random_games.hpp"
#include "tests/check.hpp"
#include "tests/toys.hpp"

using namespace rookery;
using testing::Places;
using testing::Stones;

namespace {

// A tree: position i is followed by positions with larger numbers.
Places::Rules random_tree(int players, int count, Rng& rng) {
    Places::Rules rules{players, {}};
    for (int i = 0; i < count; ++i) {
        Places::Place place{kTerminal, {}, {}, static_cast<double>(rng.below(100))};
        if (i < count / 2) {
            place.player = static_cast<int>(rng.below(static_cast<std::uint32_t>(players)));
            for (std::uint32_t n = 1 + rng.below(3); n > 0; --n) {
                place.next.push_back(i + 1 + static_cast<int>(rng.below(static_cast<std::uint32_t>(count - i - 1))));
            }
        }
        rules.places.push_back(place);
    }
    return rules;
}

using rookery::testing::refused;

const Places::Rules kTwoEnds{1, {{0, {1, 2}, {}}, {kTerminal, {}, {}, 3}, {kTerminal, {}, {}, 3}}};

void ignore(const Playout&) {}

}  // namespace

TEST(minimax_gives_the_values_of_a_recursion) {
    Rng rng(1);
    for (int round = 0; round < 300; ++round) {
        const auto rules = random_tree(1 + round % 2, 24, rng);
        std::uint64_t nodes = 0;
        const std::function<double(int, int, int)> value = [&](int at, int depth, int mover) {
            ++nodes;
            const auto& place = rules.places[static_cast<std::size_t>(at)];
            if (place.player == kTerminal) return mover == 0 ? place.worth : -place.worth;
            if (depth == 0) return 0.0;
            std::vector<double> values;
            for (const int next : place.next) values.push_back(value(next, depth - 1, mover));
            return place.player == mover ? *std::max_element(values.begin(), values.end())
                                         : *std::min_element(values.begin(), values.end());
        };
        const auto& root = rules.places[0];
        for (int depth = 1; depth <= 8; ++depth) {
            Control control;
            const auto found = minimax(Places(rules), depth, control);
            CHECK(found.moves.size() == root.next.size());
            CHECK(control.done == static_cast<std::int64_t>(root.next.size()));
            nodes = 0;
            for (std::size_t i = 0; i < root.next.size(); ++i) {
                CHECK(found.moves[i].action == static_cast<Action>(i));
                CHECK(found.moves[i].value == value(root.next[i], depth - 1, root.player));
            }
            CHECK(found.nodes <= nodes && found.nodes >= root.next.size());
            if (rules.players() == 1) CHECK(found.nodes == nodes);  // nothing to cut off
        }
    }
    // The tree of Russell and Norvig's chapter on alpha-beta, below a single move: the second of the three replies need
    // not be seen to its end, for its first leaf is worth no more than the first reply.
    for (const double leaf : {2.0, 3.0}) {
        Places::Rules rules{
            2, {{0, {1}, {}}, {0, {2, 3, 4}, {}}, {1, {5, 6, 7}, {}}, {1, {8, 9, 10}, {}}, {1, {11, 12, 13}, {}}}};
        for (const double worth : {3.0, 12.0, 8.0, leaf, 4.0, 6.0, 14.0, 5.0, 2.0}) {
            rules.places.push_back({kTerminal, {}, {}, worth});
        }
        Control control;
        const auto found = minimax(Places(rules), 3, control);
        CHECK(found.moves[0].value == 3 && found.nodes == 4 + 7);
    }
    const Stones::Rules stones{12, 2};
    Control control;
    for (const auto& move : minimax(Stones(stones), 12, control).moves) CHECK(move.value == -1);
    CHECK(refused([&] { minimax(Stones(stones), 0, control); }));
    CHECK(refused([&] { minimax(Stones(Stones::Rules{0, 2}), 1, control); }));
}

// Two ends, worth 1 and 0: how often each is tried follows from UCB1 alone.
TEST(mcts_shares_its_visits_as_ucb1_says) {
    const Places::Rules rules{1, {{0, {1, 2}, {}}, {kTerminal, {}, {}, 7}, {kTerminal, {}, {}, 5}}};
    for (const double exploration : {0.3, 1.0}) {
        std::array<double, 2> visits = {1, 1};
        for (int done = 2; done < 300; ++done) {
            const auto score = [&](std::size_t i) {
                return (i == 0 ? 1.0 : 0.0) + exploration * std::sqrt(std::log(done) / visits[i]);
            };
            ++visits[score(0) >= score(1) ? 0 : 1];
        }
        Control control;
        const auto moves = mcts(Places(rules), 300, exploration, 1, control);
        CHECK(control.done == 300 && moves.size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(moves[i].action == static_cast<Action>(i) && moves[i].visits == static_cast<std::int64_t>(visits[i]));
            CHECK(moves[i].value == (i == 0 ? 7 : 5));
        }
    }
}

TEST(mcts_wins_won_games_and_weighs_chance) {
    for (int stones = 5; stones < 12; ++stones) {
        if (stones % 4 == 0) continue;
        const Stones::Rules rules{stones, 2};
        Control control;
        const auto moves = mcts(Stones(rules), 4000, 0.7, 3, control);
        std::int64_t visits = 0;
        for (const auto& move : moves) {
            visits += move.visits;
            CHECK((move.visits > 2000) == (move.action == stones % 4));
            if (move.action == stones % 4) CHECK(move.value > 0.6);
        }
        CHECK(visits == 4000);
    }
    // A safe end worth 5, or chance: 10 in three cases of ten, else nothing; then the same for who wants the least.
    for (const int player : {0, 1}) {
        const Places::Rules rules{2,
                                  {{player, {1, 2}, {}},
                                   {kTerminal, {}, {}, 5},
                                   {kChance, {3, 4}, {0.3, 0.7}},
                                   {kTerminal, {}, {}, 10},
                                   {kTerminal, {}, {}, 0}}};
        Control control;
        const auto moves = mcts(Places(rules), 20'000, 2.0, 1, control);
        CHECK((moves[0].visits > moves[1].visits) == (player == 0));
        CHECK(std::abs(moves[0].value) == 5);
        CHECK(std::abs(moves[1].value - (player == 0 ? 3 : -3)) < 0.3 && moves[1].visits > 1000);
    }
    Control control;
    CHECK(refused([&] { mcts(Stones(Stones::Rules{0, 2}), 10, 1.0, 1, control); }));
}

TEST(random_games_do_not_depend_on_threads) {
    const Stones::Rules rules{30, 2};
    std::vector<std::int32_t> lengths(150), again(150);
    std::vector<Returns> returns(150), same(150);
    Control control;
    random_games(Stones(rules), 5, 1, std::span(lengths), std::span(returns), control);
    CHECK(control.done == 150);
    random_games(Stones(rules), 5, 3, std::span(again), std::span(same), control);
    CHECK(lengths == again && returns == same);
    double mean = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        CHECK(lengths[i] >= 10 && lengths[i] <= 30);
        CHECK(returns[i][0] == (lengths[i] % 2 ? 1 : -1));  // who took the last stone
        mean += lengths[i] / 150.0;
    }
    CHECK(mean > 14 && mean < 17);  // two stones a move, and some more moves at the end
    CHECK(std::set(lengths.begin(), lengths.end()).size() > 4);
    control.stop = true;
    random_games(Stones(rules), 5, 1, std::span(again), std::span(same), control);
    CHECK(std::count(again.begin(), again.end(), -1) == 150);
}

TEST(nested_searches_find_the_longest_game) {
    const Stones::Rules rules{12, 1};
    const Stones start(rules);
    const ActionList longest(12, 1);
    for (const int beam : {1, 3}) {
        Control control;
        double heard = 0;
        int times = 0;
        Nrpa<Stones> search(start, {2, 40, 1.0, beam}, 1, 0, control, [&](const Playout& game) {
            CHECK(game.score > heard);
            heard = game.score;
            ++times;
        });
        const Playout found = search.run();
        CHECK(found.score == 12 && found.actions == longest && heard == 12 && times > 0);
        CHECK(search.playouts() >= 40 * 40);
        CHECK(control.done == search.playouts());
    }
    // Games of so many stones are all different. A beam grows from one policy to two, and then to as many as fit: its
    // policies search, and what they had before stays in the choice.
    const Stones::Rules many{40, 1};
    const Stones long_game(many);
    for (const auto& [beam, searches] : {std::pair(1, 4), {2, 1 + 1 + 2 + 2}, {3, 1 + 1 + 2 + 3}, {9, 1 + 1 + 2 + 4}}) {
        Control control;
        Nrpa<Stones> search(long_game, {2, 4, 1.0, beam}, 1, 0, control, ignore);
        const Playout found = search.run();
        CHECK(search.playouts() == 4 * searches && found.score == static_cast<double>(found.actions.size()));
    }
    const auto allowed = [&](PolicySearchSettings settings, int players) {
        Control control;
        const Stones::Rules some{3, players};
        const Stones short_game(some);
        return !refused([&] { Nrpa<Stones>(short_game, settings, 1, 0, control, ignore).run(); });
    };
    CHECK(allowed({1, 1, 10.0, 64}, 1) && !allowed({1, 1, 1.0, 1}, 2));
    CHECK(!allowed({0, 1, 1.0, 1}, 1) && !allowed({9, 1, 1.0, 1}, 1) && allowed({8, 1, 1.0, 1}, 1));
    CHECK(!allowed({1, 0, 1.0, 1}, 1) && !allowed({1, 1, 1.0, 0}, 1) && !allowed({1, 1, 1.0, 65}, 1));
    CHECK(!allowed({1, 1, 0.0, 1}, 1) && !allowed({1, 1, 10.5, 1}, 1));
}

// Games are drawn with the given weights, and one adaptation is one step along the gradient of the logarithm of the
// probability: the move played gains alpha (1 - p), the other loses as much.
TEST(policies_are_followed_and_adapted) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    const ActionList actions = {0, 1};
    const std::vector<float> weights = {0.5f, -0.5f};
    const Places start(kTwoEnds);
    constexpr int kSearches = 20'000;
    for (const double alpha : {0.5, 1.0}) {
        const double first = sigmoid(1);
        const double expected =
            first * sigmoid(1 + 2 * alpha * (1 - first)) + (1 - first) * sigmoid(1 - 2 * alpha * first);
        std::array<int, 2> zeros{};
        for (int i = 0; i < kSearches; ++i) {
            for (const int iterations : {1, 2}) {
                Control control;
                Nrpa<Places> search(start, {1, iterations, alpha, 1}, 1, static_cast<std::uint64_t>(i), control,
                                    ignore);
                // Both ends are worth the same, so the last game is the one returned.
                zeros[static_cast<std::size_t>(iterations - 1)] += search.run(actions, weights, 0.0f).actions[0] == 0;
            }
        }
        CHECK(std::abs(zeros[0] - kSearches * first) < 5 * std::sqrt(kSearches / 4));
        CHECK(std::abs(zeros[1] - kSearches * expected) < 5 * std::sqrt(kSearches / 4));
    }
    // What the list leaves out has the other weight.
    const Stones::Rules rules{12, 1};
    const Stones stones(rules);
    Control control;
    const ActionList threes = {3}, ones = {1, 2};
    CHECK((Nrpa<Stones>(stones, {1, 1, 1.0, 1}, 1, 0, control, ignore).run(threes, std::vector<float>{9}, -9).actions ==
           ActionList{3, 3, 3, 3}));
    CHECK(
        (Nrpa<Stones>(stones, {1, 1, 1.0, 1}, 1, 0, control, ignore).run(ones, std::vector<float>{-9, -9}, 9).actions ==
         ActionList{3, 3, 3, 3}));
}

// A search of level n sees everything of a game of n moves.
TEST(nested_monte_carlo_search_is_exact_on_short_games) {
    Rng rng(2);
    for (int round = 0; round < 100; ++round) {
        Places::Rules rules{1, {}};
        double best = 0;
        for (int i = 0; i < 40; ++i) {  // three moves of three choices each
            rules.places.push_back({i < 13 ? 0 : kTerminal, {}, {}, static_cast<double>(rng.below(1000))});
            if (i < 13) rules.places.back().next = {3 * i + 1, 3 * i + 2, 3 * i + 3};
            if (i >= 13) best = std::max(best, rules.places.back().worth);
        }
        Control control;
        const Places start(rules);
        double heard = -1;
        Nmcs<Places> search(start, 1, 0, control, [&](const Playout& game) {
            CHECK(game.score > heard && game.actions.size() == 3);
            heard = game.score;
        });
        const Playout found = search.run(3);
        CHECK(found.score == best && heard == best && found.actions.size() == 3);
        Places state(rules);
        for (const Action action : found.actions) state.apply(action);
        CHECK(state.returns()[0] == best);
        CHECK(control.done == search.playouts() && search.playouts() >= 27);
        // One level: three games for the first move, three for the second, and the three last ends.
        Nmcs<Places> once(start, 1, 0, control, ignore);
        once.run(1);
        CHECK(once.playouts() == 9);
        CHECK(refused([&] { once.run(0); }) && refused([&] { once.run(6); }));
    }
    const Stones::Rules two{3, 2};
    Control control;
    CHECK(refused([&] { Nmcs<Stones>(Stones(two), 1, 0, control, ignore); }));
}
