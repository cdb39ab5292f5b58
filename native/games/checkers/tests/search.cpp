#include "tests/check.hpp"
#include "games/checkers/td.hpp"
#include "games/checkers/matches.hpp"
#include "games/checkers/net_learner.hpp"

using namespace rookery;
using namespace rookery::testing;
using namespace rookery::checkers;

static const Rules kRules(3, 100, false);

// Random games' positions, each with the board turned round and the colours exchanged.
template <class Visit>
static void for_random_positions(int games, Visit&& visit) {
    for (int game = 0; game < games; ++game) {
        Rng rng(3, static_cast<std::uint64_t>(game));
        State state(kRules);
        while (state.player() != kTerminal) {
            const Position& p = state.position();
            const Position turned_p{{turned(p.pieces[1]), turned(p.pieces[0])}, turned(p.kings), 1 - p.side};
            visit(p, turned_p);
            state.apply(state.random_action(rng));
        }
    }
}

TEST(checkers_turned) {
    for (int square = 0; square < 32; ++square) CHECK(turned(Squares(1) << square) == Squares(1) << (31 - square));
    for_random_positions(20, [](const Position& p, const Position& q) {
        CHECK(seen_by_mover(p) == seen_by_mover(q));
        CHECK(find_starts(p).count() == find_starts(q).count());
    });
}

TEST(checkers_endgames_numbers) {
    const Database endgames(4);
    std::vector<bool> seen(endgames.size());
    std::size_t legal = 0;
    for (const auto& material : endgames.materials()) {
        for (std::size_t number = material.first; number < material.first + material.size; number += 7) {
            Position p;
            if (!endgames.position(material, number, p)) continue;
            check(p);
            CHECK(endgames.number(p) == number);
            CHECK(endgames.material(number).first == material.first);
            CHECK(!seen[number]);
            seen[number] = true;
            ++legal;
        }
    }
    CHECK(legal > endgames.size() / 10);
}

// Every value follows from those after the moves, which proves all of them.
TEST(checkers_endgames_of_three_pieces) {
    Control control;
    const auto endgames = solve_endgames(3, 2, control);
    CHECK(control.done == static_cast<std::int64_t>(2 * endgames->table.size()));
    for (const auto& material : endgames->materials()) {
        for (std::size_t number = material.first; number < material.first + material.size; ++number) {
            Position p;
            if (!endgames->position(material, number, p)) {
                CHECK(endgames->table[number] == Database::kUnused);
                continue;
            }
            BestOf best;
            for_each_action(p, find_starts(p), [&](Action action) { best.add(endgames->look_up(play(p, action))); });
            CHECK(endgames->table[number] == best.value());
        }
    }
}

TEST(checkers_patterns_do_not_know_colours) {
    std::vector<float> weights(Patterns::kWeights);
    Rng rng(1);
    for (float& weight : weights) weight = static_cast<float>(rng.uniform() - 0.5);
    const PatternValue value(weights);
    for_random_positions(30, [&](const Position& p, const Position& q) {
        CHECK(value(p) == value(q));
        int active = 0;
        Patterns::for_each(p, [&](std::uint32_t i) {
            CHECK(i < Patterns::kCount);
            ++active;
        });
        CHECK(active <= Patterns::kMostActive);
    });
}

// Worked by hand: a lost game of three plies, seen by the players in turn, with lambda one half.
TEST(checkers_td_targets) {
    std::vector<TdLearner::Step> steps(3);
    steps[0].found = 0.5f;
    steps[1].found = 0.25f;
    steps[2].found = 0.5f;
    TdLearner::set_targets(steps, 0.0, 0.5);
    CHECK(steps[2].target == 0.25f);                 // half of 0.5 and of 0
    CHECK(steps[1].target == 0.125f + 0.375f);       // half of 0.25 and of 1 - 0.25
    CHECK(steps[0].target == 0.25f + 0.25f);         // half of 0.5 and of 1 - 0.5
    steps[1].random = true;
    TdLearner::set_targets(steps, 0.0, 0.5);
    CHECK(steps[2].target == 0.25f);
    CHECK(steps[1].target == 0.25f);                 // what was found, for the move was not the best
    CHECK(steps[0].target == 0.25f + 0.375f);
    TdLearner::set_targets(steps, 1.0, 1.0);
    CHECK(steps[2].target == 1.0f);
}

TEST(checkers_td_learns_what_it_is_told) {
    TdLearner learner({3, 0.7, 0.05, 8});
    const Position p;
    double before = 1;
    for (int i = 0; i < 200; ++i) {
        const double error = learner.learn(p, 0.8f, 2.0);
        CHECK(error <= before);
        before = error;
    }
    CHECK(before < 1e-4);
    CHECK(std::abs(1 / (1 + std::exp(-Patterns::value(learner.weights.value.data(), p))) - 0.8) < 0.01);
}

TEST(checkers_td_threads) {
    TdLearner one({2, 0.7, 0.1, 8}), two({2, 0.7, 0.1, 8});
    Control control;
    for (int batch = 0; batch < 3; ++batch) {
        const auto a = one.train(State(kRules), 20 * batch, 20, 4.0, 5, 1, control);
        const auto b = two.train(State(kRules), 20 * batch, 20, 4.0, 5, 3, control);
        CHECK(a.learned == b.learned && a.games == 20);
    }
    CHECK(one.weights.value == two.weights.value);
}

// Far from zero on both sides, and other for every position, so that a value of another position shows.
struct CountedValue : Evaluation {
    mutable int asked = 0;
    Score operator()(const Position& p) const override {
        ++asked;
        return static_cast<Score>(hash(p) % (2 * kMaxEvaluation + 1)) - kMaxEvaluation;
    }
};

TEST(checkers_cached_values) {
    const CountedValue value, same;
    const Cached cached(value);
    int positions = 0;
    for_random_positions(200, [&](const Position& p, const Position& q) {
        CHECK(cached(p) == same(p));
        CHECK(cached(q) == same(q));
        const int asked = value.asked;
        CHECK(cached(q) == same(q));
        CHECK(value.asked == asked);
        positions += 2;
    });
    CHECK(value.asked > positions / 2);  // most positions are new
    CHECK(value.asked < positions);      // openings occur again
}

TEST(checkers_matches) {
    const auto material = std::make_shared<MaterialValue>();
    Control control;
    std::vector<MatchGame> games(20);
    play_match(State(kRules), {Player{3, material, nullptr}, Player{0, material, nullptr}}, 2, 1, 2, std::span(games),
               control);
    int points = 0;
    for (const auto& game : games) {
        CHECK(game.plies > 10);
        points += game.result;
    }
    CHECK(points >= 18);
}

// Every kind of limit and position, for the sanitizers.
TEST(checkers_engine) {
    Control control;
    const auto endgames = solve_endgames(3, 2, control);
    const NetLearner learner(1);
    const NetValue value(learner.weights());
    Engine engine(value, endgames.get(), 10);
    int games = 0;
    for_random_positions(12, [&](const Position& p, const Position& q) {
        if (std::popcount(p.pieces[0] | p.pieces[1]) % 3 != 0) return;
        CHECK(value(p) == value(q));
        const State state(kRules, p);
        const auto found = engine.best(state, {.nodes = 300}, control);
        CHECK(engine.nodes <= 300);
        State now = state;
        for (const Action action : found.line) {
            CHECK(now.is_legal(action));
            now.apply(action);
        }
        const auto [again, values] = engine.values(state, {.depth = 3}, control);
        CHECK(values.size() == state.count_legal());
        for (const auto& move : values) CHECK(move.score <= again.score);
        ++games;
    });
    CHECK(games > 50);
}

TEST(checkers_net_learns) {
    Control control;
    const auto material = std::make_shared<MaterialValue>();
    const auto examples = play_examples(State(kRules), *material, nullptr, {100, 0.9, 0.1, 6}, 0, 10, 3, 2, control);
    CHECK(examples.size() > 100);
    NetLearner learner(1);
    const double first = learner.learn(examples, 1, 32, 0.002, 1, 2, control);
    CHECK(learner.learn(examples, 20, 32, 0.002, 2, 2, control) < first);
}
