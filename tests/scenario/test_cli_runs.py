"""What a person sees of runs on the command line: the list, the details, Ctrl-C, and messages that name the mistake."""
import json
import os
import re
import signal

import pytest

from baton import EXIT, new_id, wait_until
from terminal import Terminal

HOLD = 'name: hold\nsteps:\n  - {name: a, wait: {signal: go}}\n'


# ---- runs ----------------------------------------------------------------------------------------


def listed(home, *words):
    status, output, errors = home.cli("runs", *words)
    assert status == 0, errors
    return output.splitlines(), errors


def test_the_list_has_a_header_and_baton_states(home, server):
    home.define(HOLD)
    held = server.run_of("hold")
    assert server.start("two-steps", wait=True).body["status"] == "success"
    lines, _ = listed(home)
    assert re.fullmatch(r"RUN +STATE +AGE +TOOK +WORKFLOW", lines[0])
    assert [line.split()[1] for line in lines[1:]] == ["succeeded", "running"]
    age, took = r"(\d+ms|\d+\.\ds|\d+m)", r"(\d+ms|\d+\.\ds|\d+m \d+s)"
    assert re.fullmatch(rf"{held}  running +{age} +{took} +hold", lines[2])
    shown = {line.split()[0]: line.split()[1] for line in lines[1:]}
    for run, state in shown.items():
        assert f"  state      {state}\n" in home.cli("show", run)[1]  # one vocabulary


def test_pages_limits_and_all(home, server):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(3)][::-1]
    ids = lambda *words: [line.split()[0] for line in listed(home, *words)[0][1:]]
    assert ids("--limit", "2") == runs[:2] and ids("-n", "9") == ids("--all") == runs
    assert [run["run_id"] for run in json.loads(home.cli("runs", "--limit", "2", "--json")[1])] == runs[:2]
    assert [run["run_id"] for run in json.loads(home.cli("runs", "--all", "--json")[1])] == runs
    assert json.loads(home.cli("runs", "--workflow", "none", "--json")[1]) == []
    for words, says in [(("--limit", "0"), "--limit"), (("--limit", "x"), "--limit"), (("--limit", "1", "--all"), "--all")]:
        status, _, errors = home.cli("runs", *words)
        assert status == EXIT["usage"] and says in errors


def test_a_list_that_is_cut_says_so(home, server):
    home.define("name: small\nsteps:\n  - {name: a, tool: noop}\n")
    for _ in range(51):
        server.run_of("small")
    lines, errors = listed(home)
    assert len(lines) == 51 and "--all" in errors
    assert len(listed(home, "--all")[0]) == 52


def test_labels(home, server):
    assert home.cli("run", "two-steps", "--label", "team=core")[0] == 0
    assert home.cli("run", "two-steps")[0] == 0
    lines, _ = listed(home, "--label", "team=core")
    assert len(lines) == 2 and lines[1].endswith("two-steps  team=core")
    assert "  labels     team=core\n" in home.cli("show", lines[1].split()[0])[1]


def test_states_have_colors_on_a_terminal(home, server):
    assert home.cli("run", "two-steps")[0] == 0
    with Terminal(home, "runs") as terminal:
        assert terminal.wait() == 0 and "\x1b[32msucceeded" in terminal.text
    with Terminal(home, "runs", NO_COLOR="1") as terminal:
        assert terminal.wait() == 0 and "\x1b" not in terminal.text


# ---- show ----------------------------------------------------------------------------------------


def test_show_prints_inputs_outputs_and_errors(home, server):
    home.define("""name: shown
inputs: {text: {type: string}, list: {type: array, default: [1, 2]}}
steps:
  - {name: a, tool: shell, inputs: {command: "echo one >&2; echo two >&2; exit 3"}}
  - {name: b, tool: echo, inputs: {text: "${inputs.text}"}}
outputs: {said: {from: "${steps.b.outputs.text}"}}
""")
    run = server.run_of("shown", {"text": "first\nsecond"})
    server.finish(run)
    output = home.cli("show", run)[1]
    assert "\ninputs\n  text:\n    | first\n    | second\n  list: [1,2]\n" in output
    assert "\noutputs\n  said:\n    | first\n    | second\n" in output
    assert "\na failed:\n  | tool_failed: exit status 3: one\n  | two\n" in output


def test_show_cuts_what_is_long(home, server):
    home.define("name: long\ninputs: {a: {}, b: {}}\nsteps:\n  - {name: s, tool: noop}\n")
    run = server.run_of("long", {"a": "\n".join(str(i) for i in range(100)), "b": "x" * 5000})
    server.finish(run)
    output = home.cli("show", run)[1]
    assert "    | 39\n    … (60 more lines; --json prints all)\n" in output and "| 40\n" not in output
    assert "x" * 4096 + "… (904 more bytes; --json prints all)\n" in output


# ---- Ctrl-C and --detach -------------------------------------------------------------------------


def interrupt(process, home, run):
    process.popen.send_signal(signal.SIGINT)
    assert process.wait() == 130
    return process.errors()


def test_ctrl_c_leaves_the_run_to_the_server(home, server):
    home.define(HOLD)
    run = new_id()
    following = home.begin("run", "hold", "--id", run)
    wait_until(lambda: "timer.requested" in following.errors())
    errors = interrupt(following, home, run)
    assert "the run continues on the server" in errors
    assert f"baton watch {run}" in errors and f"baton cancel {run}" in errors
    assert server.tell(run, "signal", name="go").status == 200
    assert server.finish(run)["status"] == "success"


def test_ctrl_c_without_a_server_says_that_the_run_rests(home):
    home.define(HOLD)
    run = new_id()
    following = home.begin("run", "hold", "--id", run)
    wait_until(lambda: "timer.requested" in following.errors())
    errors = interrupt(following, home, run)
    assert "the run rests" in errors and f"baton watch {run}" in errors
    assert home.cli("show", run)[1].count("running") >= 1


def test_detach(home, server):
    status, output, errors = home.cli("run", "two-steps", "--detach")
    assert (status, errors) == (0, "")
    assert server.finish(output.strip())["status"] == "success"
    receipt = json.loads(home.cli("run", "two-steps", "-d", "--json")[1])
    assert server.finish(receipt["run_id"])["status"] == "success"


def test_detach_needs_a_server(home):
    status, output, errors = home.cli("run", "two-steps", "--detach")
    assert (status, output) == (7, "") and "baton serve" in errors
    assert len(home.cli("runs")[1].splitlines()) == 1


# ---- messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words,says", [
    (["runs", "--status", "success"], "expected one of queued, running, paused, waiting_human, succeeded, failed, cancelled"),
    (["events", "--view", "x"], "expected one of pipeline, pipeline_v1, runtime, task, graph"),
    (["key", "create", "k", "--role", "boss"], "expected one of viewer, operator, admin"),
    (["settle", "1f0c", "maybe"], "expected one of happened, not_happened, retry"),
    (["completion", "tcsh"], "expected one of"),
    (["run", "two-steps", "--concurrency-key", ""], "--concurrency-key must not be empty"),
])
def test_a_wrong_word_lists_the_choices(home, words, says):
    status, output, errors = home.cli(*words)
    assert (status, output) == (EXIT["usage"], "") and says in errors and len(errors.splitlines()) == 1


def test_a_missing_file_is_a_missing_file(home):
    for path in ("/no/such/flow.yaml", "missing.yml", "no/such"):
        status, _, errors = home.cli("run", path)
        assert status == EXIT["not_found"] and f"{path}: No such file" in errors
    assert "no workflow called missing" in home.cli("run", "missing")[2]


def test_describe_lists_its_parts(home):
    status, output, _ = home.cli("describe")
    names = [line.split()[0] for line in output.splitlines()]
    assert status == 0 and {"openapi", "errors", "limits", "commands"} <= set(names)
    assert all(home.cli("describe", name)[0] == 0 for name in names)


def test_help_lists_what_the_command_accepts_and_returns(home):
    serve = home.cli("help", "serve")[1]
    assert "--server" not in serve and "another process owns the data folder" in serve
    statuses = {name: re.findall(r"^  (\d+) ", home.cli("help", name)[1].split("Exit status")[1], re.M)
                for name in ("version", "show", "watch", "cancel")}
    assert statuses == {"version": ["0", "2", "74"], "show": ["0", "2", "4", "6", "7", "74"],
                        "watch": ["0", "1", "2", "3", "4", "6", "7", "74", "130"], "cancel": ["0", "2", "4", "5", "6", "7", "74"]}


def test_settings_stand_in_columns(home):
    lines = home.cli("config", "list")[1].splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "SOURCE"]
    column = lines[0].index("VALUE")
    assert all(line[column - 1] == " " and line[column] != " " for line in lines[1:])
    assert os.path.basename(home.data) in lines[1]
