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

static Action step(int from, int to) { return checkers::encode({from - 1, to - 1}); }

// Two kings that walk to and fro in their corners.
TEST(checkers_draws) {
    const Position kings = {{squares({1}), squares({32})}, squares({1, 32}), 0};
    const std::array<Action, 4> round = {step(1, 6), step(32, 27), step(6, 1), step(27, 32)};
    const auto plies_until_drawn = [&](const Rules& rules) {
        State state(rules, kings);
        int plies = 0;
        while (state.player() != kTerminal) {
            CHECK(state.player() == plies % 2 && state.is_legal(round[plies % 4]));
            CHECK(state.occurrences() == (rules.repetition() ? 1 + plies / 4 : 1));
            CHECK(state.quiet_plies() == plies && state.reversible_plies() == plies);
            CHECK(static_cast<int>(state.earlier().size()) == (rules.repetition() ? plies : 0));
            state.apply(round[plies++ % 4]);
        }
        CHECK((state.returns() == Returns{0, 0}) && state.count_legal() == 0 && !state.is_legal(round[plies % 4]));
        ActionList actions;
        state.legal_actions(actions);
        CHECK(actions.empty());
        State again = state;
        again.forget_history();
        CHECK(again.player() == plies % 2 && again.quiet_plies() == 0 && again.reversible_plies() == 0);
        CHECK(again.occurrences() == 1 && again.key() == state.key());
        return plies;
    };
    CHECK(plies_until_drawn(Rules(2, 0, false)) == 4);
    CHECK(plies_until_drawn(Rules(3, 0, false)) == 8);
    CHECK(plies_until_drawn(Rules(0, 10, false)) == 10);
    CHECK(plies_until_drawn(Rules(0, 0, true)) == 80);
    CHECK(plies_until_drawn(Rules(3, 5, true)) == 5);
    CHECK(plies_until_drawn(Rules(0, 0, false)) == Rules::kMaxQuiet);
    const auto refused = [](int repetition, int quiet) {
        try {
            Rules(repetition, quiet, false);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(1, 0) && refused(-1, 0) && refused(101, 0) && refused(0, -1) && refused(0, 100'001));
    CHECK(!refused(0, 0) && !refused(2, 1) && !refused(100, 100'000));
}

// A man's step ends what can be repeated, but is quiet; a capture is neither.
TEST(checkers_counters) {
    const Rules rules(3, 100, true);
    State state(rules, {{squares({3, 10}), squares({32, 19})}, squares({3, 32}), 0});
    state.apply(step(3, 8));
    state.apply(step(32, 27));
    CHECK(state.quiet_plies() == 2 && state.reversible_plies() == 2 && state.earlier().size() == 2);
    state.apply(step(10, 15));
    CHECK(state.quiet_plies() == 3 && state.reversible_plies() == 0 && state.earlier().empty());
    ActionList actions;
    state.legal_actions(actions);
    CHECK((actions == ActionList{checkers::encode({18, 9})}));  // 19 takes 15 and lands on 10, as it must
    state.apply(actions[0]);
    CHECK(state.quiet_plies() == 0 && state.reversible_plies() == 0);
    CHECK((state.position() == Position{{squares({8}), squares({27, 10})}, squares({8, 27}), 0}));
}

TEST(checkers_who_cannot_move_has_lost) {
    const Rules rules(3, 100, false);
    const State none(rules, {{squares({9}), 0}, 0, 1}), black(rules, {{0, squares({9})}, 0, 0});
    CHECK(none.player() == kTerminal && (none.returns() == Returns{1, -1}));
    CHECK(black.player() == kTerminal && (black.returns() == Returns{-1, 1}));
    const State blocked(rules, {{squares({12}), squares({16, 19})}, 0, 0});
    CHECK(blocked.player() == kTerminal && (blocked.returns() == Returns{-1, 1}));
}

// Square n stands in row (n - 1) / 4; the first of even rows is in column 1, that of odd rows in column 0.
TEST(checkers_planes_and_material) {
    const Position position = {{squares({1, 12, 14}), squares({7, 21, 32})}, squares({14, 7, 32}), 1};
    const State state(Rules(3, 100, false), position);
    const auto planes = observed<float>(state);
    CHECK(planes.size() == 5 * 64);
    std::set<int> expected;
    const auto add = [&](int plane, int number) {
        const int row = (number - 1) / 4, column = (number - 1) % 4 * 2 + (row % 2 == 0);
        expected.insert(plane * 64 + row * 8 + column);
    };
    add(0, 1), add(0, 12), add(1, 14), add(2, 21), add(3, 7), add(3, 32);
    for (int i = 0; i < 64; ++i) expected.insert(4 * 64 + i);
    for (int i = 0; i < 5 * 64; ++i) CHECK(planes[i] == expected.contains(i));
    CHECK(observed<float>(State(Rules(3, 100, false)))[4 * 64] == 0);
    // A king is worth a man and a half: 2 men and a king of Black against a man and 2 kings of White, 3.5 and 4.
    CHECK(std::abs(state.evaluate(1) - 0.99 * 0.5 / 7.5) < 1e-12);
    CHECK(state.evaluate(0) == -state.evaluate(1));
}

TEST(checkers_squares_of_actions) {
    for (Action action = 0; action < checkers::kNumActions; ++action) {
        const checkers::Move move = checkers::decode(action);
        CHECK(checkers::encode(move.path) == action);
        CHECK(move.captured.size() == (action < checkers::kFirstCapture ? 0 : move.path.size() - 1));
        for (std::size_t i = 0; i + 1 < move.path.size(); ++i) {
            const auto row = [](int square) { return square / 4; };
            const auto column = [](int square) { return square % 4 * 2 + (square / 4 % 2 == 0); };
            const int a = move.path[i], b = move.path[i + 1], far = action < checkers::kFirstCapture ? 1 : 2;
            CHECK(std::abs(row(a) - row(b)) == far && std::abs(column(a) - column(b)) == far);
            if (far == 1) continue;
            const int over = move.captured[i];
            CHECK(2 * row(over) == row(a) + row(b) && 2 * column(over) == column(a) + column(b));
        }
    }
    using rookery::testing::refused;
    CHECK(refused([] { checkers::decode(-1); }) && refused([] { checkers::decode(1426); }));
    CHECK(refused([] { checkers::encode({0}); }) && refused([] { checkers::encode({}); }));
    CHECK(refused([] { checkers::encode({0, 32}); }) && refused([] { checkers::encode({-1, 5}); }));
    CHECK(refused([] { checkers::encode({0, 1}); }) && refused([] { checkers::encode({0, 5, 10}); }));
    CHECK(refused([] { checkers::encode({0, 9, 0}); }));  // over the same piece twice
}
