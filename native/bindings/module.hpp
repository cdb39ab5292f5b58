// How a game's bindings reach the extension module: each file registers a function, so that no list names the games.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace rookery {

struct Binding {
    const char* game;  // the submodule of rookery._native
    int order;         // 0 for the states, which the signatures of other bindings mention
    void (*bind)(nanobind::module_& m);
};

std::vector<Binding>& bindings();

struct RegisterBinding {
    explicit RegisterBinding(const Binding& binding) { bindings().push_back(binding); }
};

// ROOKERY_BIND(name, 0) { ... } binds into the submodule `m` of rookery._native that has the name of the game.
#define ROOKERY_BIND(game, order)                                                              \
    static void game##_bind_##order(nanobind::module_& m);                                     \
    static const RegisterBinding game##_register_##order{{#game, order, game##_bind_##order}}; \
    static void game##_bind_##order([[maybe_unused]] nanobind::module_& m)

}  // namespace rookery
