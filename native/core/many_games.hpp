// Many positions at once, in the form a net takes them: planes side by side, legal actions in one list.
#pragma once

#include <span>

#include "core/parallel.hpp"
#include "core/state.hpp"

namespace rookery {

// Row i of `planes` is position i; its legal actions are `actions[offsets[i]] .. actions[offsets[i + 1]]`.
struct NetInput {
    std::vector<float> planes;
    std::vector<std::int64_t> offsets;
    ActionList actions;
};

inline std::size_t volume(const Shape& shape) { return static_cast<std::size_t>(shape[0]) * shape[1] * shape[2]; }

// `get(i)` is the state of position i, 0 <= i < count.
template <GameState S, class Get>
NetInput net_input(const typename S::Rules& rules, std::int64_t count, int threads, Get&& get) {
    const std::size_t size = volume(rules.observation_shape());
    NetInput input;
    input.planes.resize(static_cast<std::size_t>(count) * size);
    input.offsets.resize(static_cast<std::size_t>(count) + 1);
    constexpr std::int64_t kBlock = 64;
    const std::int64_t blocks = (count + kBlock - 1) / kBlock;
    std::vector<ActionList> actions(static_cast<std::size_t>(blocks));
    parallel_blocks(blocks, threads, [&](std::int64_t block) {
        for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) {
            get(i).observe(input.planes.data() + static_cast<std::size_t>(i) * size);
            get(i).legal_actions(actions[block]);
            input.offsets[i + 1] = static_cast<std::int64_t>(actions[block].size());  // within the block
        }
    });
    for (std::int64_t block = 0; block < blocks; ++block) {
        const auto before = static_cast<std::int64_t>(input.actions.size());
        for (std::int64_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i)
            input.offsets[i + 1] += before;
        input.actions.insert(input.actions.end(), actions[block].begin(), actions[block].end());
    }
    return input;
}

// Games played side by side from one position, move by move. A game without chance.
template <GameState S>
class ManyGames {
public:
    ManyGames(const S& start, std::int64_t games)
        : states_(static_cast<std::size_t>(games), start), histories_(static_cast<std::size_t>(games)) {
        find_live();
    }

    // The games in which somebody is to move, in order.
    const std::vector<std::int32_t>& live() const { return live_; }

    NetInput observe(int threads) const {
        return net_input<S>(states_.front().rules(), static_cast<std::int64_t>(live_.size()), threads,
                            [&](std::int64_t i) -> const S& { return states_[live_[i]]; });
    }

    // One action for each live game.
    void apply(std::span<const Action> actions) {
        if (actions.size() != live_.size()) throw std::invalid_argument("expected one action for each live game");
        for (std::size_t i = 0; i < actions.size(); ++i) {
            if (!is_legal(states_[live_[i]], actions[i])) {
                throw std::invalid_argument("action " + std::to_string(actions[i]) + " is not legal in game " +
                                            std::to_string(live_[i]));
            }
        }
        for (std::size_t i = 0; i < actions.size(); ++i) {
            states_[live_[i]].apply(actions[i]);
            histories_[live_[i]].push_back(actions[i]);
        }
        find_live();
    }

    const std::vector<ActionList>& histories() const { return histories_; }
    const std::vector<S>& states() const { return states_; }

private:
    void find_live() {
        live_.clear();
        for (std::size_t i = 0; i < states_.size(); ++i) {
            const int player = states_[i].player();
            if (player == kChance) throw std::invalid_argument("games with chance are not played side by side");
            if (player != kTerminal) live_.push_back(static_cast<std::int32_t>(i));
        }
    }

    std::vector<S> states_;
    std::vector<ActionList> histories_;
    std::vector<std::int32_t> live_;
};

}  // namespace rookery
