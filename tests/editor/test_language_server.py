"""An editor's own client library speaks with `baton lsp`."""
import json
import pathlib
import subprocess

from baton import PATIENCE_S, PROGRAM, environment

CLIENT = pathlib.Path(__file__).with_name("client.mjs")
GOOD = """\
name: flow
inputs:
  who: {type: string, default: Ada}
agents:
  ada: {driver: script, options: {replies: [{text: hi}]}}
steps:
  - name: greet
    agent: ada
    inputs: {prompt: "Greet ${inputs.who}."}
  - name: count
    description: Counts the words.
    tool: shell
    depends_on: [greet]
    inputs:
      command: "echo ${steps.greet.outputs.text} | wc -w"
  - name: each
    depends_on: [count]
    map:
      over: [1, 2]
      steps:
        - {name: half, tool: echo, inputs: {n: "${item}"}}
        - {name: show, tool: echo, depends_on: [half], inputs: {n: "${steps.half.outputs.n}"}}
outputs:
  words: {from: "${steps.count.outputs.stdout}"}
"""


def edit(home, *actions, capabilities=None, uri="file:///w/flow.yaml"):
    """Runs the actions in one session; each names the file only when it is another than `uri`."""
    full = [["initialize", capabilities]]
    for name, *rest in actions:
        full.append([name, *rest] if rest and isinstance(rest[0], str) and rest[0].startswith("file:") or name == "request"
                    else [name, uri, *rest])
    done = subprocess.run(["node", CLIENT, json.dumps(full), "--", PROGRAM, "--home", home.data, "lsp"],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=True, env=environment())
    *results, status = json.loads(done.stdout)
    assert status == 0
    return results


def at(text, words, offset=0):
    for number, line in enumerate(text.splitlines()):
        if words in line:
            return number, line.index(words) + offset
    raise AssertionError(words)


def labels(items):
    return [item["label"] for item in items]


def test_a_good_file_has_no_diagnostics_and_a_broken_one_has_those_of_check(home):
    broken = GOOD.replace("tool: shell", "tol: shell").replace("depends_on: [half]", "depends_on: [haf]")
    _, _, good, _, bad = edit(home, ["open", GOOD], ["diagnostics"], ["change", broken], ["diagnostics"])
    assert good == []
    home.define(broken)
    checked = json.loads(home.cli("check", "--json", f"{home.data}/definitions/flow.yaml")[1])
    assert [one["message"] for one in bad if one["severity"] == 1] == [one["message"] for one in checked["problems"]]
    assert [(one["range"]["start"]["line"] + 1, one["range"]["start"]["character"] + 1) for one in bad] == \
        [(one["line"], one["column"]) for one in checked["problems"]]
    misspelled = next(one for one in bad if 'did you mean "tool"' in one["message"])
    line, character = at(broken, "tol: shell")
    assert misspelled["range"] == {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 3}}


def test_a_name_that_differs_from_the_file_is_a_warning(home):
    _, _, found = edit(home, ["open", GOOD], ["diagnostics"], uri="file:///w/other.yaml")
    assert [(one["severity"], "flow" in one["message"]) for one in found] == [(2, True)]
    assert found[0]["range"] == {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 10}}


def applied(text, edit):
    """The text after one edit of the protocol; characters are UTF-16 code units."""
    lines = text.split("\n")

    def offset(place):
        before = lines[place["line"]].encode("utf-16-le")[:2 * place["character"]].decode("utf-16-le")
        return sum(len(line) + 1 for line in lines[:place["line"]]) + len(before)

    return text[:offset(edit["range"]["start"])] + edit["newText"] + text[offset(edit["range"]["end"]):]


def test_quick_fixes_mend_the_file(home):
    """One fix after the other, as a person takes them, until nothing is left to fix."""
    text = (GOOD.replace("tool: shell", "tol: shell").replace("depends_on: [half], ", "").replace("depends_on: [greet]", "depends_on: [great]")
            .replace("Greet ${inputs.who}", "Grüße 😀 ${inputs.hwo}").replace("greet.outputs.text", "greet.outputs.txt"))
    titles = []
    for _ in range(8):
        _, _, actions = edit(home, ["open", text], ["actions"])
        if not actions:
            break
        action = actions[0]
        assert action["kind"] == "quickfix" and action["diagnostics"][0]["source"] == "baton"
        [[change]] = action["edit"]["changes"].values()
        titles.append(action["title"])
        text = applied(text, change)
    assert sorted(titles) == sorted(['replace "tol" with "tool"', 'replace "hwo" with "who"', 'replace "great" with "greet"',
                                     'replace "txt" with "text"', 'add "half" to depends_on'])
    _, _, left = edit(home, ["open", text], ["diagnostics"])
    assert left == []
    assert "Grüße 😀 ${inputs.who}" in text


def test_a_file_without_problems_has_no_actions(home):
    assert edit(home, ["open", GOOD], ["actions"])[2] == []


def test_fields_are_proposed_where_they_fit_and_are_missing(home):
    text = GOOD + "steps2:\n"
    start = GOOD.replace("    tool: shell\n", "    tool: shell\n    \n")
    line, _ = at(start, "tool: shell")
    _, _, items = edit(home, ["open", start], ["completion", line + 1, 4])
    offered = labels(items)
    assert {"timeout", "retry", "when", "undo"} <= set(offered)
    assert not {"name", "tool", "depends_on", "inputs"} & set(offered), "they are there already"
    retry = next(item for item in items if item["label"] == "timeout")
    assert retry["textEdit"]["newText"] == "timeout: " and "seconds" in retry["documentation"]
    _, _, top = edit(home, ["open", text], ["completion", text.count("\n"), 0])
    assert "strict" in labels(top) and "steps" not in labels(top)


def test_values_and_names_are_proposed(home):
    text = GOOD.replace("tool: shell", "tool: sh").replace("depends_on: [greet]", "depends_on: []").replace("agent: ada", "agent: ")
    tool, agent, depends = at(text, "tool: sh", 8), at(text, "agent: ", 7), at(text, "depends_on: []", 13)
    _, _, tools, agents, steps = edit(home, ["open", text], ["completion", *tool], ["completion", *agent], ["completion", *depends])
    assert labels(tools) == ["shell"] and tools[0]["textEdit"]["newText"] == "shell"
    assert labels(agents) == ["ada"]
    assert set(labels(steps)) == {"greet", "each"}, "steps of the same body, but not the step itself"
    text = GOOD.replace("name: flow\n", "name: flow\nstrict: \n")
    _, _, truths = edit(home, ["open", text], ["completion", 1, 8])
    assert labels(truths) == ["true", "false"]
    text = GOOD.replace("map:\n", "human: {question: x, kind: }\n    map:\n")
    _, _, kinds = edit(home, ["open", text], ["completion", *at(text, "kind: ", 6)])
    assert set(labels(kinds)) >= {"approval", "feedback", "escalation"}


def test_inputs_of_the_tool_are_proposed(home):
    text = GOOD.replace("      command:", "      \n      command:")
    line, _ = at(text, "      command:")
    _, _, items = edit(home, ["open", text], ["completion", line - 1, 6])
    assert "timeout_seconds" in labels(items) and "command" not in labels(items)


def test_names_in_expressions_are_proposed(home):
    def offered(expression):
        text = GOOD.replace("${steps.greet.outputs.text}", expression)
        _, _, items = edit(home, ["open", text], ["completion", *at(text, expression, len(expression))])
        return set(labels(items))

    assert {"inputs", "steps", "ctx", "coalesce"} <= offered("${")
    assert offered("${inputs.") == {"who"}
    assert {"greet", "count", "each", "half", "show"} == offered("${steps.")
    assert offered("${steps.greet.") == {"outputs", "status", "error"}
    assert offered("${steps.greet.outputs.") == {"text", "json"}
    assert "exit_code" in offered("${steps.count.outputs.")
    text = GOOD.replace("    tool: shell\n", "    tool: shell\n    when: inp\n")
    _, _, items = edit(home, ["open", text], ["completion", *at(text, "when: inp", 9)])
    assert labels(items) == ["inputs"]


def test_hover_explains_fields_tools_and_steps(home):
    field, tool, step, name, none = edit(
        home, ["open", GOOD], ["hover", *at(GOOD, "depends_on", 3)], ["hover", *at(GOOD, "shell", 2)],
        ["hover", *at(GOOD, "[count]", 2)], ["hover", *at(GOOD, "command:", 2)], ["hover", *at(GOOD, "over:", 9)])[2:]
    assert field["contents"]["value"].startswith("depends_on: list of text, default []\n\n")
    assert "class contained" in tool["contents"]["value"] or "class once" in tool["contents"]["value"]
    assert step["contents"]["value"] == "step count: tool shell\n\nCounts the words."
    assert "sh -c" in name["contents"]["value"]
    assert none is None


def test_definitions_are_found(home, tmp_path):
    step, expression, agent, given, inner, nothing = edit(
        home, ["open", GOOD], ["definition", *at(GOOD, "[greet]", 2)], ["definition", *at(GOOD, "steps.count.outputs", 8)],
        ["definition", *at(GOOD, "agent: ada", 8)], ["definition", *at(GOOD, "inputs.who", 8)],
        ["definition", *at(GOOD, "[half]", 2)], ["definition", *at(GOOD, "tool: shell", 8)])[2:]
    for found, words, offset in ((step, "name: greet", 6), (expression, "name: count", 6), (agent, "ada: {", 0),
                                 (given, "who: {", 0), (inner, "name: half", 6)):
        line, character = at(GOOD, words, offset)
        assert found["range"]["start"] == {"line": line, "character": character}, words
    assert nothing is None
    (tmp_path / "child.yaml").write_text("name: child\nsteps: [{name: a, tool: noop}]\n")
    text = "name: parent\nsteps:\n  - {name: run, workflow: child}\n"
    _, _, found = edit(home, ["open", text], ["definition", *at(text, "child", 1)], uri=f"file://{tmp_path}/parent.yaml")
    assert found["uri"] == f"file://{tmp_path}/child.yaml"


def test_positions_count_utf16_units_or_bytes_as_agreed(home):
    text = GOOD.replace('"Greet ${inputs.who}."', '"😀é ${inputs.who}."')
    line, character = at(text, "inputs.who", 8)
    units, size = character + 1, len(text.splitlines()[line][:character].encode())
    (*_, found) = edit(home, ["open", text], ["definition", line, units])
    assert found["range"]["start"] == {"line": at(text, "who: {")[0], "character": 2}
    started, _, found = edit(home, ["open", text], ["hover", line, size],
                             capabilities={"general": {"positionEncodings": ["utf-8", "utf-16"]}})
    assert started["capabilities"]["positionEncoding"] == "utf-8"
    assert found["range"]["start"]["character"] == size - 1


def test_the_data_folder_is_free_while_an_editor_is_open(home):
    editor = home.begin("lsp")
    server = home.serve()
    assert server.get("/api/health").status == 200
    editor.end()


def test_bad_requests_are_answered_and_change_nothing(home):
    _, _, unknown, closed, wrong, items = edit(
        home, ["open", GOOD], ["request", "textDocument/rename", {}],
        ["request", "textDocument/hover", {"textDocument": {"uri": "file:///none"}, "position": {"line": 0, "character": 0}}],
        ["request", "textDocument/hover", {"textDocument": {"uri": "file:///w/flow.yaml"}, "position": {"line": -1}}],
        ["completion", 99999, 99999])
    assert unknown["code"] == -32601 and closed["code"] == -32602 and wrong["code"] == -32602
    assert isinstance(items, list)


def test_what_is_no_message_ends_the_conversation(home):
    def talk(text):
        done = subprocess.run([PROGRAM, "--home", home.data, "lsp"], input=text, capture_output=True, timeout=PATIENCE_S,
                              check=False, env=environment())
        return done.returncode, done.stdout, done.stderr.decode()

    assert talk(b"") == (1, b"", "")
    status, out, errors = talk(b"Content-Length: x\r\n\r\n")
    assert status == 2 and out == b"" and "Content-Length" in errors
    status, _, errors = talk(b"Content-Length: 99999999999\r\n\r\n")
    assert status == 2 and "at most 8388608" in errors
    status, out, _ = talk(b"Content-Length: 3\r\n\r\n{x}Content-Length: 2\r\n\r\n[]")
    assert status == 1 and b"-32700" in out and b"-32600" in out
