#include "games/checkers/rules.hpp"

#include <cmath>
#include <map>

#include "tests/check.hpp"

using namespace rookery;
using namespace rookery::testing;
using checkers::Position;
using checkers::Rules;
using checkers::Squares;
using checkers::State;

static Squares squares(std::initializer_list<int> numbers) {
    Squares set = 0;
    for (const int number : numbers) set |= Squares(1) << (number - 1);
    return set;
}

// A White king on square 1 before all nine pieces that a chain from there can take.
static const Position kNine = {{squares({6, 7, 8, 14, 15, 16, 22, 23, 24}), squares({1})}, squares({1}), 1};

// The same nine before two kings that have more captures between them than random_action remembers.
static const Position kMany = {{kNine.pieces[0], squares({10, 11})}, squares({10, 11}), 1};

TEST(checkers_perft) {
    const Rules rules(3, 100, false);
    const std::array<std::uint64_t, 8> start = {7, 49, 302, 1469, 7361, 36768, 179740, 845931};
    for (int depth = 1; depth <= 8; ++depth) CHECK(count(State(rules), depth) == start[depth - 1]);
    const Position kings = {
        {squares({12, 16, 20, 22, 25, 29}), squares({18, 24, 27, 28, 10, 15})}, squares({10, 15, 22, 25, 29}), 0};
    const std::array<std::uint64_t, 6> with_kings = {5, 38, 178, 1378, 5836, 40745};
    for (int depth = 1; depth <= 6; ++depth) CHECK(count(State(rules, kings), depth) == with_kings[depth - 1]);
}

TEST(checkers_random_play) {
    check_random_play(State(Rules(3, 100, false)), 60);
    check_random_play(State(Rules(3, 0, true)), 60);
    const Rules no_draws(0, 0, false);
    check_random_play(State(no_draws), 20);
    check_random_play(State(no_draws, kMany), 20);
}

TEST(checkers_random_actions_are_uniform) {
    const Rules rules(3, 100, false);
    for (const Position& position : {Position{}, kNine, kMany}) {
        const State state(rules, position);
        ActionList actions;
        state.legal_actions(actions);
        std::map<Action, int> drawn;
        Rng rng(3);
        const int draws = 2000 * static_cast<int>(actions.size());
        for (int i = 0; i < draws; ++i) ++drawn[state.random_action(rng)];
        CHECK(drawn.size() == actions.size());
        for (const auto& [action, times] : drawn) CHECK(std::abs(times - 2000) < 6 * std::sqrt(2000.0));
    }
}

TEST(checkers_numbers_of_actions) {
    ActionList actions;
    State(Rules(0, 0, false), kMany).legal_actions(actions);
    CHECK(actions.size() > 16);
    State(Rules(0, 0, false), kNine).legal_actions(actions);
    for (const Action action : actions) {
        const checkers::Move move = checkers::decode(action);
        CHECK(move.path.size() == move.captured.size() + 1);
        CHECK(checkers::encode(move.path) == action);
    }
    CHECK(checkers::kNumActions == 1426);
}

TEST(checkers_illegal_actions_stay_in_bounds) {
    const Rules rules(3, 100, false);
    Rng rng(5);
    for (int i = 0; i < 20'000; ++i) {
        State state(rules);
        for (int ply = 0; ply < 4; ++ply) {
            state.apply(static_cast<Action>(rng.below(checkers::kNumActions)));
            state.is_legal(static_cast<Action>(rng.next()));
            state.count_legal();
        }
    }
}

TEST(checkers_hash_tells_positions_apart) {
    std::set<std::uint64_t> hashes;
    std::set<std::string> keys;
    const Rules rules(3, 100, false);
    for (int game = 0; game < 200; ++game) {
        Rng rng(9, static_cast<std::uint64_t>(game));
        for (State state(rules); state.player() != kTerminal; state.apply(state.random_action(rng))) {
            hashes.insert(checkers::hash(state.position()));
            keys.insert(state.key());
        }
    }
    CHECK(hashes.size() == keys.size());
}

TEST(checkers_refuses_bad_positions) {
    const Rules rules(3, 100, false);
    const auto refused = [&](const Position& position) {
        try {
            State(rules, position);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused({{squares({9}), squares({9})}, 0, 0}));
    CHECK(refused({{0, 0}, 0, 0}));
    CHECK(refused({{squares({9}), squares({10})}, squares({11}), 0}));
    CHECK(refused({{squares({9}), squares({10})}, 0, 2}));
    CHECK(refused({{squares({29}), squares({10})}, 0, 0}));
    CHECK(refused({{squares({9}), squares({4})}, 0, 0}));
    CHECK(refused({{0x00001fff, 0}, 0, 0}));
    CHECK(!refused({{squares({29}), squares({4})}, squares({4, 29}), 1}));
}
