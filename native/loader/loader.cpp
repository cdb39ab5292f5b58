// The extension module rookery._native on x86-64: it loads the build that fits the processor from the file beside it.
// This file is compiled for every processor; loading the code of the others may already run instructions of theirs.
#include <Python.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

static bool fits_v3() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}

// The environment variable ROOKERY_BASELINE, unless it is empty, asks for the baseline on any processor.
static bool asked_for_baseline() {
    const char* value = std::getenv("ROOKERY_BASELINE");
    return value != nullptr && *value != '\0';
}

PyMODINIT_FUNC PyInit__native() {
    using Init = PyObject* (*)();
    Dl_info here;
    if (dladdr(reinterpret_cast<void*>(&PyInit__native), &here) == 0) {
        PyErr_SetString(PyExc_ImportError, "the folder of rookery._native is not known");
        return nullptr;
    }
    const std::string name = here.dli_fname;
    const std::string folder = name.substr(0, name.rfind('/') + 1);
    std::string file = folder + "_native_v3.so";
    if (asked_for_baseline() || !fits_v3()) {
        file = folder + "_native_baseline.so";
        if (access(file.c_str(), F_OK) != 0) {
            PyErr_SetString(PyExc_ImportError,
                            "this build of Rookery needs a processor with AVX2, BMI2 and FMA: build it from source "
                            "with CMAKE_ARGS=-DROOKERY_BASELINE=ON");
            return nullptr;
        }
    }
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* init = library != nullptr ? dlsym(library, "PyInit__native") : nullptr;
    if (init == nullptr) {
        PyErr_SetString(PyExc_ImportError, dlerror());
        return nullptr;
    }
    return reinterpret_cast<Init>(init)();
}
