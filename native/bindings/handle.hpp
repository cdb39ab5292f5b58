// A state as Python holds it, and what bindings share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "core/control.hpp"
#include "core/state.hpp"

namespace rookery {

namespace nb = nanobind;
using namespace nb::literals;

// A state as Python holds it: the Python game keeps alive the rules the state points to, and the state remembers how it
// came about.
template <GameState S>
struct Handle {
    nb::object game;
    S state;
    // Where the history begins, shared with the clones; null as long as that is `state` itself.
    mutable std::shared_ptr<const S> start = nullptr;
    ActionList actions = {};  // applied since then
    double gained = 0;        // by the last of them, in games with a score

    const S& first() const { return start ? *start : state; }

    void keep_start() const {
        if (!start) start = std::make_shared<const S>(state);
    }

    void apply(Action action) {
        keep_start();
        if constexpr (requires { state.score(); }) {
            const auto before = state.score();
            state.apply(action);
            gained = static_cast<double>(state.score() - before);
        } else {
            state.apply(action);
        }
        actions.push_back(action);
    }
};

// A numpy array that owns `data`.
template <class T>
nb::ndarray<nb::numpy, T> to_numpy(std::vector<T>&& data, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(data));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), shape, owner);
}

// A caller that wants neither progress nor a way to stop passes None.
struct ControlOrNone {
    Control own;
    Control& control;
    explicit ControlOrNone(Control* given) : control(given ? *given : own) {}
};

}  // namespace rookery
