"""`baton run`: the result on stdout, the narration on stderr, the exit status of the error's row."""
import json
import re

import pytest
from baton import EXIT, ROOT, new_id

TWO_STEPS = str(ROOT / "examples" / "two-steps.yaml")


def write(home, text, name="flow.yaml"):
    path = f"{home.path}/{name}"
    with open(path, "w") as file:
        file.write(text)
    return path


def test_two_steps(home):
    status, output, errors = home.cli("run", TWO_STEPS)
    assert (status, output) == (0, '{"greeting":"hello, world\\n"}\n')
    # On a busy machine the server in this process may log that its loop was held.
    told = [line.split() for line in errors.splitlines() if "the loop was held for " not in line]
    assert told[0][0] == "run"
    assert [words[1:3] for words in told[1:]] == [
        ["run.created", "by"], ["step.computed", "greet"], ["tool.requested", "keep"],
        ["tool.finished", "keep"], ["run.finished", "ok"]]
    assert home.workspace(told[0][1], "greeting.txt").read_text() == "hello, world\n"


def test_an_example_by_name(home):
    assert home.cli("run", "two-steps")[:2] == (0, '{"greeting":"hello, world\\n"}\n')


def test_a_stored_definition_comes_before_the_example(home):
    home.define("name: two-steps\nsteps: [{name: a, tool: echo, inputs: {x: mine}}]\n"
                "outputs: {x: {from: '${steps.a.outputs.x}'}}\n")
    assert home.cli("run", "two-steps")[:2] == (0, '{"x":"mine"}\n')


def test_inputs_from_the_command_line(home):
    status, output, _ = home.cli("run", TWO_STEPS, "--input", "who=you = me")
    assert (status, output) == (0, '{"greeting":"hello, you = me\\n"}\n')


def test_inputs_keep_their_json_types(home):
    flow = write(home, """
name: typed
inputs:
  number: {type: number}
  flag: {type: boolean}
  list: {type: array}
  object: {type: object}
  text: {type: string}
steps:
  - name: a
    tool: echo
    inputs:
      all:
        number: "${inputs.number}"
        flag: "${inputs.flag}"
        list: "${inputs.list}"
        object: "${inputs.object}"
        text: "${inputs.text}"
outputs:
  all: {from: "${steps.a.outputs.all}"}
""")
    given = {"number": 1.5, "flag": True, "list": [1, "two"], "object": {"a": None}, "text": "plain"}
    words = []
    for name, value in given.items():
        words += ["--input", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    status, output, errors = home.cli("run", flow, *words)
    assert status == 0, errors
    assert json.loads(output) == {"all": given}


def test_inputs_from_a_file(home):
    inputs = write(home, '{"who": "file"}', "inputs.json")
    assert home.cli("run", TWO_STEPS, "-i", inputs)[:2] == (0, '{"greeting":"hello, file\\n"}\n')


def test_json_gives_the_whole_result(home):
    run = new_id()
    status, output, _ = home.cli("run", TWO_STEPS, "--json", "--id", run)
    result = json.loads(output)
    assert status == 0
    assert (result["run_id"], result["status"]) == (run, "success")
    assert [step["status"] for step in result["steps"]] == ["success", "success"]


def test_a_failed_run(home):
    flow = write(home, """
name: failing
steps:
  - {name: a, tool: shell, inputs: {command: "echo the reason >&2; exit 3"}}
  - {name: b, tool: echo, depends_on: [a]}
""")
    status, output, errors = home.cli("run", flow, "--json")
    result = json.loads(output)
    assert status == 1
    assert result["status"] == "failed"
    assert [step["status"] for step in result["steps"]] == ["failed", "skipped"]
    assert "exit status 3: the reason" in result["steps"][0]["error"]
    assert "baton: the run failed: " in errors


def test_every_problem_of_a_definition_with_its_place(home):
    flow = write(home, """name: broken
inputs:
  who: {type: nothing}
steps:
  - name: a
    tool: nobody
  - name: a
    tool: echo
    depends_on: [ghost]
    inputs: {x: "${steps.later.outputs.y}"}
    surprise: 1
""")
    status, output, errors = home.cli("run", flow)
    assert (status, output) == (EXIT["invalid"], "")
    places = re.findall(rf"^{re.escape(flow)}:(\d+):(\d+): (/\S*): (.+)$", errors, re.M)
    assert len(places) == len(errors.splitlines())  # each problem once, and nothing else
    lines = {int(line) for line, _, _, _ in places}
    assert len(places) >= 2, errors
    assert all(int(column) >= 1 for _, column, _, _ in places)
    assert {3, 11} <= lines, errors


@pytest.mark.parametrize("yaml, line, text", [
    ("name: x\nsteps:\n  - name: a\n    tool: nobody\n", 4, "nobody"),
    ("name: x\nsteps:\n  - name: a\n    tool: echo\n    depends_on: [ghost]\n", 5, "ghost"),
    ("name: x\nsteps:\n  - {name: a, tool: echo, depends_on: [b]}\n"
     "  - {name: b, tool: echo, depends_on: [a]}\n", 0, ""),
    ("name: x\nsteps:\n  - {name: a, tool: echo}\n  - {name: a, tool: echo}\n", 4, "a"),
    ("name: x\nsteps: []\n", 2, ""),
    ("name: x\nsteps:\n  - {name: a}\n", 3, ""),
    ("steps:\n  - {name: a, tool: echo}\n", 1, "name"),
])
def test_a_definition_that_breaks_the_rules(home, yaml, line, text):
    status, output, errors = home.cli("run", write(home, yaml))
    assert (status, output) == (EXIT["invalid"], ""), errors
    places = re.findall(r"^\S*flow.yaml:(\d+):\d+: (\S*: .+)$", errors, re.M)
    assert places, errors
    if line > 0:
        assert any(int(at) == line and text in said for at, said in places), errors


def test_yaml_that_is_no_yaml(home):
    status, output, errors = home.cli("run", write(home, "name: x\nsteps: [\n"))
    assert (status, output) == (EXIT["syntax"], "")
    assert re.search(r"\b\d+:\d+", errors), errors


@pytest.mark.parametrize("words, status, text", [
    (["run", "nobody"], EXIT["not_found"], "no workflow called nobody"),
    (["run"], EXIT["usage"], "missing"),
    (["run", "two-steps", "more"], EXIT["usage"], "more"),
    (["run", "two-steps", "--input", "novalue"], EXIT["usage"], "name=value"),
    (["run", "two-steps", "--id", "no-uuid"], EXIT["usage"], "UUID"),
    (["run", "two-steps", "--input", "ghost=1"], EXIT["invalid"], "ghost"),
    (["run", "two-steps", "--input", "who=1"], EXIT["invalid"], "who"),
    (["watch", new_id()], EXIT["not_found"], "does not exist"),
    (["dance"], EXIT["usage"], "dance"),
    (["serve", "--host", "0.0.0.0"], 6, "loopback"),
    (["serve", "--port", "70000"], EXIT["usage"], "--port"),
])
def test_what_is_refused(home, words, status, text):
    got, output, errors = home.cli(*words)
    assert (got, output) == (status, ""), errors
    assert text in errors


def test_an_id_that_is_taken(home):
    run = new_id()
    assert home.cli("run", "two-steps", "--id", run)[0] == 0
    status, output, errors = home.cli("run", "two-steps", "--id", run)
    assert (status, output) == (EXIT["conflict"], ""), errors


def test_help_and_version_need_no_folder(home):
    assert "\n  run " in home.cli("help")[1]
    assert re.fullmatch(r"baton \d+\.\d+\.\d+\n", home.cli("version")[1])


def test_runs_are_listed(home):
    run = new_id()
    home.cli("run", "two-steps", "--id", run)
    status, output, _ = home.cli("runs")
    assert status == 0
    assert output.splitlines()[0].split() == ["RUN", "STATE", "AGE", "TOOK", "WORKFLOW"]
    assert output.splitlines()[1].split()[:2] == [run, "succeeded"]
    assert json.loads(home.cli("runs", "--json")[1])[0]["run_id"] == run


def test_long_values_travel_whole(home):
    long = "x" * 5000
    status, output, errors = home.cli("run", TWO_STEPS, "--input", f"who={long}")
    assert (status, output) == (0, f'{{"greeting":"hello, {long}\\n"}}\n'), errors
