"""baton workflow …, baton run --dry-run and baton trust --project, from the command line."""
import os
import pathlib
import subprocess
import xml.etree.ElementTree

from baton import PROGRAM, environment

TEXT = """name: greet
description: Greets.
inputs:
  who: {type: string, default: world}
steps:
  - {name: one, tool: echo, inputs: {text: "Hello ${inputs.who}"}}
  - {name: two, tool: echo, depends_on: [one], when: "inputs.who != 'x'", inputs: {text: "${steps.one.outputs.text}!"}}
outputs:
  text: {from: "${steps.two.outputs.text}"}
"""
USAGE, NOT_FOUND, CONFLICT = 2, 4, 5


def talk(home, *words, answers="", **env):
    """Runs the program with these lines on its standard input."""
    done = subprocess.run([PROGRAM, "--home", home.data, *words], input=answers, capture_output=True, text=True, cwd=home.path,
                          env=environment(**env), timeout=300)
    return done.returncode, done.stdout, done.stderr


def editor(home, *scripts):
    """An $EDITOR that applies the next sed script at each call, and keeps a count of its calls."""
    folder = pathlib.Path(home.path)
    for number, script in enumerate(scripts):
        (folder / f"edit-{number}").write_text(script)
    (folder / "count").write_text("0")
    program = folder / "editor"
    program.write_text(f"""#!/bin/sh
n=$(cat {folder}/count); echo $((n + 1)) > {folder}/count
[ "$1" = --wait ] || exit 9
sed -i -f {folder}/edit-$n "$2"
""")
    program.chmod(0o755)
    return {"EDITOR": f"{program} --wait", "VISUAL": "", "TMPDIR": home.path}


def calls(home):
    return int(pathlib.Path(home.path, "count").read_text())


def left_over(home):
    return sorted(pathlib.Path(home.path).glob("baton-*.yaml"))


def test_new_list_show_versions_delete(home):
    assert home.cli("workflow", "new", "greet")[:2] == (0, "saved greet, version 1\n")
    status, output, _ = home.cli("workflow", "list")
    assert status == 0 and any(line.split()[:3] == ["greet", "stored", "v1"] for line in output.splitlines())
    assert home.cli("workflow", "new", "greet")[0] == CONFLICT
    assert home.cli("workflow", "new", "copy", "--from", "two-steps")[0] == 0
    shown = home.cli("workflow", "show", "copy")[1]
    assert shown == home.cli("workflow", "show", "two-steps")[1].replace("name: two-steps", "name: copy")
    path = pathlib.Path(home.path, "mine.yaml")
    path.write_text(TEXT)
    assert home.cli("workflow", "edit", "greet", "--file", str(path))[:2] == (0, "saved greet, version 2\n")
    assert home.cli("workflow", "edit", "greet", "--file", str(path))[:2] == (0, "saved greet, version 2\n")
    assert home.cli("workflow", "show", "greet")[1] == TEXT
    assert home.cli("workflow", "show", "greet", "--version", "1")[1].startswith("name: greet\n")
    assert home.cli("workflow", "show", "greet", "--version", "2")[1] == TEXT
    versions = home.cli("workflow", "versions", "greet")[1].splitlines()
    assert [line.split()[0] for line in versions] == ["2", "1"] and versions[0].endswith("current")
    diff = home.cli("workflow", "versions", "greet", "--diff", "1")[1]
    assert diff.startswith("--- version 1\n+++ version 2\n") and "+description: Greets.\n" in diff
    assert home.cli("workflow", "versions", "greet", "--diff", "2", "--to", "1")[1].startswith("--- version 2\n+++ version 1\n")
    assert home.cli("run", "greet", "--input", "who=you")[0] == 0
    assert home.cli("workflow", "delete", "greet")[0] == 0
    assert home.cli("workflow", "show", "greet")[0] == NOT_FOUND
    assert "deleted" in home.cli("workflow", "versions", "greet")[1]
    assert home.cli("workflow", "delete", "two-steps")[0] == CONFLICT
    assert home.cli("workflow", "versions", "two-steps")[0] == 0
    assert home.cli("workflow", "show", "")[0] == USAGE


def test_validate_and_dag(home):
    path = pathlib.Path(home.path, "greet.yaml")
    path.write_text(TEXT)
    assert home.cli("workflow", "validate", str(path))[:2] == (0, f"{path}: ok\n")
    assert home.cli("workflow", "validate", "two-steps")[:2] == (0, "two-steps: ok\n")
    drawing = home.cli("workflow", "dag", str(path))[1]
    lines = drawing.splitlines()
    assert "one" in lines[1] and "▼" in drawing and "two" in lines[-3]
    assert lines[0].strip(" ").startswith("┌") and lines[-1].strip(" ").startswith("└")
    image = pathlib.Path(home.path, "greet.svg")
    assert home.cli("workflow", "dag", str(path), "--svg", str(image))[0] == 0
    root = xml.etree.ElementTree.fromstring(image.read_text())
    assert [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")] == ["one", "tool · echo", "two", "tool · echo"]
    path.write_text("name: greet\nsteps:\n  - {name: a, tool: nothing}\n")
    for word in ("validate", "dag"):
        status, output, _ = home.cli("workflow", word, str(path))
        assert status == USAGE and output.startswith(f"{path}:3:") and "nothing" in output
    assert home.cli("workflow", "dag", "nothing")[0] == NOT_FOUND


def test_names_in_a_drawing_cannot_control_the_terminal(home):
    path = pathlib.Path(home.path, "odd.yaml")
    path.write_text('name: odd\nagents: {"a\\e[31m<b>&": {driver: script, options: {replies: [{text: hi}]}}}\n'
                    'steps:\n  - {name: a, agent: "a\\e[31m<b>&", inputs: {prompt: hi}}\n')
    status, output, _ = home.cli("workflow", "dag", str(path))
    if status == 0:
        assert "\x1b" not in output
        xml.etree.ElementTree.fromstring(home.cli("workflow", "dag", str(path), "--svg", "-")[1])


def test_edit_saves_and_removes_its_file(home):
    home.cli("workflow", "new", "greet")
    env = editor(home, "s/Hello/Howdy/")
    assert talk(home, "workflow", "edit", "greet", **env)[:2] == (0, "saved greet, version 2\n")
    assert "Howdy" in home.cli("workflow", "show", "greet")[1] and left_over(home) == []
    env = editor(home, "")
    assert talk(home, "workflow", "edit", "greet", **env)[:2] == (0, "greet is unchanged\n")
    assert left_over(home) == [] and calls(home) == 1


def test_edit_offers_the_editor_again_after_a_mistake(home):
    home.cli("workflow", "new", "greet")
    env = editor(home, "s/tool: echo/tool: nothing/", "s/tool: nothing/tool: echo/;s/Hello/Howdy/")
    status, output, errors = talk(home, "workflow", "edit", "greet", answers="y\n", **env)
    assert (status, output) == (0, "saved greet, version 2\n") and "nothing" in errors and calls(home) == 2
    env = editor(home, "s/tool: echo/tool: nothing/")
    status, output, errors = talk(home, "workflow", "edit", "greet", answers="n\n", **env)
    assert status == USAGE and output == "" and calls(home) == 1
    [kept] = left_over(home)
    assert str(kept) in errors and "tool: nothing" in kept.read_text()


def test_edit_shows_a_conflict_and_lets_the_person_choose(home):
    server = home.serve()
    home.cli("workflow", "new", "greet")
    other = pathlib.Path(home.path, "other.yaml")
    for answer, expected in (("q\n", "Second"), ("o\n", "Third")):
        text = home.cli("workflow", "show", "greet")[1]
        word = text.split('text: "')[1].split(",")[0]
        other.write_text(text.replace(word, "Second" if word != "Second" else "Fourth"))
        env = editor(home, f"s/{word}/Third/")
        program = pathlib.Path(home.path, "editor")
        program.write_text(program.read_text() + f"{PROGRAM} --home {home.data} workflow edit greet --file {other} >/dev/null\n")
        status, _, errors = talk(home, "workflow", "edit", "greet", answers=answer, **env)
        assert "--- current" in errors and "+++ yours" in errors, errors
        assert status == (CONFLICT if answer == "q\n" else 0)
        assert expected in server.get("/api/workflows/greet").body["yaml_content"]


def test_edit_with_a_broken_editor_keeps_the_text(home):
    home.cli("workflow", "new", "greet")
    status, _, errors = talk(home, "workflow", "edit", "greet", EDITOR="false", VISUAL="", TMPDIR=home.path)
    assert status != 0 and str(left_over(home)[0]) in errors
    assert len(home.cli("workflow", "versions", "greet")[1].splitlines()) == 1


def test_dry_run(home):
    path = pathlib.Path(home.path, "greet.yaml")
    path.write_text(TEXT)
    status, output, _ = home.cli("run", str(path), "--dry-run")
    assert status == 0
    steps = [line.split() for line in output.splitlines()[2:]]
    assert [step[:2] for step in steps] == [["1", "one"], ["2", "two"]]
    assert "after one" in output and "when inputs.who != 'x'" in output
    assert home.cli("run", str(path), "--dry-run", "--input", "nobody=1")[0] == USAGE
    assert home.cli("run", "nothing", "--dry-run")[0] == NOT_FOUND
    assert len(home.cli("runs")[1].splitlines()) == 1


def test_dry_run_estimates_the_cost(home):
    server = home.serve()
    home.define("""name: priced
agents:
  known: {driver: api, model: claude-sonnet-4-5, system: "%s", options: {provider: anthropic}}
  other: {driver: api, model: nobody-knows, options: {provider: anthropic}}
steps:
  - {name: a, agent: known, inputs: {prompt: hi}}
  - {name: b, agent: other, depends_on: [a], inputs: {prompt: hi}}
""" % ("word " * 800))
    answer = server.request("POST", "/api/run/plan", {"workflow": "priced"})
    assert answer.status == 200, answer
    a, b = answer.body["steps"]
    assert (a["model"], a["output_tokens"]) == ("claude-sonnet-4-5", 1000) and 1000 <= a["input_tokens"] <= 1100
    assert a["cost_usd"] == answer.body["cost_usd"] > 0 and "cost_usd" not in b and answer.body["unpriced"] == ["b"]
    assert server.get("/api/runs").body == []


def test_trust_a_project(home):
    folder = pathlib.Path(home.path, "repository")
    (folder / ".baton" / "workflows").mkdir(parents=True)
    file = folder / ".baton" / "workflows" / "greet.yaml"
    file.write_text(TEXT)
    home.serve()
    assert home.cli("run", "greet")[0] == NOT_FOUND
    status, output, _ = home.cli("trust", "--project", str(folder))
    assert status == 0 and output.startswith("trusted workflow greet: ")
    assert home.cli("run", "greet")[0] == 0
    assert str(folder) in home.cli("trust", "list")[1]
    file.write_text(TEXT.replace("Hello", "Hi"))
    status, _, errors = home.cli("run", "greet")
    assert status == 6 and "changed since it was trusted" in errors
    assert home.cli("trust", "revoke", "--project", str(folder))[0] == 0
    assert home.cli("trust", "revoke", "--project", str(folder))[0] == NOT_FOUND
    assert home.cli("trust", "--project", os.path.join(home.path, "none"))[0] == NOT_FOUND
    assert home.cli("trust")[0] == USAGE
    assert home.cli("trust", "list", "--project", str(folder))[0] == USAGE
