#include "games/_2048/layers.hpp"

#include <cmath>
#include <map>

#include "tests/check.hpp"

using namespace rookery;

namespace {

// By recursion over every position, without symmetries.
double worth(const _2048::State& state, std::map<std::string, double>& known) {
    if (state.player() == kTerminal) return 0;
    const auto [at, is_new] = known.try_emplace(state.key(), 0);
    if (!is_new) return at->second;
    ActionList actions;
    ChanceList outcomes;
    double value = 0;
    if (state.player() == kChance) {
        state.chance_outcomes(outcomes);
        for (const auto& [outcome, probability] : outcomes) {
            _2048::State after = state;
            after.apply(outcome);
            value += probability * worth(after, known);
        }
    } else {
        state.legal_actions(actions);
        for (const Action action : actions) {
            _2048::State after = state;
            const double reward = apply_for_rewards(after, action)[0];
            value = std::max(value, reward + worth(after, known));
        }
    }
    return at->second = value;
}

}  // namespace

TEST(layers_of_2048_have_the_values_of_a_recursion) {
    for (const int threads : {1, 2}) {
        const _2048::Rules rules(2, 3);
        Control control;
        const _2048::Layers layers(_2048::State(rules), 1'000'000, 1'000'000'000, threads, control);
        std::map<std::string, double> known;
        const double expected = worth(_2048::State(rules), known);
        CHECK(std::abs(*layers.value(_2048::State(rules)) - expected) < 1e-9);
        CHECK(layers.keys().size() == 21752);
        CHECK(control.done == 21752);
    }
}

// The keys leave out the last of nine cells.
TEST(layers_of_2048_end_on_nine_cells) {
    const _2048::Rules rules(3, 3);
    const _2048::State start(rules, {1, 2, 3, 4, 5, 6, 7, 1, 1}, 0);
    Control control;
    const _2048::Layers layers(start, 1'000'000, 1'000'000'000, 2, control);
    std::map<std::string, double> known;
    CHECK(std::abs(*layers.value(start) - worth(start, known)) < 1e-9);
    CHECK(!layers.value(_2048::State(rules)));
}

TEST(layers_of_2048_refuse_what_does_not_fit) {
    const auto refused = [](int side, std::int64_t positions, std::int64_t bytes) {
        try {
            const _2048::Rules rules(side, side);
            Control control;
            _2048::Layers(_2048::State(rules), positions, bytes, 1, control);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(refused(3, 10'000, 1'000'000'000));
    CHECK(refused(3, 1'000'000'000, 100'000));
    CHECK(refused(4, 1'000'000'000, 1'000'000'000));
    CHECK(!refused(2, 110, 2'000));
}
