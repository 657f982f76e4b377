"""Definitions that would take too much, from outside: each ends with a clear error and bounded work, and the server goes on."""
import json
import pathlib

import pytest

LIMIT_BYTES = 1024 * 1024


def nodes(count):
    return "name: big\nentry_point: n0\nnodes:\n" + "".join(f"  n{i}: {{type: tool, tool: echo}}\n" for i in range(count))


def steps(count):
    return "name: big\nsteps:\n" + "".join(f"- {{name: s{i}, tool: noop}}\n" for i in range(count))


def bomb(depth):
    lines = ["name: big", "x-a0: &a0 [l, l, l, l, l, l, l, l, l, l]"]
    lines += [f"x-a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, depth)]
    return "\n".join([*lines, f"steps: [{{name: a, tool: echo, inputs: {{x: *a{depth - 1}}}}}]", ""])


def validated(server, text):
    return server.request("POST", "/api/workflows/validate", {"name": "big", "yaml_content": text})


def test_a_million_nodes(home, server):
    path = pathlib.Path(home.path, "big.yaml")
    path.write_text(nodes(1_000_000))
    assert path.stat().st_size > LIMIT_BYTES
    for words in (["check"], ["workflow", "validate"], ["workflow", "dag"], ["run"], ["sim"]):
        status, _, errors = home.cli(*words, str(path))
        assert status != 0 and "larger than" in errors, (words, errors)
    refused = validated(server, path.read_text())
    assert refused.status == 413, refused
    refused = server.request("PUT", "/api/workflows/big", {"name": "big", "yaml_content": path.read_text()})
    assert refused.status == 413
    assert server.get("/api/workflows").status == 200


@pytest.mark.parametrize("text, words", [
    (nodes(20_000), "10000"), (steps(30_000), "10000"), (bomb(12), "more than 100000 nodes when aliases and merge keys are expanded"),
    ("name: big\nsteps: &s [{name: a, parallel: {steps: *s}}]\n", "the alias *s is inside its own anchor"),
    ("name: big\nsteps:\n- {name: a, tool: echo, inputs: {x: " + "[" * 5000 + "]" * 5000 + "}}\n", "deep"),
    ("name: big\nname: big\nsteps: []\n", 'duplicate key "name"'),
], ids=["nodes", "steps", "aliases", "alias of itself", "depth", "key"])
def test_too_much_is_refused_with_the_place(server, text, words):
    answer = validated(server, text)
    assert answer.status == 200 and not answer.body["is_valid"]
    assert any(words in one for one in answer.body["errors"]), answer.body["errors"]
    assert len(answer.body["errors"]) <= 64


def test_a_file_full_of_mistakes_has_the_first_64(server):
    text = "name: big\nsteps:\n" + "".join(f"- {{name: s{i}, tool: ehco, inputs: {{x: '${{steps.nope{i}.outputs.x}}'}}}}\n" for i in range(5000))
    answer = validated(server, text).body
    assert len(answer["problems"]) == 64 and answer["problems"][0]["fix"]["text"] == "echo"


def test_a_line_that_is_too_long_for_a_terminal_is_not_shown(home):
    path = pathlib.Path(home.path, "big.yaml")
    path.write_text(json.dumps({"name": "big", "steps": [{"name": "a", "tool": "ehco", "inputs": {"x": "y" * 100_000}}]}))
    status, out, _ = home.cli("check", "--format", "full", str(path))
    assert status == 2 and len(out) < 1000 and 'fix: replace "ehco" with "echo"' in out


def test_control_characters_of_a_file_do_not_reach_the_terminal(home):
    path = pathlib.Path(home.path, "big.yaml")
    path.write_text('name: big\nsteps: [{name: a, tool: "eh\\eco", inputs: {x: "\\a"}}]\n')
    status, out, _ = home.cli("check", "--format", "full", str(path))
    assert status == 2 and "\x1b" not in out and "\a" not in out
