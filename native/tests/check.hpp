// A test is a function registered by TEST; CHECK reports what failed and goes on.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/control.hpp"
#include "core/state.hpp"
#include "search/perft.hpp"

namespace rookery::testing {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Register {
    Register(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

#define TEST(name)                                                        \
    static void name();                                                   \
    static const rookery::testing::Register register_##name{#name, name}; \
    static void name()

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ++rookery::testing::failures();                                     \
        }                                                                       \
    } while (false)

template <GameState S>
std::uint64_t count(const S& state, int depth) {
    Control control;
    return perft(state, depth, control);
}

// The planes of a state; a number that is not written stays 99.
template <class Plane, GameState S>
std::vector<Plane> observed(const S& state) {
    const Shape shape = state.rules().observation_shape();
    std::vector<Plane> planes(static_cast<std::size_t>(shape[0]) * shape[1] * shape[2], 99);
    state.observe(planes.data());
    return planes;
}

template <GameState S>
std::unique_ptr<bool[]> legal_mask(const S& state) {
    auto mask = std::make_unique<bool[]>(state.rules().num_actions());
    ActionList actions;
    state.legal_actions(actions);
    for (const Action action : actions) mask[action] = true;
    return mask;
}

// Plays random games and checks that the optional fast methods of a state agree with its list of actions.
template <GameState S>
void check_random_play(const S& start, int games, int max_length = 2000) {
    std::set<int> moved;
    for (int game = 0; game < games; ++game) {
        Rng rng(7, static_cast<std::uint64_t>(game));
        S state = start;
        for (int ply = 0; ply < max_length && state.player() != kTerminal; ++ply) {
            if (state.player() != kChance) moved.insert(state.player());
            ActionList actions;
            state.legal_actions(actions);
            Action action;
            [[maybe_unused]] const Rng before = rng;
            if (state.player() == kChance) {
                CHECK(actions.empty());
                action = sample_chance(state, rng);
            } else {
                CHECK(!actions.empty());
                CHECK(std::set<Action>(actions.begin(), actions.end()).size() == actions.size());
                for (const Action legal : actions) CHECK(legal >= 0 && legal < state.rules().num_actions());
                ActionList scratch;
                action = random_action(state, rng, scratch);
                CHECK(std::find(actions.begin(), actions.end(), action) != actions.end());
                CHECK(count(state, 1) == actions.size());
            }
            CHECK(is_legal(state, action));
            CHECK(!is_legal(state, -1));
            CHECK(!is_legal(state, state.rules().num_actions()));
            const auto planes = observed<float>(state);
            CHECK(std::find(planes.begin(), planes.end(), 99) == planes.end());
            if (!has_fractions(state.rules())) {
                const auto bytes = observed<std::uint8_t>(state);
                CHECK(std::equal(planes.begin(), planes.end(), bytes.begin(), bytes.end()));
            }
            if constexpr (requires(float* shown, bool* mask) { state.apply_shown(action, shown, mask); }) {
                S next = state;
                auto shown = planes;
                const auto mask = legal_mask(state);
                next.apply_shown(action, shown.data(), mask.get());
                CHECK(shown == observed<float>(next));
                const auto expected = legal_mask(next);
                CHECK(std::equal(mask.get(), mask.get() + state.rules().num_actions(), expected.get()));
            }
            S copy = state;
            CHECK(copy.key() == state.key());
            if constexpr (requires { copy.apply_random(rng); }) {
                Rng same = before;
                copy.apply_random(same);
            } else {
                copy.apply(action);
            }
            state.apply(action);
            CHECK(copy.key() == state.key());
        }
        if (state.player() == kTerminal) state.returns();
    }
    CHECK(!moved.empty() && *moved.begin() == 0);
    CHECK(*moved.rbegin() == start.rules().players() - 1);
}

// Whether something is refused as an argument that does not fit.
template <class Work>
bool refused(Work&& work) {
    try {
        work();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

}  // namespace rookery::testing
