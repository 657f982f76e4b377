"""baton sim: a person's own workflow under crashes, failing tools and models, late and repeated answers."""
import json
import os

import pytest

FRAGILE = """
name: fragile
steps:
  - {name: a, tool: shell, inputs: {command: "true"}}
  - {name: b, tool: shell, depends_on: [a], inputs: {command: "true"}}
  - {name: pay, tool: append_line, depends_on: [b], inputs: {path: ledger, line: paid}}
outputs: {code: {from: "${steps.b.outputs.exit_code}"}}
"""
STURDY = FRAGILE.replace("name: fragile", "name: sturdy").replace(
    'inputs: {command: "true"}', 'retry: {max_retries: 8, on: [tool_failed, unavailable, timeout, io]}, inputs: {command: "true"}').replace(
    "inputs: {path", "retry: {max_retries: 8, on: [tool_failed, unavailable, timeout, io]}, inputs: {path")
PEOPLE = """
name: people
inputs: {n: {type: number, default: 1}}
agents: {judge: {driver: "api:custom", model: m, options: {base_url: "http://127.0.0.1:9"}, schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}}
steps:
  - {name: measure, tool: http_fetch, inputs: {url: "http://127.0.0.1:9/"}}
  - {name: judge, agent: judge, depends_on: [measure], inputs: {prompt: "${steps.measure.outputs.body}"}}
  - {name: ask, depends_on: [judge], human: {question: "Go on?"}, inputs: {n: "${inputs.n}"}}
  - {name: released, depends_on: [ask], wait: {signal: released}}
outputs:
  body: {from: "${steps.measure.outputs.body}"}
  ok: {from: "${steps.judge.outputs.json.ok}"}
  n: {from: "${steps.ask.outputs.value.n}"}
  version: {from: "${steps.released.outputs.version}"}
"""
SCRIPT = """
steps: {measure: {status: 200, url: x, headers: {}, body: fine, encoding: text, truncated: false}}
agents: {judge: {json: {ok: false}}}
people: {ask: {decision: modify, value: {n: 7}}}
signals: {released: {version: "2.1"}}
"""


def file_of(home, yaml):
    name = home.define(yaml)
    return f"{home.data}/definitions/{name}.yaml"


@pytest.mark.parametrize("name", ["two-steps", "deploy-with-undo", "incident-drill", "fix-and-test", "pattern-supervisor", "issue-triage"])
def test_examples_survive_crashes_late_results_and_repeated_answers(home, name):
    status, output, errors = home.cli("sim", name, "--faults", "crash,late,duplicate", "--seeds", "60")
    assert status == 0, output + errors
    assert output.startswith("60 seeds passed: ") and not output.startswith("60 seeds passed: 0 faults")


def test_a_failing_seed_is_shrunk_to_what_makes_it_fail(home):
    status, output, _ = home.cli("sim", file_of(home, FRAGILE), "--seeds", "50")
    assert status == 1
    lines = output.splitlines()
    assert " fails: the run ended as failed, step a: simulated failure; without faults it ends as ok" in lines[0]
    faults = lines[2:lines.index("what happened:")]
    assert len(faults) == 1 and faults[0].startswith("tool       a tool fails at call 1, step a: ")
    assert [line.split()[2] for line in lines[lines.index("what happened:") + 1:-1]] == [
        "run.created", "tool.requested", "tool.finished", "run.finished"]
    seed = lines[-1].split("--seed ")[1]
    again = home.cli("sim", file_of(home, FRAGILE), "--seed", seed)
    assert again[0] == 1 and again[1] == output, "the same seed tells the same story, byte for byte"


def test_a_retry_policy_makes_it_pass(home):
    status, output, errors = home.cli("sim", file_of(home, STURDY), "--seeds", "300")
    assert status == 0, output + errors


def test_a_timeout_meets_late_results(home):
    hasty = FRAGILE.replace("tool: shell, depends_on", "tool: shell, timeout: 60, depends_on")
    assert home.cli("sim", file_of(home, hasty), "--seeds", "60", "--faults", "crash,duplicate")[0] == 0
    status, output, _ = home.cli("sim", file_of(home, hasty), "--seeds", "60", "--faults", "late")
    assert status == 1 and "late       a result is late at call or turn 2" in output


def test_a_script_says_what_tools_models_and_people_do(home):
    script = home.define(SCRIPT, name="script")
    status, _, errors = home.cli("sim", file_of(home, PEOPLE), "--script", f"{home.data}/definitions/{script}.yaml",
                                 "--faults", "crash", "--seeds", "30")
    assert status == 0
    assert json.loads(errors.split("outputs ")[1]) == {"body": "fine", "ok": False, "n": 7, "version": "2.1"}


def test_without_a_script_values_fit_their_contracts(home):
    _, _, errors = home.cli("sim", file_of(home, PEOPLE), "--faults", "none", "--seeds", "1")
    assert json.loads(errors.split("outputs ")[1]) == {"body": "", "ok": True, "n": None, "version": None}


def test_a_check_of_ones_own(home):
    path = file_of(home, FRAGILE)
    assert home.cli("sim", path, "--check", "status in ['ok', 'failed']", "--seeds", "40")[0] == 0
    status, output, _ = home.cli("sim", path, "--check", "outputs.code == 1", "--faults", "crash", "--seeds", "3")
    assert status == 1 and "the check does not hold: outputs.code == 1 (status ok" in output
    status, output, _ = home.cli("sim", path, "--check", "1 / 0", "--faults", "none", "--seeds", "1")
    assert status == 1 and "the check cannot be evaluated" in output


def test_many_seeds_and_json(home):
    status, output, _ = home.cli("--json", "sim", "two-steps", "--faults", "crash", "--seeds", "1200")
    assert status == 0 and json.loads(output)["seeds"] == 1200
    status, output, _ = home.cli("--json", "sim", file_of(home, FRAGILE), "--seeds", "1200", "--faults", "tool")
    found = json.loads(output)
    assert status == 1 and found["status"] == "failed" and found["reason"]


def test_what_cannot_be_simulated_is_said(home):
    status, _, errors = home.cli("sim", file_of(home, "name: bad\nsteps: [{name: a, tool: shel}]\n"))
    assert status == 2 and ":2:" in errors and "shel" in errors
    assert home.cli("sim", "nothing-like-this")[0] == 4
    status, _, errors = home.cli("sim", "two-steps", "--faults", "fire")
    assert status == 2 and "crash, tool, model, late, duplicate, none" in errors
    assert home.cli("sim", "two-steps", "--seeds", "0")[0] == 2
    assert home.cli("sim", "two-steps", "--input", "who")[0] == 2
    wrong = home.define("tols: {}\n", name="wrong")
    status, _, errors = home.cli("sim", "two-steps", "--script", f"{home.data}/definitions/{wrong}.yaml")
    assert status == 2 and 'did you mean "tools"' in errors
    stuck = "name: stuck\nsteps: [{name: a, tool: sleep, inputs: {seconds: 5}, when: \"inputs.x > 1\"}]\ninputs: {x: {type: number}}\n"
    status, _, errors = home.cli("sim", file_of(home, stuck))
    assert status == 2 and "x" in errors


def test_nothing_real_happens(home):
    assert home.cli("sim", "fix-and-test", "--seeds", "5", "--faults", "crash")[0] == 0
    assert not [name for name in os.listdir(home.data) if name != "definitions"], "no store, no workspace"
