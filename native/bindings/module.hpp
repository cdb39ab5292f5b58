// One function a game or family of tables, each in its own file so that they compile in parallel.
#pragma once

#include <nanobind/nanobind.h>

namespace rookery {

void bind_solitaire_chess(nanobind::module_& m);
void bind_checkers(nanobind::module_& m);
void bind_checkers_q(nanobind::module_& m);
void bind_checkers_strong(nanobind::module_& m);
void bind_chess_endgame(nanobind::module_& m);
void bind_endgame_tables(nanobind::module_& m);
void bind_perfect_endgames(nanobind::module_& m);
void bind_morpion(nanobind::module_& m);
void bind_endgame_q(nanobind::module_& m);
void bind_tenten(nanobind::module_& m);
void bind_tenten_learn(nanobind::module_& m);
void bind_tenten_exact(nanobind::module_& m);

}  // namespace rookery
