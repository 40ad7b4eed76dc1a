# `make run` and `make test` need Python 3.11 or newer with venv, make, bash and git; everything else
# they set up in .venv, from pyproject.toml.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
KILLS ?= 300
SEED ?= $(shell date +%s)
SEED := $(SEED)
INSTALL := -m pip install --quiet --disable-pip-version-check --root-user-action=ignore
# What pip warns of helps nobody here; its errors are shown and end the step.
NO_WARNINGS := 2>&1 | { grep -v '^WARNING' || true; }
EXTRA = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["$(1)"], sep="\n")

.PHONY: run test test-slow test-all demo docs bench bench-recall bench-cues bench-related bench-store bench-dream bench-sections bench-fortnight bench-cascade bench-forgetting bench-cache bench-turn bench-mind chaos fuzz faults crowd attack

run: .venv/.run  ## set up, boot (or wake) an agent and talk to it in the room dev
	@$(BIN)/python chat.py dev --boot

test: .venv/.test  ## set up; lint, types, all tests but the slow ones
	@echo "lint"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@echo "types (about a minute)"
	@$(BIN)/mypy --no-error-summary
	@echo "tests (some minutes)"
	@$(BIN)/python -m pytest -m "not slow" --numprocesses auto --dist loadfile

test-slow: .venv/.test  ## the slow tests: small runs of the benches and harnesses, the wheel
	@echo "slow tests (some minutes)"
	@$(BIN)/python -m pytest -m slow --numprocesses auto --dist loadfile

test-all: test test-slow  ## lint, types, all tests

docs: .venv/.docs  ## build the pages of docs/ in site/; a dead link is an error
	@$(BIN)/python -m mkdocs build --strict --quiet
	@echo "the pages are in site/"

demo: .venv/.run  ## a life in under a minute: told, forgotten, brought back, killed, resumed
	@$(BIN)/python -m bench.demo

.PHONY: demo-svg
demo-svg: .venv/.run  ## draw docs/demo.svg, the picture in the README, from a run of the demo
	@$(BIN)/python -m bench.demo --svg docs/demo.svg

bench: .venv/.run  ## play a real conversation into an agent and account for every byte of it
	$(BIN)/python -m bench.life ../shared/locomo/26.json --limit 6000 --json

bench-recall: .venv/.bench  ## how well a search finds the evidence for real questions, beside other engines
	$(BIN)/python -m bench.recall

bench-cues: .venv/.run  ## how often the line below a message names the stretch that it belongs to, at which threshold
	$(BIN)/python -m bench.cues

bench-related: .venv/.bench  ## what it costs to find the summaries that are like the present, beside sqlite-vec; two minutes
	$(BIN)/python -m bench.related

bench-store: .venv/.run  ## what a memory costs that grows to a million entries; some minutes
	$(BIN)/python -m bench.store

bench-dream: .venv/.run  ## what Dreams make of two days, and what they cost
	$(BIN)/python -m bench.dream

bench-sections: .venv/.run  ## what an ordinary self puts into each prompt, by section
	$(BIN)/python -m bench.sections

bench-fortnight: .venv/.run  ## two agents live a scripted fortnight, which is told in docs/fortnight.md
	$(BIN)/python -m bench.fortnight

bench-cache: .venv/.run  ## what providers' caches can serve of a life of 500 turns, and what it costs; three minutes
	$(BIN)/python -m bench.cache

bench-cascade: .venv/.run  ## a life of 10,000 events in constant space: sizes of prompts, calls of the model, kills; three minutes
	$(BIN)/python -m bench.cascade --plot docs/cascade.svg

bench-forgetting: .venv/.run  ## five ways of forgetting in comparison: what is still answered, and at what price; a quarter of an hour
	$(BIN)/python -m bench.forgetting --plot docs/forgetting.svg

bench-turn: .venv/.run .venv-peers/.installed  ## what the harness itself costs: turns, start-up, sleep, at lives of up to a million lines; a quarter of an hour
	$(BIN)/python -m bench.turn

bench-mind: .venv/.run  ## thirty tasks in one life, for the offline model; docs/models.md says how for any other
	@$(BIN)/python -m bench.mind

chaos: .venv/.run  ## kill agents between two writes and inside system calls, give them a hostile model, and check what is left; KILLS=20 for a short run
	@$(BIN)/python -m stress.chaos --kills $(KILLS)

fuzz: .venv/.test  ## ever new input for every parser and ever new whole lives, for half an hour; SEED=1 for the ones of that seed
	@echo "seed $(SEED)"
	@$(BIN)/python -m pytest tests/whole_agent/test_fuzz.py tests/whole_agent/test_life_machine.py --hypothesis-profile=fuzz --hypothesis-seed=$(SEED)

faults: .venv/.run  ## let the model fail in every way at the wire and check that agents get over it and ask it no more than promised
	@$(BIN)/python -m stress.faults

crowd: .venv/.run  ## let 20 agents and 20 writers share a room and a blob store and check what became of every line
	@$(BIN)/python -m stress.crowd

attack: .venv/.run  ## attack agents, rooms, files, keys and people in every known way and check what holds; a quarter of an hour
	@$(BIN)/python -m stress.attack

.venv/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Dory needs Python 3.11 or newer: make PYTHON=python3.12 run"; exit 1; }
	@echo "setting up .venv (once; about a minute)"
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.run: .venv/.python pyproject.toml
	@$(BIN)/python $(INSTALL) -e . $(NO_WARNINGS)
	@touch $@

# The real llama.cpp server is tested against where its package can be had; its tests say so when it cannot.
.venv/.test: .venv/.run pyproject.toml
	@echo "setting up what the tests need (once; about a minute)"
	@$(BIN)/python $(INSTALL) -e '.[test]' $(NO_WARNINGS)
	@$(BIN)/python $(INSTALL) -e '.[llama]' $(NO_WARNINGS) || echo "llama.cpp cannot be installed here: its tests will be skipped"
	@touch $@

.venv/.docs: .venv/.run pyproject.toml
	@echo "setting up what the pages need (once)"
	@$(BIN)/python $(INSTALL) -e '.[docs]' $(NO_WARNINGS)
	@touch $@

# One engine after the other: one that cannot be installed does not keep the rest away.
.venv/.bench: .venv/.run pyproject.toml
	@$(BIN)/python -c '$(call EXTRA,bench)' | xargs -n 1 $(BIN)/python $(INSTALL) $(NO_WARNINGS) || echo "an engine cannot be installed here: it will be left out"
	@touch $@

# In an environment of their own, and one after the other: what cannot be installed is left out of the table.
.venv-peers/.installed: requirements-peers.txt
	@$(PYTHON) -m venv .venv-peers
	@grep -v '^#' requirements-peers.txt | xargs -n 1 .venv-peers/bin/python $(INSTALL) $(NO_WARNINGS) || echo "not all other programs can be installed here"
	@touch $@
