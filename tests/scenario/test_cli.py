"""The command line as such: help, options, errors, completion, colours, events, servers elsewhere."""
import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import subprocess
import threading

import pytest
from baton import EXIT, PATIENCE_S, PROGRAM, environment, new_id

COMMANDS = ["init", "start", "review", "oracle", "demo", "run", "record", "chat", "check", "workflow", "lsp", "sim", "watch", "runs", "show", "logs", "events", "artifacts", "land", "usage", "budget", "pause", "resume", "cancel", "retry", "signal", "inbox",
            "approve", "reject", "plan", "replan", "modify", "settle", "issue", "schedule", "serve", "doctor", "db", "config", "profile", "agent", "prompt", "webhook", "trigger", "import", "key", "trust", "tools", "template", "contract", "describe", "completion", "version", "help"]
QUESTION = """
name: ask
steps:
  - {name: ok, human: {question: "Go on?"}}
  - {name: after, tool: echo, depends_on: [ok], inputs: {x: done}}
outputs: {x: {from: "${steps.after.outputs.x}"}}
"""


@contextlib.contextmanager
def scripted(*answers):
    """A server that gives these answers (status, body) in turn and keeps what it was asked."""
    asked, left = [], list(answers)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_any(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(size)
            asked.append((self.command, self.path, json.loads(body) if body else None, dict(self.headers)))
            status, answer = left.pop(0)
            text = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


# ---- help --------------------------------------------------------------------------------------


def test_help_lists_every_command_in_groups(home):
    status, output, errors = home.cli("help")
    assert (status, errors) == (0, "")
    assert [line.split()[0] for line in output.split("Options of every command")[0].splitlines()[3:] if line.startswith("  ")
            ] == COMMANDS
    assert re.findall(r"^\S.*$", output, re.M)[1:5] == [
        "Runs", "Server and data", "Settings, profiles and keys", "Reference"]
    assert home.cli()[1] == output
    assert home.cli("--help")[1] == output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(home, command):
    status, output, _ = home.cli("help", command)
    assert status == 0
    assert re.search(rf"^  baton {command}\b", output, re.M)
    assert "\nOptions\n" in output and "\nExit status\n  0    success\n" in output
    assert home.cli(command, "--help")[1] == output
    assert not os.path.exists(os.path.join(home.data, "baton.db"))
    table = json.loads(home.cli("help", command, "--json")[1])
    assert table["name"] == command and table["text"] in output


def test_help_of_run_says_all(home):
    output = home.cli("help", "run")[1]
    assert "baton run FILE|NAME [-d] [--input NAME=VALUE]... [-i FILE] [--input-file NAME=FILE]... [--id UUID]" in output
    assert "-i, --inputs FILE" in output and "Examples" in output
    assert re.search(r"^  1    the run failed$", output, re.M)


def test_help_of_nothing(home):
    assert home.cli("help", "dance")[0] == EXIT["not_found"]


def test_the_printed_reference_has_every_command(home):
    status, output, _ = home.cli("describe", "commands")
    assert status == 0
    for line in home.cli("describe", "listing")[1].splitlines():
        kind, name, *_ = line.split(" ")
        if kind == "command":
            assert f"\nbaton {name.replace(':', ' ')}" in output
        elif kind == "option":
            assert re.search(rf"^\| `(-., )?{name.rpartition(':')[2]}[ `]", output, re.M), name
    for command in COMMANDS:
        assert f"\n### {command}\n" in output
    assert "\n### complete\n" not in output


def test_version(home):
    assert re.fullmatch(r"baton \d+\.\d+\.\d+\n", home.cli("version")[1])
    assert home.cli("--version")[1] == home.cli("version")[1]
    assert set(json.loads(home.cli("version", "--json")[1])) == {"version", "sqlite", "compiler"}


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("words, text", [
    (["rnu", "x"], "did you mean run?"),
    (["x" * 5000], "unknown command"),
    (["run", "two-steps", "--inptu", "a=b"], "did you mean --input? See baton help run"),
    (["run", "two-steps", "-x"], "unknown option -x;"),
    (["runs", "--port", "1"], "unknown option --port;"),
    (["run", "two-steps", "--id"], "--id needs a value"),
    (["run", "two-steps", "--id", new_id(), "--id", new_id()], "--id is given twice"),
    (["runs", "--json=yes"], "--json takes no value"),
    (["runs", "more"], 'unexpected argument "more"; see baton help runs'),
    (["watch"], "RUN is missing: baton watch RUN"),
    (["show", "x"], "@last"),
    (["cancel"], "RUN is missing: baton cancel RUN"),
    (["signal", new_id()], "NAME is missing"),
    (["modify", new_id()], "modify needs --value"),
    (["settle", new_id(), "maybe"], "happened, not_happened, retry"),
    (["run", "two-steps", "--priority", "high"], "-100 to 100"),
    (["resume", new_id(), "-m", "why"], "unknown option -m;"),
    (["db"], "db needs a subcommand: one of check, stats, backup, vacuum"),
    (["db", "dance"], 'unknown subcommand "dance" of db'),
    (["db", "backup"], "FILE is missing"),
    (["profile", "show"], "NAME is missing"),
    (["profile", "create", "x"], "--file or --set"),
    (["profile", "create", "x", "--set", "novalue"], "MEMBER=VALUE"),
    (["key", "revoke", "x"], "UUID"),
    (["key", "create", "x", "--expires", "soon"], "30d"),
    (["key", "create", "x", "--expires", "2001-01-01"], "past"),
    (["events", "--after", "x"], "--after must be the number"),
    (["events", "--run", "x"], "@last"),
    (["completion", "tcsh"], "bash, fish, zsh"),
    (["describe", "nothing"], "commands"),
    (["serve", "--server", "http://127.0.0.1:1"], "serve does not accept --server"),
])
def test_bad_input(home, words, text):
    status, output, errors = home.cli(*words)
    assert (status, output) == (EXIT["usage"], ""), errors
    assert text in errors and errors.startswith("baton: ") and errors.endswith(" [usage]\n")


def test_an_error_as_json(home):
    status, output, errors = home.cli("watch", new_id(), "--json")
    problem = json.loads(errors.splitlines()[-1])
    assert (status, output) == (EXIT["not_found"], "")
    assert (problem["code"], problem["status"]) == ("not_found", 404) and "does not exist" in problem["detail"]
    assert json.loads(home.cli("dance", "--json")[2])["code"] == "usage"


def test_options_anywhere_and_in_both_forms(home):
    for words in (["--json", "config", "get", "serve.port"], ["config", "--json", "get", "serve.port"],
                  ["config", "get", "serve.port", "--json", "--log=json"]):
        status, output, errors = home.cli(*words)
        assert status == 0, errors
        assert json.loads(output)["value"] == 8420
    assert home.cli("config", "get", "--", "--x")[0] == EXIT["not_found"]


def test_output_that_cannot_be_written(home):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, "--home", home.data, "help"], env=environment(), stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S)
    assert done.returncode == 74 and "cannot write to standard output" in done.stderr


# ---- colours -------------------------------------------------------------------------------------


def on_a_terminal(home, *words, **env):
    ours, theirs = pty.openpty()
    with subprocess.Popen([PROGRAM, "--home", home.data, *words], env=environment(**env), stdin=subprocess.DEVNULL,
                          stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        output = b""
        with contextlib.suppress(OSError):  # EIO is the end of a terminal
            while piece := os.read(ours, 65536):
                output += piece
        process.wait(timeout=PATIENCE_S)
    os.close(ours)
    return output.decode()


def test_colour_only_on_a_terminal_that_wants_it(home):
    assert "\033[32mok" in on_a_terminal(home, "doctor", TERM="xterm")
    assert "\033" not in on_a_terminal(home, "doctor", TERM="xterm", NO_COLOR="1")
    assert "\033" not in on_a_terminal(home, "doctor", TERM="dumb")
    assert "\033" not in on_a_terminal(home, "doctor", "--json", TERM="xterm")
    assert "\033" not in home.cli("doctor", TERM="xterm")[1]


# ---- completion ----------------------------------------------------------------------------------


def in_shell(home, *shell):
    """What a shell prints that finds the program on its PATH."""
    program = pathlib.Path(home.path, "bin")
    program.mkdir(exist_ok=True)
    if not (program / "baton").exists():
        (program / "baton").symlink_to(PROGRAM)
    done = subprocess.run(shell, text=True, capture_output=True, cwd=home.path, timeout=PATIENCE_S,
                          env=environment(PATH=f"{program}:{os.environ['PATH']}", BATON_HOME=home.data, HOME=home.path))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [line for line in done.stdout.splitlines() if line]


def complete(home, *words):
    """COMPREPLY of bash after these words and a tab."""
    lines = ['eval "$(baton completion bash)"', 'COMP_WORDS=(baton "$@")', "COMP_CWORD=$#", "_baton",
             'printf "%s\\n" "${COMPREPLY[@]}"']
    return in_shell(home, "bash", "-c", "\n".join(lines), "bash", *words)


def complete_in_fish(home, *words):
    """What fish offers after these words and a tab, without its descriptions."""
    line = " ".join(["baton", *words])
    offered = in_shell(home, "fish", "--no-config", "-c", f"baton completion fish | source; complete -C '{line}'")
    return [one.split("\t")[0] for one in offered]


def complete_in_zsh(home, *words):
    """What the function for zsh adds; its own builtins exist only while a line is edited, so they are replaced."""
    lines = ["compdef() { :; }", "_files() { print FILES; }", "compadd() { shift; print -rl -- ${(P)1}; }",
             'eval "$(baton completion zsh)"', 'words=(baton "$@")', "CURRENT=${#words}", "_baton"]
    return in_shell(home, "zsh", "-f", "-c", "\n".join(lines), "zsh", *words)


def test_completion_of_words_and_options(home):
    assert complete(home, "") == COMMANDS
    assert complete(home, "co") == ["config", "contract", "completion"]
    assert complete(home, "db", "") == ["check", "stats", "backup", "vacuum", "compact", "rebuild", "accept-loss"]
    assert complete(home, "config", "set", "serve.") == [
        name for name in complete(home, "config", "get", "") if name.startswith("serve.")]
    assert "serve.port" in complete(home, "config", "set", "serve.")
    assert complete(home, "events", "--v") == ["--version", "--view"]
    assert complete(home, "events", "--view", "p") == ["pipeline", "pipeline_v1"]
    assert complete(home, "key", "create", "ci", "--role", "") == ["viewer", "operator", "admin"]
    assert complete(home, "--log", "") == ["human", "json"]
    assert complete(home, "settle", new_id(), "") == ["happened", "not_happened", "retry"]
    assert "waiting_human" in complete(home, "runs", "--status", "")
    assert complete(home, "run", "x", "--p") == ["--priority", "--profile"]
    assert complete(home, "help", "pro") == ["profile", "prompt"]
    assert "--port" in complete(home, "serve", "--") and "--port" not in complete(home, "runs", "--")
    assert "two-steps" in complete(home, "run", "")
    assert complete(home, "run", "./fl") == []  # a file: the shell's business
    assert complete(home, "completion", "") == ["bash", "fish", "zsh"]
    assert "commands" in complete(home, "describe", "")
    assert complete(home, "dance", "") == COMMANDS
    assert not os.path.exists(os.path.join(home.data, "baton.db"))


def test_completion_of_runs_asks_a_server_that_is_there(home):
    run = new_id()
    assert home.cli("run", "two-steps", "--id", run)[0] == 0
    assert complete(home, "watch", "") == []  # nobody is started for it
    home.serve()
    assert complete(home, "watch", run[:6]) == [run]
    assert complete(home, "events", "--run", "") == [run]
    for command in ("show", "logs", "pause", "resume", "cancel", "signal"):
        assert complete(home, command, "") == [run]
    assert complete(home, "watch", "zz") == []
    assert complete_in_fish(home, "watch", "") == complete_in_zsh(home, "watch", "") == [run]


def test_completion_of_workflows(home):
    home.define("name: mine\nsteps:\n  - {name: a, tool: noop}\n")
    assert "two-steps" in complete(home, "run", "") and "mine" not in complete(home, "run", "")  # nobody to ask
    home.serve()
    for offered in (complete(home, "run", ""), complete_in_fish(home, "run", ""), complete_in_zsh(home, "run", ""),
                    complete(home, "runs", "--workflow", "")):
        assert {"mine", "two-steps"} <= set(offered)
    assert "shell" in complete(home, "tools", "")


def test_completion_in_fish_and_zsh(home):
    assert set(complete_in_fish(home, "")) == set(complete_in_zsh(home, "")) == set(COMMANDS)
    assert complete_in_fish(home, "db", "c") == ["check", "compact"]
    assert complete_in_zsh(home, "db", "") == ["check", "stats", "backup", "vacuum", "compact", "rebuild", "accept-loss"]
    assert "--follow" in complete_in_fish(home, "events", "--f") and "--follow" in complete_in_zsh(home, "events", "-")
    pathlib.Path(home.path, "flow.yaml").write_text("")
    assert "./flow.yaml" in complete_in_fish(home, "contract", "check", "run.Event", "./fl")
    assert complete_in_zsh(home, "contract", "check", "run.Event", "") == ["FILES"]
    assert "--server" not in complete_in_zsh(home, "serve", "--")


# ---- events --------------------------------------------------------------------------------------


def test_events_of_a_run(home):
    run = new_id()
    assert home.cli("run", "two-steps", "--id", run)[0] == 0
    status, output, errors = home.cli("events", "--run", run, "--json")
    events = [json.loads(line) for line in output.splitlines()]
    assert status == 0, errors
    assert [event["type"] for event in events] == [
        "run.created", "step.computed", "tool.requested", "tool.finished", "run.finished"]
    lines = home.cli("events", "--run", run)[1].splitlines()
    assert [line.split()[1:4] for line in lines] == [[run, str(event["seq"]), event["type"]] for event in events]
    behind = home.cli("events", "--run", run, "--after", "3")[1].splitlines()
    assert behind == lines[3:]
    shown = [json.loads(line) for line in home.cli("events", "--run", run, "--view", "runtime")[1].splitlines()]
    assert [event["event"] for event in shown][0::len(shown) - 1] == ["workflow_start", "workflow_end"]
    assert home.cli("events", "--run", new_id())[0] == EXIT["not_found"]
    assert home.cli("events", "--run", run, "--view", "nobody")[0] != 0


def test_following_a_run_ends_with_it(home):
    server = home.serve()
    home.define(QUESTION)
    run = server.run_of("ask")
    follower = home.begin("events", "-f", "--run", run, "--json")
    assert json.loads(follower.line())["type"] == "run.created"
    request = server.until(run, "human.requested")["data"]["effect"]
    assert server.respond(request, revision=server.inbox()[0]["revision"]).status == 200
    assert follower.wait() == 0
    assert json.loads(follower.output.splitlines()[-1])["type"] == "run.finished"


def test_following_everybody_goes_on_over_another_server(home):
    server = home.serve()
    home.define(QUESTION)
    first = server.run_of("ask")
    server.until(first, "human.requested")
    follower = home.begin("events", "-f", "--after", "0", "--json")
    seen = [json.loads(follower.line()) for _ in range(2)]
    assert [event["type"] for event in seen] == ["run.created", "human.requested"]
    server.kill()
    # One of the two takes the dead server's place, the other is its client.
    second = new_id()
    assert home.begin("run", "two-steps", "--id", second).line() == '{"greeting":"hello, world\\n"}\n'
    types = [json.loads(follower.line()) for _ in range(5)]
    assert {event["run_id"] for event in types} == {second}
    assert types[-1]["type"] == "run.finished"


# ---- servers elsewhere ---------------------------------------------------------------------------


@pytest.fixture
def elsewhere(home):
    """A data folder that has no server, for commands that use another one's."""
    folder = os.path.join(home.path, "elsewhere")

    def cli(*words, **env):
        done = subprocess.run([PROGRAM, *words], env=environment(BATON_HOME=folder, **env), cwd=home.path,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S)
        assert not os.path.exists(folder), "a client made a data folder"
        return done.returncode, done.stdout, done.stderr

    return cli


def test_commands_use_a_server_elsewhere(home, server, elsewhere):
    url = f"http://{server.address}"
    run = new_id()
    status, output, errors = elsewhere("run", "two-steps", "--id", run, "--server", url)
    assert (status, output) == (0, '{"greeting":"hello, world\\n"}\n'), errors
    assert server.result(run)["status"] == "success"
    assert json.loads(elsewhere("runs", "--json", BATON_SERVER=url)[1])[0]["run_id"] == run
    assert elsewhere("watch", run, "--server", url + "/")[0] == 0
    assert len(elsewhere("events", "--run", run, "--server", url)[1].splitlines()) == 5
    assert elsewhere("watch", new_id(), "--server", url)[0] == EXIT["not_found"]
    # the database is its owner's alone
    assert elsewhere("db", "stats", "--server", url)[0] == 6


def test_a_question_is_answered_elsewhere(home, server, elsewhere):
    home.define(QUESTION)
    run = server.run_of("ask")
    server.until(run, "human.requested")
    url = f"http://{server.address}"
    request = json.loads(elsewhere("inbox", "--json", "--server", url)[1])["items"][0]["id"]
    status, output, errors = elsewhere("approve", request, "--follow", "--server", url)
    assert status == 0, errors
    assert output.splitlines()[-1] == '{"x":"done"}'


@pytest.mark.parametrize("url, status, text", [
    ("https://127.0.0.1:8420", EXIT["usage"], "https is not supported"),
    ("127.0.0.1:8420", EXIT["usage"], "http://127.0.0.1:8420"),
    ("http://", EXIT["usage"], "http://127.0.0.1:8420"),
    ("http://a/b", EXIT["usage"], "http://127.0.0.1:8420"),
    ("http://me:word@a:1", EXIT["usage"], "http://127.0.0.1:8420"),
    ("http://127.0.0.1:x", EXIT["usage"], "http://127.0.0.1:x"),
    ("http://127.0.0.1:0", EXIT["usage"], "http://127.0.0.1:0"),
    ("http://127.0.0.1:1", 7, "does not answer"),
    ("http://[::1]:1", 7, "does not answer"),
])
def test_addresses_that_are_none(elsewhere, url, status, text):
    got, output, errors = elsewhere("runs", "--server", url)
    assert (got, output) == (status, "") and text in errors, errors


def test_the_key_is_shown_to_the_server_elsewhere_only(home, elsewhere):
    with scripted((200, []), (200, []), (401, {"code": "forbidden", "detail": "no good key"})) as (url, asked):
        assert elsewhere("runs", "--server", url, BATON_API_KEY="baton_key")[0] == 0
        assert elsewhere("runs", "--server", url)[0] == 0
        status, output, errors = elsewhere("runs", "--server", url, BATON_API_KEY="env:OPENAI_API_KEY",
                                           OPENAI_API_KEY="baton_other")
    assert (status, output) == (6, "") and "no good key" in errors
    assert [headers.get("Authorization") for _, _, _, headers in asked] == [
        "Bearer baton_key", None, "Bearer baton_other"]
    assert all(headers["Host"] == url[7:] for _, _, _, headers in asked)
    status, _, errors = elsewhere("runs", "--server", url, BATON_API_KEY="env:HOME")
    assert status == 6 and "secrets.allow" in errors


def test_a_server_that_is_no_baton(elsewhere):
    with scripted((200, None), (500, {"unexpected": True})) as (url, _):
        assert elsewhere("runs", "--server", url)[0] == 0
        status, _, errors = elsewhere("runs", "--server", url)
        assert status == 70 and "HTTP status 500" in errors


# ---- profiles and keys: what is sent, and what is shown -------------------------------------------


def test_profile_requests(home, elsewhere):
    file = pathlib.Path(home.path, "profile.yaml")
    file.write_text("repo_root: /src # here\nsandbox: {mode: none}\n")
    page = {"items": [{"name": "a", "tracker": "noop", "repo_root": "/a"},
                      {"name": "b c", "tracker": "github", "repo_root": "/b"}], "active_profile": "b c", "cursor": None}
    with scripted((201, {"name": "w"}), (201, {"name": "w"}), (200, {"name": "w"}), (200, {"name": "w"}),
                  (200, page), (200, page), (200, {"name": "b c"}), (204, None),
                  (200, {"active_profile": "w"}), (404, {"code": "not_found", "detail": "no profile x"})) as (url, asked):
        def cli(*words):
            return elsewhere("profile", *words, "--server", url)
        assert cli("create", "w", "--set", "repo_root=/src", "--set", "retry.max_retries=5")[0] == 0
        assert cli("create", "w", "-f", str(file), "--set", "sandbox.mode=container")[0] == 0
        assert cli("edit", "w", "--set", "tracker=jira")[0] == 0
        assert cli("edit", "w", "-f", str(file))[:2] == (0, '{"name":"w"}\n')
        assert cli("list")[:2] == (0, "  a  noop  /a\n* b c  github  /b\n")
        assert json.loads(cli("list", "--json")[1]) == page
        assert cli("show", "b c")[0] == 0
        assert cli("delete", "w")[:2] == (0, "")
        assert cli("activate", "w")[0] == 0
        status, _, errors = cli("show", "x")
        assert status == EXIT["not_found"] and "no profile x" in errors
    assert [one[:3] for one in asked] == [
        ("POST", "/api/profiles", {"repo_root": "/src", "retry": {"max_retries": 5}, "name": "w"}),
        ("POST", "/api/profiles", {"repo_root": "/src", "sandbox": {"mode": "container"}, "name": "w"}),
        ("PATCH", "/api/profiles/w", {"tracker": "jira", "name": "w"}),
        ("PUT", "/api/profiles/w", {"repo_root": "/src", "sandbox": {"mode": "none"}, "name": "w"}),
        ("GET", "/api/profiles", None), ("GET", "/api/profiles", None), ("GET", "/api/profiles/b%20c", None),
        ("DELETE", "/api/profiles/w", None), ("POST", "/api/profiles/w/activate", None),
        ("GET", "/api/profiles/x", None)]


def test_a_profile_file_that_is_wrong(home, elsewhere):
    file = pathlib.Path(home.path, "profile.yaml")
    file.write_text("repo_root: [\n")
    status, _, errors = elsewhere("profile", "create", "w", "-f", str(file), "--server", "http://127.0.0.1:1")
    assert status == EXIT["syntax"] and errors.startswith(f"{file}:2:1: ")
    file.write_text("- 1\n")
    assert elsewhere("profile", "create", "w", "-f", str(file), "--server", "http://127.0.0.1:1")[0] == EXIT["invalid"]


def test_key_requests(elsewhere):
    key = {"id": new_id(), "label": "ci", "role": "operator", "created_at": "2026-01-01T00:00:00Z",
           "expires_at": None, "created_by": "me"}
    other = {**key, "id": new_id(), "label": "old", "expires_at": "2027-01-01T00:00:00Z"}
    with scripted((201, {**key, "key": "baton_secret"}), (201, {**key, "key": "baton_secret"}),
                  (200, {"items": [key], "cursor": "c1"}), (200, {"items": [other], "cursor": None}),
                  (204, None)) as (url, asked):
        def cli(*words):
            return elsewhere("key", *words, "--server", url)
        status, output, errors = cli("create", "ci", "--role", "operator", "--expires", "2099-01-31")
        assert (status, output) == (0, "baton_secret\n") and "only this time" in errors and key["id"] in errors
        assert json.loads(cli("create", "x", "--json")[1])["key"] == "baton_secret"
        assert cli("list")[1].splitlines() == [
            f"{key['id']}  operator  {'never expires':28}  ci", f"{other['id']}  operator  {other['expires_at']:28}  old"]
        assert cli("revoke", key["id"])[:2] == (0, "")
    assert [one[:3] for one in asked] == [
        ("POST", "/api/keys", {"label": "ci", "role": "operator", "expires_at": "2099-01-31T00:00:00Z"}),
        ("POST", "/api/keys", {"label": "x", "role": "viewer"}),
        ("GET", "/api/keys", None), ("GET", "/api/keys?cursor=c1", None),
        ("DELETE", f"/api/keys/{key['id']}", None)]


def test_profiles_for_real(home, server):
    def cli(*words):
        return home.cli("profile", *words)
    assert cli("list")[:2] == (0, "")
    status, output, errors = cli("create", "work", "--set", "repo_root=/src/app", "--set", "tracker=github")
    assert status == 0, errors
    assert json.loads(output)["retry"]  # the defaults are the server's
    assert cli("create", "work", "--set", "repo_root=/x")[0] == EXIT["conflict"]
    status, output, errors = cli("create", "bad", "--set", "repo_root=/x", "--set", "trakcer=github")
    assert (status, output) == (EXIT["invalid"], "") and "did you mean" in errors
    assert cli("create", "home", "--set", "repo_root=/h")[0] == 0
    assert cli("edit", "work", "--set", "sandbox.mode=container", "--set", "retry.max_retries=5")[0] == 0
    shown = json.loads(cli("show", "work")[1])
    assert (shown["sandbox"]["mode"], shown["retry"]["max_retries"], shown["repo_root"]) == ("container", 5, "/src/app")
    assert cli("list")[1].splitlines() == ["  home  noop  /h", "* work  github  /src/app"]
    assert cli("delete", "work")[0] == EXIT["conflict"]
    assert cli("activate", "home")[0] == 0
    assert cli("delete", "work")[:2] == (0, "")
    assert cli("show", "work")[0] == EXIT["not_found"]
    assert complete(home, "profile", "show", "") == ["home"]


def test_keys_for_real(home, elsewhere):
    server = home.serve("--require-key")
    url = f"http://{server.address}"
    assert elsewhere("runs", "--server", url)[0] != 0
    status, output, errors = home.cli("key", "create", "ci", "--role", "operator", "--expires", "90d")
    assert status == 0, errors
    secret = output.strip()
    assert elsewhere("run", "two-steps", "--server", url, BATON_API_KEY=secret)[0] == 0
    assert elsewhere("key", "list", "--server", url, BATON_API_KEY=secret)[0] == 6  # no admin
    [line] = home.cli("key", "list")[1].splitlines()
    assert line.endswith("  ci") and secret not in line
    key = line.split()[0]
    assert complete(home, "key", "revoke", "") == [key]
    assert home.cli("key", "revoke", key)[:2] == (0, "")
    assert elsewhere("runs", "--server", url, BATON_API_KEY=secret)[0] != 0
    assert home.cli("key", "revoke", key)[0] == EXIT["not_found"]
    assert home.cli("key", "create", "x", "--role", "king")[0] == EXIT["invalid"]


def test_events_of_everybody(home):
    runs = [new_id(), new_id()]
    for run in runs:
        assert home.cli("run", "two-steps", "--id", run)[0] == 0
    events = [json.loads(line) for line in home.cli("events", "--json")[1].splitlines()]
    assert [event["run_id"] for event in events] == [runs[0]] * 5 + [runs[1]] * 5
    rest = home.cli("events", "--json", "--after", events[6]["position"])[1].splitlines()
    assert [json.loads(line)["seq"] for line in rest] == [3, 4, 5]
