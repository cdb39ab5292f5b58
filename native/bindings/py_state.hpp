// A game written in Python, seen as a state, so that it runs in every algorithm.
//
// What a position says (who moves, the legal actions, the returns) is asked once and remembered, with the positions that
// follow it: where an algorithm comes by again it runs at native speed, on all threads, and without the GIL.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <unordered_map>

#include "core/state.hpp"

namespace rookery {

namespace nb = nanobind;

struct PyRules {
    int players_;
    Action num_actions_;
    Shape observation_shape_;

    int players() const { return players_; }
    Action num_actions() const { return num_actions_; }
    Shape observation_shape() const { return observation_shape_; }
};

// A position as Python described it. Its object is never changed while others may look at it.
struct PyPosition {
    nb::object object;
    int player = kTerminal;
    ActionList actions;  // legal, or the outcomes of chance
    std::vector<double> probabilities;
    Returns returns{}, rewards{};
    // Those that follow, by number of the action; null until met. Only positions that are remembered have them.
    std::unique_ptr<std::atomic<PyPosition*>[]> after;
    // Written under the GIL, each before its flag.
    std::vector<float> planes;
    std::string key;
    std::atomic<bool> has_planes{false}, has_key{false};

    // Asks the object, under the GIL.
    void describe(int players, bool own_rewards) {
        player = nb::cast<int>(object.attr("player")());
        actions.clear();
        probabilities.clear();
        if (player == kChance) {
            const nb::object outcomes = object.attr("chance_outcomes")();
            for (nb::handle outcome : outcomes) {
                const auto [action, probability] = nb::cast<std::pair<Action, double>>(outcome);
                actions.push_back(action);
                probabilities.push_back(probability);
            }
        } else if (player != kTerminal) {
            const nb::object list = object.attr("legal_actions")();
            for (nb::handle action : list) actions.push_back(nb::cast<Action>(action));
        }
        returns = player == kTerminal ? numbers("returns", players) : Returns{};
        rewards = own_rewards ? numbers("rewards", players) : returns;
        has_planes = has_key = false;
    }

private:
    // What a method of the object gives, one number per player.
    Returns numbers(const char* method, int players) const {
        const auto values = nb::cast<std::vector<double>>(object.attr(method)());
        if (static_cast<int>(values.size()) != players) {
            throw nb::value_error((std::string(method) + "() must give one number per player").c_str());
        }
        Returns result{};
        std::copy(values.begin(), values.end(), result.begin());
        return result;
    }
};

// The positions that are remembered. Equal keys are one position, unless the rules look back or the score counts: then
// positions are told apart by how they came about.
class PyPositions {
public:
    PyPositions(const nb::object& game, const nb::object& state, std::size_t most) : most_(most) {
        const auto shape = nb::cast<std::vector<int>>(nb::list(game.attr("observation_shape")));
        int size = 1;
        for (const int side : shape) size *= side;
        rules.players_ = nb::cast<int>(game.attr("players"));
        rules.num_actions_ = nb::cast<Action>(game.attr("num_actions"));
        rules.observation_shape_ = shape.size() == 3 ? Shape{shape[0], shape[1], shape[2]} : Shape{1, 1, size};
        if (rules.players_ < 1 || rules.players_ > 2) throw nb::value_error("a game has 1 or 2 players");
        const nb::object base = nb::module_::import_("rookery.game").attr("State");
        own_rewards = !nb::object(state.type().attr("rewards")).is(base.attr("rewards"));
        by_key_ = !own_rewards && !nb::cast<bool>(nb::getattr(game, "history_matters", nb::bool_(false)));
    }

    // Under the GIL: remembers a position, or finds the one with the same key. Null if there is no room.
    PyPosition* remember(std::unique_ptr<PyPosition>& position) {
        PyPosition** place = nullptr;
        if (by_key_) {
            const auto bytes = nb::cast<nb::bytes>(position->object.attr("key")());
            position->key.assign(bytes.c_str(), bytes.size());
            position->has_key = true;
            if (const auto found = index_.find(position->key); found != index_.end()) return found->second;
            if (!full()) place = &index_[position->key];
        }
        if (full()) return nullptr;
        const std::size_t count = position->actions.size();
        position->after = std::make_unique<std::atomic<PyPosition*>[]>(count);
        for (std::size_t i = 0; i < count; ++i) position->after[i] = nullptr;
        all_.push_back(std::move(position));
        if (place) *place = all_.back().get();
        return all_.back().get();
    }

    bool full() const { return all_.size() >= most_; }

    PyRules rules;
    bool own_rewards = false;  // does the game say what each step earns?

private:
    std::size_t most_;
    bool by_key_ = false;
    std::vector<std::unique_ptr<PyPosition>> all_;
    std::unordered_map<std::string, PyPosition*> index_;
};

// Algorithms run without the GIL: what talks to Python takes it.
class PyState {
public:
    using Rules = PyRules;

    explicit PyState(const Rules&) { throw std::logic_error("a Python game makes its own initial state"); }

    static constexpr std::size_t kRemembered = 250'000;  // about 0.2 GB, the objects of a small game included

    explicit PyState(nb::object state, std::size_t remembered = kRemembered)
        : positions_(new PyPositions(state.attr("game"), state, remembered), [](PyPositions* positions) {
              nb::gil_scoped_acquire gil;
              delete positions;
          }) {
        adopt(nb::object(state.attr("clone")()));
    }

    // Another position of the same game; what is remembered is shared.
    PyState(nb::object state, const PyState& like) : positions_(like.positions_) {
        adopt(nb::object(state.attr("clone")()));
    }

    const Rules& rules() const { return positions_->rules; }

    // A copy of the Python state, under the GIL.
    nb::object object() const { return nb::object(position_->object.attr("clone")()); }

    int player() const { return position_->player; }

    void legal_actions(ActionList& actions) const {
        if (position_->player < 0) return;
        actions.insert(actions.end(), position_->actions.begin(), position_->actions.end());
    }

    bool is_legal(Action action) const { return find(action) < position_->actions.size(); }

    void chance_outcomes(ChanceList& outcomes) const {
        for (std::size_t i = 0; i < position_->probabilities.size(); ++i) {
            outcomes.emplace_back(position_->actions[i], position_->probabilities[i]);
        }
    }

    void apply(Action action) {
        const std::size_t number = find(action);
        const bool legal = number < position_->actions.size();
        if (legal && position_->after) {
            if (PyPosition* known = position_->after[number].load(std::memory_order_acquire)) {
                position_ = std::shared_ptr<PyPosition>(positions_, known);
                return;
            }
        }
        nb::gil_scoped_acquire gil;
        if (!position_->after && legal && position_.use_count() == 1) {  // nobody else looks at it: no copy is needed
            position_->object.attr("apply")(action);
            position_->describe(rules().players(), positions_->own_rewards);
            return;
        }
        nb::object next = position_->object.attr("clone")();
        next.attr("apply")(action);
        const std::shared_ptr<PyPosition> before = position_;
        adopt(std::move(next));
        if (before->after && position_->after) before->after[number].store(position_.get(), std::memory_order_release);
    }

    Returns returns() const { return position_->returns; }

    // Of the last step.
    Returns rewards() const { return position_->rewards; }

    std::string key() const {
        if (!position_->has_key.load(std::memory_order_acquire)) {
            nb::gil_scoped_acquire gil;
            if (!position_->has_key) {
                const auto bytes = nb::cast<nb::bytes>(position_->object.attr("key")());
                position_->key.assign(bytes.c_str(), bytes.size());
                position_->has_key.store(true, std::memory_order_release);
            }
        }
        return position_->key;
    }

    template <class Plane>
    void observe(Plane* planes) const {
        if (!position_->has_planes.load(std::memory_order_acquire)) {
            nb::gil_scoped_acquire gil;
            if (!position_->has_planes) {
                const nb::object array = nb::module_::import_("numpy").attr("ascontiguousarray")(
                    position_->object.attr("observation")(), "float32");
                const auto data = nb::cast<nb::ndarray<const float, nb::c_contig, nb::device::cpu>>(array);
                const Shape shape = rules().observation_shape();
                if (static_cast<int>(data.size()) != shape[0] * shape[1] * shape[2]) {
                    throw nb::value_error("observation() must have the shape that the game names");
                }
                position_->planes.assign(data.data(), data.data() + data.size());
                position_->has_planes.store(true, std::memory_order_release);
            }
        }
        for (std::size_t i = 0; i < position_->planes.size(); ++i) {
            planes[i] = static_cast<Plane>(position_->planes[i]);
            if (!std::is_same_v<Plane, float> && static_cast<float>(planes[i]) != position_->planes[i]) {
                throw nb::value_error("this game's observations are not whole numbers from 0 to 255; use float32");
            }
        }
    }

private:
    // The number of an action of this position; as many as there are if it is none of them.
    std::size_t find(Action action) const {
        const ActionList& actions = position_->actions;
        return static_cast<std::size_t>(std::find(actions.begin(), actions.end(), action) - actions.begin());
    }

    // Under the GIL.
    void adopt(nb::object object) {
        auto position = std::make_unique<PyPosition>();
        position->object = std::move(object);
        position->describe(rules().players(), positions_->own_rewards);
        if (PyPosition* kept = positions_->remember(position)) {
            position_ = std::shared_ptr<PyPosition>(positions_, kept);
        } else {
            position_ = std::shared_ptr<PyPosition>(position.release(), [](PyPosition* own) {
                nb::gil_scoped_acquire gil;
                delete own;
            });
        }
    }

    std::shared_ptr<PyPositions> positions_;
    std::shared_ptr<PyPosition> position_;
};

}  // namespace rookery
