"""`baton check` and the checks of a definition before anything runs: every problem, once, with its place."""
import pathlib

import pytest

BAD = """name: bad
steps:
  - name: build
    tool: shell
    inputs: {comand: "make", timeout_seconds: "ten"}
  - name: tell
    tool: shell
    depends_on: [build]
    inputs: {command: "echo ${steps.build.outputs.stdot}"}
  - name: odd
    tool: no_such
  - name: last
    tool: echo
    whn: "1 == 1"
    depends_on: [build]
    when: "steps.build.outputs.exit_code === 0"
outputs:
  x: {from: "${steps.tell.outputs.out}"}
"""


def check(home, text, name="bad.yaml"):
    path = pathlib.Path(home.path, name)
    path.write_text(text)
    status, output, errors = home.cli("check", str(path))
    return status, [line.removeprefix(f"{path}:") for line in output.splitlines()], errors


def test_every_problem_in_one_pass_once_with_its_place(home):
    status, lines, errors = check(home, BAD)
    assert status == 2 and errors == ""
    assert [line.split(": ", 1)[0] for line in lines] == ["5:13", "5:14", "5:47", "9:51", "11:11", "14:5", "16:44", "18:35"]
    assert lines[0] == "5:13: /steps/0/inputs/command: is required"
    assert lines[1] == '5:14: /steps/0/inputs/comand: is not an input of shell; did you mean "command"?'
    assert lines[2].startswith("5:47: /steps/0/inputs/timeout_seconds: must be a number")
    assert lines[3].endswith('step build (tool shell) has no output "stdot"; did you mean "stdout"?')
    assert lines[4].startswith("11:11: /steps/2/tool: unknown tool no_such; expected one of ")
    assert 'did you mean "when"?' in lines[5]
    assert "it has exit_code, stdout, stderr" in lines[7]
    assert len(set(lines)) == len(lines)


STAGES = """name: stages
timeout: soon
inputs:
  n: {type: numbr, default: x}
agents:
  dev: {driver: script, options: {replies: [{text: ok}]}}
steps:
  - name: a
    tool: shell
    timeout: "long"
    inputs: {comand: "make"}
  - name: b
    tool: echo
    depends_on: [nowhere, a]
    inputs: {x: "${inputs.m} ${inputs.o}", y: "${steps.zz.outputs.x}", z: "${unclosed"}
  - name: c
    wait: {seconds: -1}
    when: "inputs.k == 1 and inputs.n ==="
  - name: d
    agent: dev
    inputs: {promt: "hello"}
  - name: e
    tool: echo
    depends_on: [d, f]
    inputs: {x: "${steps.d.outputs.jsn}"}
  - name: f
    tool: echo
    depends_on: [e]
outputs:
  x: {from: "${steps.d.outputs.txt}"}
"""


def test_no_problem_hides_another(home):
    """A value of the wrong type, an unknown name and a cycle; the names behind them are checked all the same."""
    status, lines, errors = check(home, STAGES, "stages.yaml")
    assert status == 2 and errors == ""
    for place, text in [("2:10", "/timeout: must be a number"), ("4:13", '/inputs/n/type: "numbr" is not one of string, number'),
                        ("10:14", "/steps/0/timeout: must be a number"), ("11:13", "/steps/0/inputs/command: is required"),
                        ("11:14", "did you mean \"command\"?"), ("14:18", "unknown step nowhere"), ("15:27", "unknown input m"),
                        ("15:39", "unknown input o"), ("15:56", "unknown step zz"), ("15:76", "no closing brace"),
                        ("17:21", "/steps/2/wait/seconds: must be at least 0"), ("18:41", "/steps/2/when: "),
                        ("21:14", "/steps/3/inputs/promt: is not an input that an agent knows; did you mean \"prompt\"?"),
                        ("24:17", "the dependencies form a cycle: "),
                        ("25:36: warning", 'output "jsn" of step d (agent dev) must be a member of its reply; did you mean "json"?'),
                        ("30:32: warning", 'output "txt" of step d (agent dev) must be a member of its reply; did you mean "text"?')]:
        assert [line for line in lines if line.startswith(place + ":") and text in line], (place, text, lines)
    assert len(lines) == 16 == len(set(lines)), lines


def test_what_does_not_fit_has_no_consequences(home):
    """A name, a dependency or inputs that do not fit are reported themselves; nothing is reported because they are missing."""
    status, lines, _ = check(home, """name: 5!
steps:
  - {name: 7, tool: shell, inputs: [x]}
  - {name: b, tool: 9, depends_on: "7"}
  - {name: c, depends_on: [b], tool: shell, inputs: {command: "echo ${steps.b.outputs.x} ${steps.q.outputs.x} ${ctx.y}"}}
  - oops
  - {name: d, tool: echo, depends_on: [7], wait: {}, inputs: {x: "${1 +}"}}
""", "x.yaml")
    assert status == 2
    assert [line.split(": ")[1] for line in lines[:-1]] == ["/name", "/steps/0/name", "/steps/0/inputs", "/steps/1/tool", "/steps/1/depends_on",
                                                            "/steps/3", "/steps/4/name", "/steps/4/depends_on/0", "/steps/4/inputs"], lines
    assert lines[-1].startswith("1:7: warning: ")


@pytest.mark.parametrize("inputs", ["{prompt: x, promt: y}", "{message: hello}", "{topic: cats}"])
def test_an_agent_takes_other_inputs_too(home, inputs):
    status, lines, _ = check(home, f"""name: good
agents: {{dev: {{driver: script, options: {{replies: [{{text: ok}}]}}}}}}
steps: [{{name: a, agent: dev, inputs: {inputs}}}]
""", "good.yaml")
    assert (status, lines) == (0, [" ok"])


def test_a_good_file_and_a_missing_one(home):
    status, lines, _ = check(home, "name: good\nsteps:\n  - {name: a, tool: echo}\n", "good.yaml")
    assert (status, lines) == (0, [" ok"])
    status, output, errors = home.cli("check", "/nowhere/x.yaml")
    assert status == 4 and output == "" and "cannot read /nowhere/x.yaml: No such file" in errors


def test_several_files_are_all_checked(home):
    good = pathlib.Path(home.path, "good.yaml")
    good.write_text("name: good\nsteps:\n  - {name: a, tool: echo}\n")
    bad = pathlib.Path(home.path, "bad.yaml")
    bad.write_text(BAD)
    status, output, _ = home.cli("check", str(bad), str(good))
    assert status == 2
    assert output.splitlines()[-1] == f"{good}: ok"


def test_a_name_that_differs_from_the_file_is_a_warning(home):
    status, lines, _ = check(home, "name: other\nsteps:\n  - {name: a, tool: echo}\n", "good.yaml")
    assert status == 0
    assert lines == ["1:7: warning: /name: the definition calls itself other, not good: it cannot be started by that name", " ok"]


def test_the_examples_have_no_problem(home):
    examples = sorted(map(str, pathlib.Path(__file__).resolve().parents[2].glob("examples/*.yaml")))
    status, output, _ = home.cli("check", *examples)
    assert status == 0
    assert output == "".join(f"{path}: ok\n" for path in examples)


def test_the_same_over_http(home, server):
    answer = server.request("POST", "/api/workflows/validate", {"name": "bad", "yaml_content": BAD})
    assert answer.status == 200
    assert answer.body["is_valid"] is False
    assert len(answer.body["errors"]) == len(answer.body["problems"]) == 8
    assert answer.body["problems"][0] == {"line": 5, "column": 13, "end_line": 5, "end_column": 53, "pointer": "/steps/0/inputs/command",
                                          "text": "is required", "message": "/steps/0/inputs/command: is required"}
    assert answer.body["problems"][1]["fix"] == {"title": 'replace "comand" with "command"', "line": 5, "column": 14, "end_line": 5,
                                                 "end_column": 20, "text": "command"}
    good = {"name": "good", "yaml_content": "name: good\nsteps:\n  - {name: a, tool: echo}\n"}
    assert server.request("POST", "/api/workflows/validate", good).body == {"is_valid": True, "errors": [], "warnings": []}
    assert server.get("/api/runs").body == []


@pytest.mark.parametrize("inputs", ['{command: "${inputs.c}", timeout_seconds: "${inputs.t}"}', '{command: "echo $${x}"}',
                                    '{command: "true", timeout_seconds: 1.5}'])
def test_an_input_with_an_expression_is_left_to_the_run(home, inputs):
    status, lines, _ = check(home, f"""name: good
inputs: {{c: {{default: "true"}}, t: {{type: number, default: 5}}}}
steps:
  - {{name: a, tool: shell, inputs: {inputs}}}
""", "good.yaml")
    assert (status, lines) == (0, [" ok"])


def test_a_start_refuses_what_check_reports(home, server):
    home.define(BAD)
    answer = server.request("POST", "/api/run", {"workflow": "bad"})
    assert answer.status == 422
    assert "/steps/0/inputs/command" in [place["pointer"] for place in answer.body["details"]]
