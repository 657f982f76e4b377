"""Where a run's time went: shares that add up to its wall clock, and a profile of a whole run."""
import datetime
import threading

from baton import new_id, wait_until

MIXED = """
name: mixed
steps:
  - {name: first, tool: shell, inputs: {command: "true"}}
  - {name: rest, depends_on: [first], wait: {seconds: 0.05}}
  - name: ok
    depends_on: [rest]
    human: {question: "Go on?"}
  - {name: last, tool: shell, depends_on: [ok], inputs: {command: "true"}}
"""

GATED = """
name: gated
steps:
  - {name: work, tool: shell, inputs: {command: "echo up > told; read -r word < gate"}}
"""

NESTED = """
name: nested
steps:
  - name: each
    map:
      over: [1, 2, 3]
      steps:
        - name: inner
          parallel:
            steps:
              - {name: a, tool: echo, inputs: {text: a}}
              - {name: b, tool: shell, inputs: {command: "true"}}
  - {name: after, tool: echo, depends_on: [each], inputs: {text: done}}
"""

FLAKY = """
name: flaky
steps:
  - name: once_more
    tool: shell
    inputs: {command: "test -e marker || { touch marker; exit 1; }"}
    retry: {max_retries: 2, base_delay: 0.01}
"""

SIGNALLED = """
name: signalled
steps:
  - {name: go, wait: {signal: go}}
"""

ASKS_A_MODEL = """
name: asks-a-model
agents:
  ada: {driver: script, model: play, system: Be brief., options: {replies: [{text: "a poem"}]}}
steps:
  - {name: write, agent: ada, inputs: {prompt: "Write a poem."}}
  - {name: sub, workflow: signalled, depends_on: [write]}
"""

ONE_AT_A_TIME = """
name: slow
kind: pipeline
steps:
  - name: hold
    tool: shell
    inputs: {command: "echo up > told; read -r word < gate"}
"""

SHARES = ["model", "tool", "subrun", "paused", "human", "wait", "queue", "fsync", "engine"]


def microseconds(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (at - epoch) // datetime.timedelta(microseconds=1)


def time_of(server, run):
    answer = server.get(f"/api/runs/{run}/time")
    assert answer.status == 200, answer
    check(answer.body)
    return answer.body


def check(time):
    """The parts are none of them negative and add up, as shares and as pieces."""
    assert list(time["shares"]) == SHARES
    assert all(us >= 0 for us in time["shares"].values())
    assert sum(time["shares"].values()) == time["wall_us"] == microseconds(time["to"]) - microseconds(time["from"])
    if time["pieces_left_out"] == 0:
        at, by_share = 0, dict.fromkeys(SHARES, 0)
        for piece in time["pieces"]:
            assert piece["from_us"] == at and piece["us"] > 0
            at += piece["us"]
            by_share[piece["share"]] += piece["us"]
        assert at == time["wall_us"]
        assert by_share == time["shares"]


def nonzero(time):
    return {share for share, us in time["shares"].items() if us > 0}


def test_the_shares_are_the_wall_clock_between_the_first_and_the_last_event(home, server):
    home.define(MIXED)
    run = server.run_of("mixed")
    server.until(run, "human.requested")
    [item] = server.inbox()
    assert server.respond(item["id"]).status == 200
    server.finish(run)
    events = server.events(run)
    time = time_of(server, run)
    assert time["ended"] and not time["compacted"]
    assert time["wall_us"] == microseconds(events[-1]["at"]) - microseconds(events[0]["at"])
    assert nonzero(time) >= {"tool", "human", "wait", "fsync", "engine"}
    assert nonzero(time).isdisjoint({"model", "subrun", "paused", "queue"})


def whole(commit, teller):
    """A commit of the one event before the teller leaves out which."""
    last = commit.get("last", teller - 1)
    return {"first": last, "last": last, **commit}


def test_what_the_disk_took_is_told_by_the_next_event(home, server):
    home.define(MIXED)
    run = server.run_of("mixed")
    server.until(run, "human.requested")
    [item] = server.inbox()
    server.respond(item["id"])
    server.finish(run)
    events = server.events(run)
    told = [whole(commit, event["seq"]) for event in events for commit in event["data"].get("commits", [])]
    assert told, "no event tells of a commit"
    assert "commits" not in events[0]["data"]
    for before, after in zip(told, told[1:]):
        assert before["last"] < after["first"]
    for commit in told:
        assert 1 <= commit["first"] <= commit["last"] <= len(events)
        assert commit["us"] > 0
    time = time_of(server, run)
    assert time["commits"] == len(told)
    assert time["shares"]["fsync"] <= sum(commit["us"] for commit in told)


def test_the_last_commit_is_outside_of_the_wall_clock(home):
    """That of run.finished, which no event tells, begins behind the end of what the shares add up to: however long it
    takes, nothing is missing.  Every commit before it is told."""
    hold = home.fifo("hold", "commit")
    server = home.serve(BATON_POINTS="store.before_commit=hold@3", BATON_POINTS_GATE=str(hold.path))
    home.define("name: three\nsteps:\n" + "".join(
        f"  - {{name: s{number}, tool: echo, depends_on: [{f's{number - 1}' if number else ''}]}}\n" for number in range(3)))
    run = server.run_of("three")
    wait_until(lambda: server.figures()["baton_writer_oldest_seconds"] > 0.2)
    assert server.figures()["baton_appends_total"] == 2
    before_release = datetime.datetime.now(datetime.timezone.utc)
    hold.send("x")
    server.finish(run)
    events, time = server.events(run), time_of(server, run)
    assert server.figures()["baton_appends_total"] == 3 and time["commits"] == 2
    assert events[-1]["type"] == "run.finished" and microseconds(time["to"]) == microseconds(events[-1]["at"])
    released = microseconds(before_release.isoformat())
    assert microseconds(time["to"]) <= released - 200000
    assert time["wall_us"] == microseconds(events[-1]["at"]) - microseconds(events[0]["at"])


def test_what_a_crash_took_counts_as_what_it_was_for(home):
    """Of four commits the second was measured by a program that is gone, and the last is outside of the wall clock."""
    server = home.serve()
    home.define(GATED)
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    server.kill()
    server = home.serve()
    told.await_line()
    gate.send()
    server.finish(run)
    assert server.types(run) == ["run.created", "tool.requested", "tool.restarted", "tool.finished", "run.finished"]
    time = time_of(server, run)
    assert time["commits"] == 2 and "tool" in nonzero(time)


def test_a_run_that_goes_on_is_measured_until_now(home, server):
    home.define(SIGNALLED)
    run = server.run_of("signalled")
    server.until(run, "timer.requested")
    first, second = time_of(server, run), time_of(server, run)
    assert not first["ended"] and first["shares"]["wait"] < second["shares"]["wait"]
    assert server.request("POST", f"/api/runs/{run}/pause", {}).status == 200
    server.until(run, "run.paused")
    assert "paused" in nonzero(time_of(server, run))
    server.request("POST", f"/api/runs/{run}/resume", {})
    server.request("POST", f"/api/runs/{run}/signal", {"name": "go"})
    server.finish(run)
    time = time_of(server, run)
    assert time["ended"] and time_of(server, run) == time
    assert nonzero(time) >= {"wait", "paused"}


def test_a_model_and_a_run_of_its_own_have_their_shares(home, server):
    home.define(SIGNALLED)
    home.define(ASKS_A_MODEL)
    run = server.run_of("asks-a-model")
    child = server.until(run, "subrun.requested")["data"]["effect"]
    wait_until(lambda: server.get(f"/api/runs/{child}").status == 200)  # it is created behind the request
    server.until(child, "timer.requested")
    assert server.request("POST", f"/api/runs/{child}/signal", {"name": "go"}).status == 200
    server.finish(run)
    time = time_of(server, run)
    assert nonzero(time) >= {"model", "subrun"} and "wait" not in nonzero(time)
    assert "wait" in nonzero(time_of(server, child))


def test_a_killed_server_leaves_shares_that_add_up(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(ONE_AT_A_TIME.replace("kind: pipeline\n", ""))
    assert server.start("slow", run_id=run).status == 202
    told.await_line()
    server.kill()
    again = home.serve()
    told.await_line()
    gate.send()
    again.finish(run)
    time = time_of(again, run)
    assert time["shares"]["tool"] > 0 and time["wall_us"] > 0


def test_waiting_for_a_turn_is_the_queue_s(home):
    server = home.serve()
    assert server.request("PATCH", "/api/server", {"max_concurrent": 1}).status == 200
    home.define(ONE_AT_A_TIME)
    runs, fifos = [], []
    for _ in range(2):
        run = new_id()
        fifos.append((home.fifo(run, "told"), home.fifo(run, "gate")))
        runs.append(run)
        assert server.start("slow", run_id=run).status == 202
    fifos[0][0].await_line()
    assert nonzero(time_of(server, runs[1])) == {"queue"}
    fifos[0][1].send()
    fifos[1][0].await_line()
    fifos[1][1].send()
    server.finish(runs[1])
    assert nonzero(time_of(server, runs[1])) >= {"queue", "tool"}
    assert "queue" not in nonzero(time_of(server, runs[0]))


def test_a_compacted_run_says_so_and_still_adds_up(home, server):
    home.define(MIXED)
    run = server.run_of("mixed")
    server.until(run, "human.requested")
    [item] = server.inbox()
    server.respond(item["id"])
    server.finish(run)
    before = time_of(server, run)
    assert home.cli("db", "compact", "--now")[0] == 0
    after = time_of(server, run)
    assert after["compacted"] and after["wall_us"] == before["wall_us"]


def test_no_such_run(server):
    for what in ("time", "graph", "trace", "sessions"):
        answer = server.get(f"/api/runs/{new_id()}/{what}")
        assert (answer.status, answer.body["code"]) == (404, "not_found")


# ---- profiles ------------------------------------------------------------------------------------


def profile(server, workflow, **more):
    return server.request("POST", "/api/runs/profile", {"workflow": workflow, "inputs": {}, **more})


def spans_in(span, level=1):
    yield level, span
    for inner in span["spans"]:
        yield from spans_in(inner, level + 1)


def test_a_profile_is_a_run_with_its_spans_and_its_time(home, server):
    home.define(NESTED)
    answer = profile(server, "nested")
    assert answer.status == 200, answer
    body = answer.body
    assert (body["workflow"], body["status"]) == ("nested", "success")
    check(body["time"])
    assert body["time"] == time_of(server, body["run_id"])
    assert body["span"]["us"] == body["time"]["wall_us"]
    spans = list(spans_in(body["span"]))
    assert max(level for level, _ in spans) == 4
    names = [span["name"] for _, span in spans]
    assert names[:3] == ["nested", "each", "each[0]/inner"]
    assert names.count("each[2]/inner/b") == 1 and len(names) == 1 + 1 + 3 * 3 + 1
    for _, span in spans:
        for inner in span["spans"]:
            assert inner["from_us"] >= span["from_us"]
            assert inner["from_us"] + inner["us"] <= span["from_us"] + span["us"]


def test_a_profile_is_as_deep_as_was_asked(home, server):
    home.define(NESTED)
    for depth, left_out in ((1, 11), (2, 9), (3, 6), (4, 0), (99, 0)):
        body = profile(server, "nested", trace_depth=depth).body
        spans = list(spans_in(body["span"]))
        assert max(level for level, _ in spans) == min(depth, 4)
        assert sum(span.get("left_out", 0) for _, span in spans) == left_out


def test_attempts_are_spans_of_their_own(home, server):
    home.define(FLAKY)
    body = profile(server, "flaky").body
    assert body["status"] == "success"
    [step] = body["span"]["spans"]
    assert [(span["name"], span["state"]) for span in step["spans"]] == [("attempt 1", "retrying"),
                                                                       ("attempt 2", "succeeded")]
    assert step["spans"][0]["us"] > 0


def test_a_profile_of_a_run_that_fails_is_a_profile_too(home, server):
    home.define('name: fails\nsteps:\n  - {name: no, tool: shell, inputs: {command: "exit 3"}}\n')
    body = profile(server, "fails").body
    assert body["status"] == "failed" and body["span"]["spans"][0]["state"] == "failed"


def test_a_server_that_stops_gives_a_receipt_instead(home, server):
    home.define(SIGNALLED)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(profile(server, "signalled")))
    asking.start()
    run = None
    with server.stream("/api/stream?after=0") as stream:
        for told in stream:
            if told.event["type"] == "timer.requested":
                run = told.event["run_id"]
                break
    server.popen.terminate()
    asking.join()
    assert (answers[0].status, answers[0].body["run_id"]) == (202, run)


def test_what_a_profile_is_refused_for(server):
    assert profile(server, "nobody").status == 404
    assert profile(server, "two-steps", adapter="other").body["code"] == "adapter_not_found"
    answer = profile(server, "two-steps", trace_depth=0)
    assert answer.status == 422 and "/trace_depth" in str(answer.body["details"])
