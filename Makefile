# make demo   set up .venv and run the main job
# make test   set up everything tests need, then run all tests and checks
# make debian install the Debian packages that some tests compare with, where there is apt-get
# make docs   build the documentation site into build/docs
# make lint   ruff, mypy, clang-format; for JavaScript biome and TypeScript
# make format what they can put right
# make bench  compare our speed with peers, which get an environment of their own, and write docs/benchmarks.md
# make slow   the acceptance runs that take minutes
# make fuzz   a million random inputs for every parser, command and endpoint
# make mutate change the C++ and the Python code in 40 places each, one at a time, and list what no test notices
# make crash  kill long commands at 200 random moments and resume them
# make screenshots  the page on four sizes of screens, light and dark, into build/screenshots; and the pictures of the docs

PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(shell find native -name '*.hpp' -o -name '*.cpp' -o -name '*.py') CMakeLists.txt pyproject.toml

.PHONY: demo test pytest docs lint js slow sanitize bench debian axe screenshots format fuzz mutate crash clean

demo: .venv/installed
	$(BIN)/rookery reproduce --quick

# Tests start hundreds of processes, which import the same modules: without .pyc files each would compile all of them.
unexport PYTHONDONTWRITEBYTECODE

# What is to be fetched and what is to be built go on at the same time, and so do the tests of C++ and of Python.
test:
	$(MAKE) -j 5 --output-sync=target lint js build/sanitize/rookery_tests debian axe
	$(MAKE) -j 2 sanitize pytest

pytest: .venv/dev-installed
	$(BIN)/python -m pytest -n 3 --dist loadgroup

slow: DEBIAN += qemu-user-static
slow: .venv/dev-installed debian
	$(BIN)/python -m pip install -q 'ray[default]>=2.40'
	$(BIN)/python -m pytest -m slow

# The C++ files that clang-format has formatted.
FORMATTED := $(filter %.hpp %.cpp,$(NATIVE))
lint: .venv/dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(FORMATTED)
	$(BIN)/python native/bindings/stubs.py src/rookery
	$(BIN)/mypy

# The JavaScript of the web page: lint, and types by JSDoc. Without npm it is left out.
JS := build/js/node_modules/.bin
js:
	@if ! command -v npm > /dev/null; then \
	  echo "there is no npm: the JavaScript is not checked"; \
	else \
	  mkdir -p build/js; \
	  [ -x $(JS)/tsc ] || npm install --prefix build/js --no-audit --no-fund --silent \
	    @biomejs/biome@2.6.7 typescript@5.9.3 > build/js.log 2>&1 || \
	    { echo "biome and TypeScript are not installed: the JavaScript is not checked (build/js.log says why)"; exit 0; }; \
	  $(JS)/biome lint --error-on-warnings && $(JS)/tsc -p jsconfig.json; \
	fi

# The C++ tests under the address and undefined-behaviour sanitizers. -Og compiles in about two thirds of the time of -O1,
# which saves more than the tests, then slower, lose.
sanitize: build/sanitize/rookery_tests
	@$< > build/sanitize-tests.log 2>&1 && tail -n 1 build/sanitize-tests.log || { cat build/sanitize-tests.log; exit 1; }

build/sanitize/rookery_tests: $(NATIVE) | .venv/cmake-installed
	$(BIN)/cmake -S . -B build/sanitize -DROOKERY_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_CXX_FLAGS="-Werror=sign-compare -Og -D_GLIBCXX_ASSERTIONS -fsanitize=address,undefined -fno-sanitize-recover=all" > build/sanitize.log
	$(BIN)/cmake --build build/sanitize --parallel 2
	touch $@

# Notebooks are run, warnings are errors, and links between pages are checked.
docs: .venv/dev-installed
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs
	@echo "build/docs/index.html"

bench: .venv/installed .bench-venv/installed
	.bench-venv/bin/python -m benchmarks --out reports/benchmarks.json --page

# Real endgame tables, a real engine, a real browser; for `make slow`, old processors. Without them, or without the
# right to install, their tests are skipped.
DEBIAN := gaviotatb stockfish chromium
APT := apt-get install -y -q --no-install-recommends
debian:
	@if command -v apt-get > /dev/null && ! dpkg -s $(DEBIAN) > /dev/null 2>&1; then \
	  mkdir -p build; echo "installing $(DEBIAN)"; \
	  { $(APT) $(DEBIAN) || \
	    { apt-get update -q && $(APT) $(DEBIAN); }; } > build/debian.log 2>&1 || \
	  echo "not installed: their tests will be skipped (build/debian.log says why)"; \
	fi

# What looks for barriers in the web page; its test is skipped without it.
axe:
	@if command -v npm > /dev/null && [ ! -d build/axe/node_modules/axe-core ]; then \
	  mkdir -p build/axe; \
	  npm install --prefix build/axe --no-audit --no-fund axe-core@4 > build/axe.log 2>&1 || \
	  echo "axe-core is not installed: its test will be skipped (build/axe.log says why)"; \
	fi

screenshots: .venv/dev-installed debian
	$(BIN)/python -m tests.web.screenshots
	$(BIN)/python -m tests.web.screenshots --docs
	$(BIN)/python docs/figures.py

format: .venv/dev-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

# A million inputs for every parser, command and endpoint.
fuzz: .venv/dev-installed
	$(BIN)/python -m tests.fuzz --count 1000000

# Which small changes of the C++ code, and of the Python code that plays and learns, their tests do not notice.
mutate: .venv/dev-installed
	$(BIN)/python -m tests.mutate_native --count 40 --jobs 2
	$(BIN)/python -m tests.mutate --core --count 40 --jobs 2

# Long commands are killed at 200 random moments and resumed.
crash: .venv/dev-installed
	$(BIN)/python -m tests.crash --kills 200

clean:
	rm -rf .venv .bench-venv build dist reports

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The C++ tests are compiled while everything else is fetched.
.venv/cmake-installed: tests/constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install -q cmake -c tests/constraints.txt
	mkdir -p build
	touch $@

.venv/installed: $(NATIVE) | .venv/bin/python
	$(BIN)/python -m pip install -q -e .
	touch $@

# What `pip install -e '.[dev]'` does, but the extension module is built while the packages are fetched.
.venv/dev-installed: .venv/built .venv/fetched
	touch .venv/installed $@

.venv/built: $(NATIVE) | .venv/bin/python
	$(BIN)/python -m pip install -q --no-deps -e .
	touch $@

# Python compiles what is imported; all that is installed would take as long as installing it.
.venv/fetched: pyproject.toml tests/constraints.txt tests/requirements.py .venv/cmake-installed
	$(BIN)/python tests/requirements.py > .venv/requirements.txt
	$(BIN)/python -m pip install -q --no-compile -r .venv/requirements.txt -c tests/constraints.txt
	touch $@

.bench-venv/installed: $(NATIVE) benchmarks/requirements.txt
	$(PYTHON) -m venv .bench-venv
	.bench-venv/bin/python -m pip install -q . -r benchmarks/requirements.txt
	touch $@
