"""Text from strangers on a terminal: nothing that the command line prints is obeyed by it."""
import json
import pathlib
import re

import pytest

from baton import wait_until
from terminal import Terminal

# Clears the screen, sets the title, hides text, and shows a line backwards.
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x1b[8m\u202egpj.exe\u2066\u009b31m\x7f"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
SHOWN = r"\x1b[2J\x1b]0;owned\x07\x1b[8m\u202egpj.exe\u2066\u009b31m\x7f"
WORKFLOW = """
name: hostile
description: x
inputs: {text: {type: string}}
steps:
  - {name: say, tool: echo, inputs: {text: "${inputs.text}"}}
  - {name: ask, human: {question: "Delete ${inputs.text}?\\nSecond line"}, depends_on: [say]}
outputs: {said: {from: "${steps.say.outputs.text}"}}
"""


def on_terminal(home, *words, status=0):
    """What the command prints on a terminal, result and errors; nothing in it is obeyed."""
    with Terminal(home, *words, errors=True, NO_COLOR="1") as terminal:
        assert terminal.wait() == status, terminal.text
        assert not OBEYED.search(terminal.text), repr(terminal.text)
        return terminal.text


@pytest.fixture
def run(home, server):
    home.define(WORKFLOW)
    run = server.run_of("hostile", {"text": HOSTILE})
    wait_until(lambda: len(server.inbox()) == 1)
    return run


@pytest.mark.parametrize("words", [
    ("show",), ("show", "--json"), ("logs",), ("events", "--run"), ("events", "--json", "--run"), ("artifacts",)])
def test_commands_about_a_run(home, server, run, words):
    on_terminal(home, *words, run)


def test_a_question_shows_what_it_hides(home, server, run):
    assert f"    | Delete {SHOWN}?\n    | Second line\n" in on_terminal(home, "inbox")
    assert f"  | Delete {SHOWN}?\n  | Second line\n" in on_terminal(home, "show", run)
    assert f"    | Delete {SHOWN}?\n    | Second line\n" in on_terminal(home, "logs", run)
    assert f"| Delete {SHOWN}?\n| Second line\n" in on_terminal(home, "approve", run, "-m", HOSTILE)
    server.finish(run)
    assert SHOWN in on_terminal(home, "logs", run)


def test_json_keeps_its_meaning(home, server, run):
    server.respond(server.inbox()[0]["id"])
    server.finish(run)
    with Terminal(home, "watch", run, "--json") as terminal:
        assert terminal.wait() == 0
        assert not OBEYED.search(terminal.text)
        assert json.loads(terminal.text)["outputs"]["said"] == HOSTILE
    piped = home.cli("watch", run, "--json")[1]
    assert not OBEYED.search(piped) and json.loads(piped)["outputs"]["said"] == HOSTILE
    tree = on_terminal(home, "run", "hostile", "--input", "nothing=1", status=2)
    assert "is not an input" in tree


def test_errors(home, server):
    assert SHOWN in on_terminal(home, "show", HOSTILE, status=2)
    assert SHOWN in on_terminal(home, HOSTILE, status=2)
    assert SHOWN in on_terminal(home, "config", "get", HOSTILE, status=4)
    assert r"\u202e" in on_terminal(home, "run", "two-steps", "--input", "\u202ewho=1", status=2)
    path = pathlib.Path(home.path, "bad.yaml")
    path.write_text('name: bad\nsteps:\n  - {name: a, tool: echo, "\\u202ex\\e[2J": 1}\n')
    assert r"\u202ex\x1b[2J" in on_terminal(home, "run", str(path), status=2)


def test_names_and_labels_of_documents(home, server):
    on_terminal(home, "key", "create", "key \u202e\x1b[2J", "--role", "viewer")
    assert r"key \u202e\x1b[2J" in on_terminal(home, "key", "list")
    on_terminal(home, "profile", "create", "work", "--set", f"repo_root=/{HOSTILE}", "--set", "tracker=github")
    assert SHOWN in on_terminal(home, "profile", "list")
    on_terminal(home, "profile", "show", "work")


def test_the_text_of_a_tool(home, server):
    tools = pathlib.Path(home.data, "tools")
    tools.mkdir()
    (tools / "nice.py").write_text("#!/usr/bin/env python3\n")
    (tools / "nice.yaml").write_text('name: nice\nprogram: nice.py\ntext: "a \\u202e b \\e[2J"\n')
    on_terminal(home, "tools")
    on_terminal(home, "trust", "list")


def test_an_artifact_is_text_on_a_terminal_and_bytes_in_a_pipe(home, server):
    home.define("""
name: made
steps:
  - {name: a, tool: write_artifact, inputs: {name: a.txt, content: "one\\ntwo\\e[2J\\n"}}
""")
    run = server.run_of("made")
    assert server.finish(run)["status"] == "success", server.result(run)
    assert on_terminal(home, "artifacts", run, "a.txt") == "one\ntwo\\x1b[2J\n"
    assert home.cli("artifacts", run, "a.txt")[1] == "one\ntwo\x1b[2J\n"


def test_a_live_tree_obeys_only_itself(home, server, run):
    with Terminal(home, "watch", run, NO_COLOR="1") as terminal:
        terminal.until(r"Delete")
        server.respond(server.inbox()[0]["id"])
        assert terminal.wait() == 0
        # Only the tree's own sequences: cursor up and erase.
        assert set(re.findall(r"\x1b\[\d*[A-Za-z]", terminal.text)) <= {f"\x1b[{n}A" for n in range(9)} | {"\x1b[J"}
        assert r"\x1b[2J" in terminal.text and "\u202e" not in terminal.text
