"""Every kind of mistake in a workflow file, with the place under which the mark stands and the edit that mends it; the same in the command
line and in the API."""
import json
import pathlib
import subprocess

import pytest

from baton import PATIENCE_S, PROGRAM, environment

HEAD = """name: flow
inputs:
  who: {type: string, default: Ada}
  count: {type: number, default: 3}
agents:
  ada: {driver: script, options: {replies: [{text: hi}]}, schema: {type: object, properties: {summary: {type: string}}}}
steps:
"""


def steps(*lines):
    return HEAD + "".join(f"  {line}\n" for line in lines)


def validated(server, text, name="flow"):
    answer = server.request("POST", "/api/workflows/validate", {"name": name, "yaml_content": text})
    assert answer.status == 200
    return answer.body


def marked(text, problem):
    """The characters that a problem marks."""
    line = text.split("\n")[problem["line"] - 1]
    assert problem["end_line"] == problem["line"]
    return line[problem["column"] - 1:problem["end_column"] - 1]


def fixed(text, fix):
    lines = text.split("\n")

    def offset(line, column):
        return sum(len(one) + 1 for one in lines[:line - 1]) + column - 1

    return text[:offset(fix["line"], fix["column"])] + fix["text"] + text[offset(fix["end_line"], fix["end_column"]):]


# name: (file, words of the message, marked characters, replacement or None)
ERRORS = {
    "unknown agent": (steps("- {name: a, agent: aad, inputs: {prompt: x}}"), "agent aad does not exist", "aad", "ada"),
    "unknown tool": (steps("- {name: a, tool: ehco}"), 'unknown tool ehco; did you mean "echo"?', "ehco", "echo"),
    "unknown step in depends_on": (steps("- {name: one, tool: echo}", "- {name: b, tool: echo, depends_on: [oen]}"), "unknown step oen", "oen", "one"),
    "unknown step in an edge": (steps("- {name: a, tool: echo, next: [{to: bb}]}", "- {name: bbb, tool: echo, join: any}"), "unknown step bb", "bb", "bbb"),
    "unknown step in an expression": (steps("- {name: one, tool: echo}", '- {name: b, tool: echo, depends_on: [one], inputs: {x: "one ${steps.oen.outputs.x}"}}'),
                                      "unknown step oen", "oen", "one"),
    "unknown field of a step": (steps("- {name: a, tool: echo, dependson: []}"), "/steps/0/dependson: is not a field of a step", "dependson", "depends_on"),
    "unknown field of the file": (steps("- {name: a, tool: echo}") + "outptus: {}\n", "/outptus: is not a field of a workflow", "outptus", "outputs"),
    "unknown input of a tool": (steps("- {name: a, tool: shell, inputs: {command: x, timeout_secs: 3}}"), "is not an input of shell", "timeout_secs", "timeout_seconds"),
    "unknown input": (steps('- {name: a, tool: echo, inputs: {x: "${inputs.cuont}"}}'), "unknown input cuont", "cuont", "count"),
    "unknown variable": (steps("- {name: a, tool: echo, outputs: {x: total}}", '- {name: b, tool: echo, depends_on: [a], inputs: {x: "${ctx.totla}"}}'),
                         "unknown variable totla", "totla", "total"),
    "unknown output of a tool": (steps("- {name: a, tool: shell, inputs: {command: x}}", '- {name: b, tool: echo, depends_on: [a], inputs: {x: "${steps.a.outputs.stdot}"}}'),
                                 'has no output "stdot"', "stdot", "stdout"),
    "unknown value": (HEAD.replace("type: number", "type: numbr") + "  - {name: a, tool: echo}\n", '"numbr" is not one of', "numbr", "number"),
    "duplicate name": (steps("- {name: a, tool: echo}", "- {name: a, tool: noop}"), "duplicate step name a: step 1 has it already", "a", "a_2"),
    "missing dependency": (steps("- {name: a, tool: echo}", "- name: b", "  tool: echo", '  inputs: {x: "${steps.a.outputs.x}"}'),
                           "reads step a without depending on it", "a", None),
    "cycle of two": (steps("- {name: a, tool: echo, depends_on: [b]}", "- {name: b, tool: echo, depends_on: [a]}"), "the dependencies form a cycle: a -> b -> a", "[b]", None),
    "cycle of one": (steps("- {name: a, tool: echo, depends_on: [a]}"), "step a depends on itself: a -> a", "a", None),
    "cycle of edges": (steps("- {name: a, tool: echo, join: any, entry: true, next: [{to: b}]}", "- {name: b, tool: echo, join: any, next: [{to: a}]}"),
                       "a -> b -> a", None, None),
    "bad expression": (steps('- {name: a, tool: echo, when: "inputs.count >> 3"}'), "at character", ">", None),
    "bad expression in a text": (steps('- {name: a, tool: echo, inputs: {x: "${inputs.count} is ${1 +} 3"}}'), "a value is missing", "+", None),
    "type of an output": (steps("- {name: a, tool: shell, inputs: {command: x}}",
                                '- {name: b, tool: shell, depends_on: [a], inputs: {command: x, timeout_seconds: "${steps.a.outputs.stdout}"}}'),
                          "output stdout of step a is a string, but input timeout_seconds of tool shell must be a number", "stdout", None),
    "type of an input": (steps('- {name: a, tool: shell, inputs: {command: "${inputs.count}"}}'),
                         "input count is a number, but input command of tool shell must be a string", "count", None),
    "literal of another type": (steps("- {name: a, tool: shell, inputs: {command: x, timeout_seconds: ten}}"), "must be a number", "ten", None),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_has_its_place_and_its_fix(server, kind):
    text, words, under, replacement = ERRORS[kind]
    found = validated(server, text)
    assert not found["is_valid"] and found["warnings"] == []
    [problem] = [one for one in found["problems"] if words in one["message"]]
    assert problem["message"] == f'{problem["pointer"]}: {problem["text"]}'
    assert f'{problem["line"]}:{problem["column"]}: {problem["message"]}' in found["errors"]
    if under is not None:
        assert marked(text, problem) == under
    if replacement is not None:
        assert problem["fix"]["text"] == replacement and problem["fix"]["title"] == f'replace "{under}" with "{replacement}"'
        assert validated(server, fixed(text, problem["fix"]))["is_valid"], "one fix mends it"


# The same for what does not stop a run.
WARNINGS = {
    "output of an agent": (steps("- {name: a, agent: ada, inputs: {prompt: x}}", '- {name: b, tool: echo, depends_on: [a], inputs: {x: "text ${steps.a.outputs.txt}"}}'),
                           'output "txt" of step a (agent ada) must be a member of its reply', "txt", "text"),
    "output of an agent with a schema": (steps("- {name: a, agent: ada, inputs: {prompt: x}}", '- {name: b, tool: echo, depends_on: [a], when: steps.a.outputs.sumary != null}'),
                                         'output "sumary" of step a', "sumary", "summary"),
    "name": (steps("- {name: a, tool: echo}").replace("name: flow", 'name: "flwo"'), "the definition calls itself flwo, not flow", "flwo", "flow"),
    "unreachable node": ("name: flow\nentry_point: a\nnodes:\n  a: {type: tool, tool: echo}\n  lost: {type: tool, tool: echo}\nedges: []\n",
                         "no edge leads to node lost from the entry point", "lost", None),
    "unreachable step": (steps("- {name: a, tool: echo, join: any, next: []}", "- {name: b, tool: echo, join: any, next: [{to: c, when: inputs.count > 1}]}",
                               "- {name: c, tool: echo, join: any, next: [{to: b}]}"), "no edge leads to step b", "b", None),
}


@pytest.mark.parametrize("kind", WARNINGS)
def test_a_warning_has_its_place_and_its_fix_and_is_no_error(server, kind):
    text, words, under, replacement = WARNINGS[kind]
    found = validated(server, text)
    assert found["is_valid"] and found["errors"] == [] and "problems" not in found
    [problem] = [one for one in found["warning_problems"] if words in one["message"]]
    assert marked(text, problem) == under
    assert f'{problem["line"]}:{problem["column"]}: {problem["message"]}' in found["warnings"]
    if replacement is not None:
        assert validated(server, fixed(text, problem["fix"])) == {"is_valid": True, "errors": [], "warnings": []}


@pytest.mark.parametrize("layout", [
    ["- name: b", "  tool: echo", '  inputs: {x: "${steps.a.outputs.x}"}'],
    ["- name: b", "  depends_on: [c]", "  tool: echo", '  inputs: {x: "${steps.a.outputs.x}"}'],
    ["- name: b", "  depends_on: []", "  tool: echo", '  inputs: {x: "${steps.a.outputs.x}"}'],
    ["- name: b", "  depends_on:", "    - c", "  tool: echo", '  inputs: {x: "${steps.a.outputs.x}"}'],
    ['- {name: b, tool: echo, inputs: {x: "${steps.a.outputs.x}"}}'],
])
def test_a_missing_dependency_is_added_where_the_author_would_write_it(server, layout):
    text = steps("- {name: a, tool: echo}", "- {name: c, tool: echo}", *layout)
    [problem] = validated(server, text)["problems"]
    assert problem["fix"]["title"] == 'add "a" to depends_on'
    mended = fixed(text, problem["fix"])
    assert validated(server, mended)["is_valid"], mended


def test_places_count_characters_also_in_blocks_of_text(server):
    text = steps("- name: grüße", "  tool: shell", "  inputs:", "    command: |", "      echo 😀 größe cuont ${inputs.count}", "      echo 'é' ${inputs.cuont} $(date)")
    text = text.replace("name: grüße", "name: greet")
    [problem] = validated(server, text)["problems"]
    assert marked(text, problem) == "cuont" and problem["line"] == text[:text.rindex("cuont")].count("\n") + 1
    assert validated(server, fixed(text, problem["fix"]))["is_valid"]


def test_every_fix_of_a_file_full_of_mistakes_leads_to_a_good_one(server):
    """Also a JSON file: the fix has the same form."""
    text = json.dumps({"name": "flwo", "inputs": {"count": {"type": "numbr"}}, "steps": [
        {"name": "a", "tool": "ehco", "inputs": {"x": "${inputs.cuont} ${input.count}"}},
        {"name": "b", "tool": "shell", "inputs": {"comand": "echo ${steps.a.outputs.x}"}, "whn": "inputs.count > 1"}]}, indent=1)
    for _ in range(12):
        found = validated(server, text)
        fixes = [one["fix"] for one in found.get("problems", []) + found.get("warning_problems", []) if "fix" in one]
        if not fixes:
            break
        text = fixed(text, fixes[0])
    assert found == {"is_valid": True, "errors": [], "warnings": []}, text


def test_the_mark_and_the_fix_on_the_command_line(home):
    text, _, _, _ = ERRORS["unknown input"]
    path = pathlib.Path(home.path, "flow.yaml")
    path.write_text(text)
    expected = (f'{path}:8:49: /steps/0/inputs: unknown input cuont: the workflow does not declare it; did you mean "count"?\n'
                '      - {name: a, tool: echo, inputs: {x: "${inputs.cuont}"}}\n'
                '                                                    ^~~~~\n'
                '    fix: replace "cuont" with "count"\n')
    for words in (["check", "--format", "full"], ["workflow", "validate", "--format", "full"], ["workflow", "dag", "--format", "full"]):
        status, out, _ = home.cli(*words, str(path))
        assert (status, out) == (2, expected), words
    short = expected.splitlines()[0] + "\n"
    for words in (["check"], ["check", "--format", "short"], ["workflow", "validate"]):
        assert home.cli(*words, str(path))[:2] == (2, short), words
    status, _, errors = home.cli("check", "--format", "long", str(path))
    assert status == 2 and 'unknown format "long"; expected full or short' in errors


def test_a_terminal_gets_the_mark(home):
    path = pathlib.Path(home.path, "flow.yaml")
    path.write_text(ERRORS["unknown tool"][0])
    script = pathlib.Path(home.path, "typescript")
    home.cli("check", str(path))  # the data folder exists
    subprocess.run(["script", "-qec", f"{PROGRAM} --home {home.data} check {path}", str(script)], env={**environment(), "TERM": "xterm"},
                   stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False)
    out = script.read_text()
    assert "                     ^~~~" in out and 'fix: replace "ehco" with "echo"' in out


def test_standard_input_has_no_name_that_could_differ(home):
    done = subprocess.run([PROGRAM, "--home", home.data, "check", "-"], input=steps("- {name: a, tool: echo}"), env=environment(), text=True,
                          capture_output=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout) == (0, "-: ok\n")
