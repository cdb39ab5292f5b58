// A game written in Python, seen as a state: it runs in every algorithm, at the speed of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "core/state.hpp"

namespace rookery {

namespace nb = nanobind;

struct PyRules {
    int players_;
    Action num_actions_;
    int observation_size_;

    int players() const { return players_; }
    Action num_actions() const { return num_actions_; }
    Shape observation_shape() const { return {1, 1, observation_size_}; }
};

// Every method takes the GIL, because algorithms run without it. The object is owned here and never shared: copying
// clones it.
class PyState {
public:
    using Rules = PyRules;

    explicit PyState(const Rules&) { throw std::logic_error("a Python game makes its own initial state"); }

    explicit PyState(nb::object state) : object_(nb::cast<nb::object>(state.attr("clone")())) {
        const nb::object game = state.attr("game");
        rules_ = std::make_shared<const Rules>(nb::cast<int>(game.attr("players")),
                                               nb::cast<Action>(game.attr("num_actions")),
                                               nb::cast<int>(nb::module_::import_("math").attr("prod")(
                                                   game.attr("observation_shape"))));
        if (rules_->players_ < 1 || rules_->players_ > 2) throw nb::value_error("a game has 1 or 2 players");
    }

    PyState(const PyState& other) : rules_(other.rules_) {
        nb::gil_scoped_acquire gil;
        object_ = nb::cast<nb::object>(other.object_.attr("clone")());
    }
    PyState(PyState&& other) noexcept : rules_(std::move(other.rules_)) {
        nb::gil_scoped_acquire gil;
        object_ = std::move(other.object_);
    }
    PyState& operator=(const PyState& other) {
        if (this != &other) {
            nb::gil_scoped_acquire gil;
            rules_ = other.rules_;
            object_ = nb::cast<nb::object>(other.object_.attr("clone")());
        }
        return *this;
    }
    PyState& operator=(PyState&& other) noexcept {
        nb::gil_scoped_acquire gil;
        rules_ = std::move(other.rules_);
        object_ = std::move(other.object_);
        return *this;
    }
    ~PyState() {
        nb::gil_scoped_acquire gil;
        object_.reset();
    }

    const Rules& rules() const { return *rules_; }

    const nb::object& object() const { return object_; }

    int player() const {
        nb::gil_scoped_acquire gil;
        return nb::cast<int>(object_.attr("player")());
    }

    void legal_actions(ActionList& actions) const {
        nb::gil_scoped_acquire gil;
        const nb::object list = object_.attr("legal_actions")();
        for (nb::handle action : list) actions.push_back(nb::cast<Action>(action));
    }

    void chance_outcomes(ChanceList& outcomes) const {
        nb::gil_scoped_acquire gil;
        const nb::object list = object_.attr("chance_outcomes")();
        for (nb::handle outcome : list) outcomes.push_back(nb::cast<std::pair<Action, double>>(outcome));
    }

    void apply(Action action) {
        nb::gil_scoped_acquire gil;
        object_.attr("apply")(action);
    }

    Returns returns() const { return numbers("returns"); }

    // Of the last step.
    Returns rewards() const { return numbers("rewards"); }

    std::string key() const {
        nb::gil_scoped_acquire gil;
        const auto bytes = nb::cast<nb::bytes>(object_.attr("key")());
        return std::string(bytes.c_str(), bytes.size());
    }

    template <class Plane>
    void observe(Plane* planes) const {
        nb::gil_scoped_acquire gil;
        const nb::object array =
            nb::module_::import_("numpy").attr("ascontiguousarray")(object_.attr("observation")(), "float32");
        const auto data = nb::cast<nb::ndarray<const float, nb::c_contig, nb::device::cpu>>(array);
        if (static_cast<int>(data.size()) != rules_->observation_size_) {
            throw nb::value_error("observation() must have the shape that the game names");
        }
        for (std::size_t i = 0; i < data.size(); ++i) {
            planes[i] = static_cast<Plane>(data.data()[i]);
            if (static_cast<float>(planes[i]) != data.data()[i] && !std::is_same_v<Plane, float>) {
                throw nb::value_error("this game's observations are not whole numbers from 0 to 255; use float32");
            }
        }
    }

private:
    // What a method of the object gives, one number per player.
    Returns numbers(const char* method) const {
        nb::gil_scoped_acquire gil;
        const auto values = nb::cast<std::vector<double>>(object_.attr(method)());
        if (static_cast<int>(values.size()) != rules_->players_) {
            throw nb::value_error((std::string(method) + "() must give one number per player").c_str());
        }
        Returns result{};
        std::copy(values.begin(), values.end(), result.begin());
        return result;
    }

    nb::object object_;
    std::shared_ptr<const Rules> rules_;
};

}  // namespace rookery
