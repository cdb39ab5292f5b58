// One function a game, each in its own file so that they compile in parallel.
#pragma once

#include <nanobind/nanobind.h>

namespace rookery {

void bind_tenten(nanobind::module_& m);
void bind_tenten_exact(nanobind::module_& m);

}  // namespace rookery
