"""strict: true turns the use of a lenient rule into an error that fails the step."""
import json
import pathlib

import pytest

DEFINITION = """
name: strict
strict: true
inputs: {word: {type: string, default: many}, nothing: {required: false}}
agents: {ada: {driver: script, options: {replies: [{text: hello}]}}}
steps:
  - {name: a, tool: echo, inputs: {n: 1, list: [1]}}
  - {name: b, depends_on: [a], %s}
  - {name: after, depends_on: [b], tool: echo, inputs: {text: x}}
"""

MISSING = "steps.a.outputs.m is missing; correct the name, or give a default: coalesce(steps.a.outputs.m, …)"
ORDER = "cannot be evaluated: only two numbers or two strings can be ordered; correct it, or test the values it reads first"

STEPS = {
    "inputs of a computed step": ('tool: echo, inputs: {x: "${steps.a.outputs.m}"}', MISSING),
    "inputs of a tool": ('tool: shell, inputs: {command: "echo ${steps.a.outputs.m}"}', MISSING),
    "inputs of a tool without a sandbox": ('tool: sleep, inputs: {seconds: "${steps.a.outputs.m}"}', MISSING),
    "prompt": ('agent: ada, inputs: {prompt: "${steps.a.outputs.m}"}', MISSING),
    "inputs of a sub-run": ('workflow: two-steps, inputs: {who: "${steps.a.outputs.m}"}', MISSING),
    "question": ('human: {question: "${steps.a.outputs.m}?"}', MISSING),
    "values of a question": ('human: {question: "good?"}, inputs: {x: "${steps.a.outputs.m}"}', MISSING),
    "expression": ('tool: echo, inputs: {x: "${steps.a.outputs.n + inputs.word}"}',
                   "${steps.a.outputs.n + inputs.word} cannot be evaluated: + needs two numbers, two strings or two lists; correct the expression"),
    "when": ("""tool: echo, when: "steps.a.outputs.n > 'x'\"""", f"the condition steps.a.outputs.n > 'x' {ORDER}"),
    "unless": ('tool: shell, unless: "steps.a.outputs.m", inputs: {command: "true"}', MISSING),
    "condition": ('condition: "steps.a.outputs.m"', MISSING),
    "items": ('map: {over: "${steps.a.outputs.m}", steps: [{name: x, tool: echo}]}', MISSING),
    "item": ('map: {over: "${steps.a.outputs.list}", steps: [{name: x, tool: echo, inputs: {x: "${item.name}"}}]}', "item.name is missing"),
    "until": ('tool: echo, loop_until: "steps.a.outputs.m", loop_max: 3', MISSING),
    "until of a loop": ('loop: {until: "steps.x.outputs.m", steps: [{name: x, tool: echo}]}', "steps.x.outputs.m is missing"),
    "loop_max": ('tool: echo, loop_until: "false", loop_max: 2', "the condition does not hold after 2 rounds: false; raise loop_max"),
    "criterion": ('verify: {target: a, criteria: [{name: good, check: "output.m"}]}', "output.m is missing"),
}


def finish(home, server, definition, inputs=None):
    return server.finish(server.run_of(home.define(definition), inputs))


@pytest.mark.parametrize("kind", STEPS)
def test_the_step_fails_with_the_expression_and_the_fix(home, server, kind):
    text, error = STEPS[kind]
    result = finish(home, server, DEFINITION % text)
    assert result["status"] == "failed" and error in result["error"], result["error"]
    assert "warnings" not in result
    steps = server.steps(result["run_id"])
    assert [step["state"] for path, step in steps.items() if path.startswith("b") and "/" not in path][-1] == "failed"
    assert steps["after"]["state"] == "skipped"


def test_the_outputs_of_a_run(home, server):
    outputs = 'outputs: {x: {from: {inner: "${steps.a.outputs.m}"}}, y: {from: "${steps.a.outputs.k}", optional: true}}\n'
    result = finish(home, server, DEFINITION % "tool: echo" + outputs)
    assert result["status"] == "failed" and MISSING in result["error"], result
    assert {step["state"] for step in server.steps(result["run_id"]).values()} == {"succeeded"}


def test_an_expected_null_is_no_error(home, server):
    result = finish(home, server, DEFINITION % (
        'tool: echo, when: "steps.a.outputs.m is null", inputs: {x: "${coalesce(steps.a.outputs.m, 2)}", y: "${inputs.nothing}", '
        'z: "${steps.a.error.code}"}') + 'outputs: {b: {from: "${steps.b.outputs}"}, no: {from: "${steps.a.outputs.k}", optional: true}}\n')
    assert result["outputs"] == {"b": {"x": 2, "y": None, "z": None}, "no": None}, result


def test_a_failure_can_be_caught(home, server):
    result = finish(home, server, DEFINITION % (
        'tool: shell, inputs: {command: "echo ${steps.a.outputs.m}"}, catch: [{name: mend, tool: echo, inputs: {why: "${error.code}"}}]')
        + 'outputs: {why: {from: "${steps.b.outputs.why}"}}\n')
    assert result["outputs"] == {"why": "invalid"}, result


def test_a_strict_failure_survives_a_kill(home):
    server = home.serve()
    run = finish(home, server, DEFINITION % STEPS["inputs of a tool"][0])["run_id"]
    server.kill()
    server = home.serve()
    assert MISSING in server.get(f"/api/runs/{run}").body["error"]


def test_the_examples_are_strict_and_run_without_warnings(home):
    for file in pathlib.Path("examples").glob("*.yaml"):
        assert "\nstrict: true\n" in file.read_text(), file
    for words in (["two-steps", "--input", "who=you"], ["write-and-review"], ["fix-and-test"]):
        code, out, err = home.cli("run", *words)
        assert code == 0, err
        assert json.loads(out)
        # The log on stderr may warn too, of a busy machine: the run's own warnings are in its outline.
        code, out, err = home.cli("show", "@last", "--json")
        assert code == 0 and "warnings" not in json.loads(out), out


def test_a_condition_that_can_never_be_evaluated_is_an_error_of_the_file(home):
    file = pathlib.Path(home.path, "never.yaml")
    file.write_text(DEFINITION % """tool: echo, when: "1 > 'x'\"""")
    code, out, err = home.cli("check", str(file))
    assert code != 0
    assert "never.yaml:8:" in out + err, out + err
    assert "the condition 1 > 'x' can never be evaluated: only two numbers or two strings can be ordered" in out + err, out + err
    file.write_text(file.read_text().replace("strict: true", "strict: false"))
    assert home.cli("check", str(file))[0] == 0
