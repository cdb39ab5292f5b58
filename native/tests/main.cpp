#include "tests/check.hpp"

int main() {
    using namespace rookery::testing;
    for (const Test& test : tests()) {
        const int before = failures();
        test.run();
        std::printf("%s %s\n", failures() == before ? "ok  " : "FAIL", test.name);
    }
    std::printf("%zu tests, %d failed checks\n", tests().size(), failures());
    return failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
