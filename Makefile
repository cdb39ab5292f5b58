# make demo   set up .venv and run the main job
# make test   set up everything tests need, then run all tests and checks
# make debian install the Debian packages that some tests compare with, where there is apt-get
# make bench  compare our speed with peers; they are installed into an environment of their own
# make slow   the acceptance runs that take minutes
# make screenshots  the page on four sizes of screens, light and dark, into build/screenshots; and those of the docs

PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(shell find native -name '*.hpp' -o -name '*.cpp' -o -name '*.py') CMakeLists.txt pyproject.toml

.PHONY: demo test lint slow sanitize bench debian axe screenshots format clean

demo: .venv/installed
	$(BIN)/rookery reproduce --quick

# What is to be fetched and what is to be built go on at the same time.
test:
	$(MAKE) -j 3 --output-sync=target lint sanitize debian axe
	$(BIN)/python -m pytest -n 2 --dist loadgroup

slow: DEBIAN += qemu-user-static
slow: .venv/dev-installed debian
	$(BIN)/python -m pip install -q 'ray[default]>=2.40'
	$(BIN)/python -m pytest -m slow

lint: .venv/dev-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python native/bindings/stubs.py src/rookery
	$(BIN)/mypy

# The C++ tests under the address and undefined-behaviour sanitizers.
sanitize: .venv/dev-installed
	$(BIN)/cmake -S . -B build/sanitize -DROOKERY_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
	  -DCMAKE_CXX_FLAGS="-O1 -fsanitize=address,undefined -fno-sanitize-recover=all" > build/sanitize.log
	$(BIN)/cmake --build build/sanitize --parallel 2
	build/sanitize/rookery_tests

bench: .venv/installed .bench-venv/installed
	.bench-venv/bin/python -m benchmarks --out reports/benchmarks.json

# Real endgame tables, a real engine, a real browser; for `make slow`, old processors. Without them, or without the
# right to install, their tests are skipped.
DEBIAN := gaviotatb stockfish chromium
debian:
	@if command -v apt-get > /dev/null && ! dpkg -s $(DEBIAN) > /dev/null 2>&1; then \
	  mkdir -p build; echo "installing $(DEBIAN)"; \
	  { apt-get install -y -q $(DEBIAN) || \
	    { apt-get update -q && apt-get install -y -q $(DEBIAN); }; } > build/debian.log 2>&1 || \
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

format: .venv/dev-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .bench-venv build dist reports

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed: $(NATIVE) | .venv/bin/python
	$(BIN)/python -m pip install -q -e .
	touch $@

.venv/dev-installed: $(NATIVE) tests/constraints.txt | .venv/bin/python
	$(BIN)/python -m pip install -q -e '.[dev]' -c tests/constraints.txt
	touch .venv/installed $@

.bench-venv/installed: $(NATIVE) benchmarks/requirements.txt
	$(PYTHON) -m venv .bench-venv
	.bench-venv/bin/python -m pip install -q . -r benchmarks/requirements.txt
	touch $@
