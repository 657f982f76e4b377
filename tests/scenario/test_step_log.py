"""Logs of steps: what a tool wrote in every attempt, while it runs and ever after."""
import json

import pytest
from baton import new_id, wait_until
from test_custom_tools import put, trust
from terminal import Terminal

FAILING = """
name: failing
steps:
  - name: test
    tool: shell
    inputs: {command: "echo 'FAILED test_x'; exit 1"}
"""

GATED = """
name: gated
steps:
  - name: work
    tool: shell
    inputs: {command: "echo one; echo two >&2; echo up > told; read -r w < gate; echo $w; exit 3"}
"""


def log(server, run, step, query=""):
    answer = server.get(f"/api/runs/{run}/steps/{step}/log{query}")
    assert answer.status == 200, answer
    return answer.body


def text(attempt, stream=None):
    return "".join(part["text"] for part in attempt["parts"] if stream in (None, part["stream"]))


def streams(attempt):
    """What came through each of the two pipes: which of them is read first is up to the machine."""
    return text(attempt, "stdout"), text(attempt, "stderr")


def begin_gated(home, server, yaml=GATED, name="gated"):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(yaml)
    assert server.start(name, run_id=run).status == 202
    told.await_line()
    if yaml == GATED:
        wait_until(lambda: streams(log(server, run, "work")["attempts"][-1]) == ("one\n", "two\n"))
    return run, told, gate


def one_shell(home, server, command, more=""):
    home.define(f"name: one\nsteps:\n  - name: s\n    tool: shell\n{more}"
                f"    inputs: {{command: {json.dumps(command)}}}\n")
    return server.start("one", wait=True).body["run_id"]


# ---- ended attempts -----------------------------------------------------------------------------


def test_a_failed_step_keeps_what_it_wrote(home, server):
    home.define(FAILING)
    result = server.start("failing", wait=True).body
    run = result["run_id"]
    assert "exit status 1: FAILED test_x" in json.dumps(result)
    before = log(server, run, "test")
    assert before["state"] == "failed" and before["live"] is False
    (attempt,) = before["attempts"]
    assert attempt["parts"] == [{"stream": "stdout", "text": "FAILED test_x\n"}]
    assert (attempt["outcome"], attempt["size"], attempt["live"]) == ("failed", 14, False)
    server.kill()
    assert log(home.serve(), run, "test") == before


def test_both_streams_in_the_order_of_arrival(home, server):
    run = one_shell(home, server, "echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c")
    (attempt,) = log(server, run, "s")["attempts"]
    assert attempt["parts"] == [{"stream": "stdout", "text": "a\n"}, {"stream": "stderr", "text": "b\n"},
                                {"stream": "stdout", "text": "c\n"}]
    assert attempt["outcome"] == "ok"


def test_every_attempt_has_a_log(home, server):
    run = one_shell(home, server, "echo x >> count; n=$(wc -l < count); echo attempt $n >&2; test $n = 3",
                    "    retry: {max_retries: 5, base_delay: 0.01}\n")
    attempts = log(server, run, "s")["attempts"]
    assert [text(one) for one in attempts] == ["attempt 1\n", "attempt 2\n", "attempt 3\n"]
    assert [one["outcome"] for one in attempts] == ["failed", "failed", "ok"]
    assert [one["error"] for one in attempts[:2]] == ["exit status 1: attempt 1", "exit status 1: attempt 2"]
    only = log(server, run, "s", "?attempt=2")["attempts"]
    assert only == [attempts[1]]
    refused = server.get(f"/api/runs/{run}/steps/s/log?attempt=4")
    assert refused.status == 404 and "has no attempt 4; it had 3" in refused.body["detail"]


def test_a_call_that_timed_out_keeps_its_log(home, server):
    for seconds in (1, 10, 60):  # a busy machine may need longer to start the command
        run = one_shell(home, server, "echo before; echo soon >&2; sleep 1000", f"    timeout: {seconds}\n")
        (attempt,) = log(server, run, "s")["attempts"]
        if streams(attempt) == ("before\n", "soon\n"):
            break
    assert streams(attempt) == ("before\n", "soon\n")
    assert attempt["error"] == "the call took longer than its timeout"


def test_a_cancelled_call_keeps_its_log(home, server):
    run, _, _ = begin_gated(home, server)
    assert server.tell(run, "cancel").status == 200
    server.until(run, "run.finished")
    (attempt,) = log(server, run, "work")["attempts"]
    assert (streams(attempt), attempt["outcome"]) == (("one\n", "two\n"), "cancelled")


def test_a_killed_server_loses_only_the_log_of_the_interrupted_attempt(home, server):
    run, told, gate = begin_gated(home, server)
    server.kill()
    server = home.serve()
    told.await_line()
    gate.send("three\n")
    server.until(run, "run.finished")
    first, second = log(server, run, "work")["attempts"]
    assert first["interrupted"] is True and first["parts"] == [] and "outcome" not in first
    assert (streams(second), second["outcome"]) == (("one\nthree\n", "two\n"), "failed")
    assert (first["attempt"], second["attempt"]) == (1, 2)


def test_a_long_log_keeps_its_beginning_and_its_end(home, server):
    run = one_shell(home, server, "seq 1 200000; exit 1")
    (attempt,) = log(server, run, "s")["attempts"]
    whole = "".join(f"{n}\n" for n in range(1, 200001))
    first, last = attempt["parts"]
    assert whole.startswith(first["text"]) and whole.endswith(last["text"])
    assert attempt["size"] == len(whole)
    assert attempt["omitted"] == last["omitted"] == len(whole) - len(first["text"]) - len(last["text"]) > 0


def test_bytes_that_are_not_utf8_are_replaced_and_control_sequences_kept(home, server):
    run = one_shell(home, server, r"printf 'a\377b\033[31mred\033[0m'")
    (attempt,) = log(server, run, "s")["attempts"]
    assert text(attempt) == "a�b\x1b[31mred\x1b[0m"


def test_a_quiet_step_and_a_step_without_a_process_have_no_text(home, server):
    home.define("name: quiet\nsteps:\n  - {name: s, tool: shell, inputs: {command: 'true'}}\n"
                "  - {name: e, tool: echo, inputs: {x: 1}}\n")
    run = server.start("quiet", wait=True).body["run_id"]
    (attempt,) = log(server, run, "s")["attempts"]
    assert (attempt["parts"], attempt["size"]) == ([], 0)
    assert log(server, run, "e")["attempts"] == []
    finished = [event for event in server.events(run) if event["type"] == "tool.finished"]
    assert "log" not in finished[0]["data"]


def test_a_path_in_a_body_and_an_unknown_step(home, server):
    home.define("name: each\nsteps:\n  - name: all\n    map:\n      over: [1, 2]\n      steps:\n"
                "        - {name: s, tool: shell, inputs: {command: 'echo item ${item}'}}\n")
    started = server.start("each", wait=True)
    assert started.status == 200, started
    run = started.body["run_id"]
    paths = [path for path in server.steps(run) if path.endswith("/s")]
    assert sorted(text(log(server, run, path.replace("#", "%23"))["attempts"][0]) for path in paths) == \
        ["item 1\n", "item 2\n"]
    refused = server.get(f"/api/runs/{run}/steps/al/log")
    assert refused.status == 404 and 'did you mean "all"?' in refused.body["detail"]


@pytest.mark.parametrize("keep", ["false", "true"])
def test_custom_tools_log_their_stderr(home, server, keep):
    put(home, "talker", f"path: talker.py\nfunction: talk\nclass: idempotent\nkeep_alive: {keep}\n",
        talker__py="import sys\ndef talk(word):\n    print('heard', word, file=sys.stderr, flush=True)\n"
                   "    if word == 'bad':\n        raise ValueError('no')\n    return {'word': word}\n")
    trust(server, "talker")
    home.define("name: talk\nsteps:\n  - {name: a, tool: talker, inputs: {word: good}}\n"
                "  - {name: b, tool: talker, depends_on: [a], inputs: {word: bad}}\n")
    run = server.start("talk", wait=True).body["run_id"]
    good, bad = (log(server, run, step)["attempts"][0] for step in "ab")
    assert good["parts"] == [{"stream": "stderr", "text": "heard good\n"}]
    assert "heard bad\n" in text(bad, "stderr") and text(bad, "stdout") == ""


def test_a_log_is_stored_once_and_survives_compaction(home, server):
    home.define("name: same\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {command: 'seq 1 2000; exit 1'}, retry: {max_retries: 2, base_delay: 0.01}}\n")
    run = server.start("same", wait=True).body["run_id"]
    before = log(server, run, "a")
    hashes = {event["data"]["log"]["sha256"] for event in server.events(run) if "log" in event["data"]}
    assert len(before["attempts"]) == 3 and len(hashes) == 1
    compacted = home.local("POST", "/api/db/compact", {"days": 0})
    assert compacted.status == 200, compacted
    assert log(server, run, "a") == before
    checked = home.local("POST", "/api/db/check")
    assert checked.status == 200 and checked.body["problems"] == [], checked.body


# ---- while it runs ------------------------------------------------------------------------------


def test_the_text_so_far(home, server):
    run, _, gate = begin_gated(home, server)
    seen = log(server, run, "work")
    assert seen["live"] is True and seen["state"] == "running"
    (attempt,) = seen["attempts"]
    assert attempt["live"] is True and streams(attempt) == ("one\n", "two\n") and "ended_at" not in attempt
    gate.send("three\n")
    server.until(run, "run.finished")
    assert streams(log(server, run, "work")["attempts"][0]) == ("one\nthree\n", "two\n")


def test_following_from_the_beginning_to_the_end(home, server):
    run, _, gate = begin_gated(home, server)
    with server.stream(f"/api/runs/{run}/steps/work/log?follow") as early:
        first = [next(early).event, next(early).event]
        assert [(one["stream"], one["offset"], one["text"]) for one in first] == \
            [("stdout", 0, "one\n"), ("stderr", 4, "two\n")]
        with server.stream(f"/api/runs/{run}/steps/work/log?follow") as late:
            assert next(late).event == first[0]
            gate.send("three\n")
            rest = [told.event for told in early]
            assert [told.event for told in late] == [first[1], *rest]
    assert rest == [{"attempt": 1, "offset": 8, "stream": "stdout", "text": "three\n"},
                    {"attempt": 1, "offset": 14, "text": "", "outcome": "failed", "error": "exit status 3: two"}]
    with server.stream(f"/api/runs/{run}/steps/work/log?follow") as after:
        assert [told.event for told in after] == first + rest


def test_following_a_step_that_has_not_started_and_all_its_attempts(home, server):
    home.define("""
name: later
steps:
  - {name: ask, human: {question: "now?"}}
  - name: work
    tool: shell
    depends_on: [ask]
    inputs: {command: "echo x >> count; n=$(wc -l < count); echo attempt $n; test $n = 2"}
    retry: {max_retries: 3, base_delay: 0.01}
""")
    run = server.start("later").body["run_id"]
    server.until(run, "human.requested")
    with server.stream(f"/api/runs/{run}/steps/work/log?follow=true") as stream, \
            server.stream(f"/api/runs/{run}/steps/work/log?follow=true&attempt=2") as second:
        assert server.respond(server.inbox()[0]["id"]).status == 200
        seen = [told.event for told in stream]
        only = [told.event for told in second]
    assert [(one["attempt"], one["text"], one.get("outcome")) for one in seen] == \
        [(1, "attempt 1\n", None), (1, "", "failed"), (2, "attempt 2\n", None), (2, "", "ok")]
    assert only == seen[2:]


def test_following_ends_when_the_step_is_skipped(home, server):
    home.define("name: skips\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'exit 1'}}\n"
                "  - {name: b, tool: shell, depends_on: [a], inputs: {command: 'echo b'}}\n")
    run = server.start("skips", wait=True).body["run_id"]
    with server.stream(f"/api/runs/{run}/steps/b/log?follow") as stream:
        assert list(stream) == []


def test_what_cannot_be_followed(home, server):
    home.define(FAILING)
    run = server.start("failing", wait=True).body["run_id"]
    for target, status, words in (
            (f"/api/runs/{run}/steps/tset/log?follow", 404, 'did you mean "test"?'),
            (f"/api/runs/{new_id()}/steps/test/log?follow", 404, "no run"),
            (f"/api/runs/{run}/steps/test/log?follow=perhaps", 400, "true or false"),
            (f"/api/runs/{run}/steps/test/log?attempt=0", 400, "integer from 1")):
        answer = server.get(target)
        assert answer.status == status and words in answer.body["detail"], answer


# ---- the command line ---------------------------------------------------------------------------


def test_logs_prints_each_stream_to_its_own(home, server):
    run = one_shell(home, server, "echo out; echo err >&2; exit 4", "    retry: {max_retries: 1, base_delay: 0.01}\n")
    status, output, errors = home.cli("logs", run, "s")
    assert (status, output) == (0, "out\nout\n")
    assert errors == "err\nattempt 1: failed: exit status 4: err\nerr\nattempt 2: failed: exit status 4: err\n"
    assert home.cli("logs", run, "s", "--attempt", "2") == (0, "out\n", "err\n")
    status, output, _ = home.cli("logs", run, "s", "--json")
    assert status == 0 and json.loads(output) == log(server, run, "s")


def test_logs_without_a_step_prints_the_events(home, server):
    run = one_shell(home, server, "true")
    status, output, _ = home.cli("logs", run)
    assert status == 0 and [line.split()[1] for line in output.splitlines()] == server.types(run)


def test_logs_follows_a_step_beyond_the_end_of_the_server(home, server):
    """The follower takes the place of a server that was killed, and the step is repeated."""
    run, told, gate = begin_gated(home, server)
    follower = home.begin("logs", run, "work", "-f")
    assert follower.line() == "one\n"
    wait_until(lambda: "two\n" in follower.errors())
    server.kill()
    told.await_line()
    gate.send("three\n")
    assert follower.wait() == 0
    assert follower.output == "one\nthree\n"
    lines = [line for line in follower.errors().splitlines() if not line.startswith(("info:", "warning:"))]
    assert lines == ["two", "attempt 1: interrupted: the server ended, and the log is lost", "two",
                     "attempt 2: failed: exit status 3: two"]


def test_logs_of_a_gap_and_of_nothing(home, server):
    long = one_shell(home, server, "seq 1 200000")
    status, output, errors = home.cli("logs", long, "s")
    omitted = log(server, long, "s")["attempts"][0]["omitted"]
    assert status == 0 and errors == f"[{omitted} bytes left out]\n"
    assert output.startswith("1\n2\n") and output.endswith("\n200000\n")
    quiet = one_shell(home, server, "true")
    assert home.cli("logs", quiet, "s") == (0, "", "nothing was written; the step is succeeded\n")


def test_logs_refuses_what_does_not_fit(home, server):
    run = one_shell(home, server, "true")
    for words, says in ((("logs", run, "t"), 'step "t" does not exist in this run; it has s'),
                        (("logs", run, "something"), "it has s"),
                        (("logs", run, "s", "--attempt", "x"), "--attempt must be the number of an attempt"),
                        (("logs", run, "s", "--attempt", "2"), "has no attempt 2; it had 1"),
                        (("logs", run, "--attempt", "2"), "--attempt needs a step"),
                        (("logs", run, "s", "--view", "task"), "leave out STEP")):
        status, output, errors = home.cli(*words)
        assert status != 0 and output == "" and says in errors, errors


def test_a_terminal_shows_colors_and_no_other_control_sequence(home, server):
    run = one_shell(home, server, r"printf 'a\033[31mred\033[0m b\033]0;title\007 c\033[2J\n'")
    with Terminal(home, "logs", run, "s") as terminal:
        while terminal.read():
            pass
    assert "\x1b[31mred" in terminal.text
    assert "\x1b]0" not in terminal.text and "\x1b[2J" not in terminal.text and "title" in terminal.text
    status, output, _ = home.cli("logs", run, "s")
    assert (status, output) == (0, "a\x1b[31mred\x1b[0m b\x1b]0;title\x07 c\x1b[2J\n")


def test_show_ends_with_the_last_lines_of_failed_steps(home, server):
    home.define("name: mixed\nsteps:\n"
                "  - {name: good, tool: shell, inputs: {command: 'echo fine'}}\n"
                "  - {name: bad, tool: shell, inputs: {command: 'seq 1 30; printf \"\\033[2Jend\" >&2; exit 1'}}\n")
    run = server.start("mixed", wait=True).body["run_id"]
    status, output, _ = home.cli("show", run)
    lines = output.splitlines()
    at = lines.index("bad wrote last:")
    assert status == 0 and lines[at + 1:at + 11] == [*(f"  {n}" for n in range(22, 31)), "  \\x1b[2Jend"]
    assert lines[at + 11:] == [f"  (baton logs {run} 'bad' prints all of it)"]
    assert "fine" not in output
