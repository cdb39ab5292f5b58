// The extension module rookery._native: one submodule per game, and the adapter for games written in Python.
#include "bindings/module.hpp"

#include <algorithm>
#include <cstring>

#include "bindings/bind_game.hpp"
#include "bindings/py_state.hpp"

namespace rookery {

std::vector<Binding>& bindings() {
    static std::vector<Binding> all;
    return all;
}

static void bind_control(nb::module_& m) {
    nb::class_<Control>(m, "Control", "Watches and stops one long native call from another thread.")
        .def(nb::init<>())
        .def(
            "stop", [](Control& self) { self.stop = true; }, "Ask the call to return what it has.")
        .def("add", &Control::add, "count"_a, "Count work that is finished.")
        .def_prop_ro("stopped", &Control::stopped)
        .def_prop_ro("done", [](const Control& self) { return self.done.load(); }, "Units of work finished so far.");
}

static void bind_python_games(nb::module_& m) {
    using H = Handle<PyState>;
    nb::class_<H> state(m, "PyState", "Lets a state written in Python run in the native algorithms.");
    state.def(
        "__init__",
        [](H* self, nb::object object, std::size_t remembered) {
            new (self) H{nb::none(), PyState(object, remembered)};
        },
        "state"_a, "remembered"_a = PyState::kRemembered,
        "Positions are asked once, as long as no more are remembered.");
    state.def(
        "with_state", [](const H& self, nb::object object) { return H{nb::none(), PyState(object, self.state)}; },
        "state"_a, "Another position of the same game, which shares what is remembered.");
    bind_algorithms(state);
    bind_policy_searches(state);
    bind_vector<float>(state, "Vector");
    bind_vector<std::uint8_t>(state, "ByteVector");
    bind_many_games(state);
    bind_puct(state);
}

NB_MODULE(_native, m) {
    // Tables and states that live until the interpreter ends (in caches, tracebacks) are no leaks.
    nb::set_leak_warnings(false);
    m.attr("ARCH") = ROOKERY_ARCH;  // the value of -march; empty for the compiler's default
    m.attr("CHANCE") = kChance;
    m.attr("TERMINAL") = kTerminal;
    bind_control(m);
    bind_q_table(m);
    bind_tuple_net(m);
    bind_solved(m);
    bind_python_games(m);
    std::sort(bindings().begin(), bindings().end(), [](const Binding& a, const Binding& b) {
        const int names = std::strcmp(a.game, b.game);
        return names != 0 ? names < 0 : a.order < b.order;
    });
    for (const Binding& binding : bindings()) {
        nb::module_ game = m.def_submodule(binding.game);
        binding.bind(game);
    }
}

}  // namespace rookery
