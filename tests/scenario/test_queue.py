"""Runs that wait for their turn: so many pipelines at once, priorities, one at a time of a word."""
import contextlib
import json
import os
import sqlite3

import pytest
from baton import EXIT, Gone, new_id, wait_until

PIPELINE = """
name: line
kind: pipeline
steps:
  - {name: hold, human: {question: "Done?"}}
"""
PLAIN = PIPELINE.replace("kind: pipeline\n", "").replace("name: line", "name: plain")


def at_once(server, count):
    answer = server.request("PATCH", "/api/server", {"max_concurrent": count})
    assert answer.status == 200, answer


def begin(server, workflow="line", **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, "inputs": {}, **more})
    assert answer.status == 202, answer
    return answer.body["run_id"]


def state(server, run):
    return server.result(run)["metadata"]["state"]


def place(server, run):
    body = server.get(f"/api/runs/{run}/queue").body
    return body["position"], body["length"]


def under_way(server):
    return {item["run_id"] for item in server.inbox()}


def end(server, run):
    """Answers its question; it has ended when this returns."""
    server.until(run, "human.requested")
    assert server.tell(run, "approve").status == 200
    assert server.finish(run)["status"] == "success"


@pytest.fixture
def one(home):
    """A server on which one pipeline is under way at a time."""
    home.define(PIPELINE)
    home.define(PLAIN)
    server = home.serve()
    at_once(server, 1)
    return server


def test_one_after_the_other_in_their_order(one):
    first, second, third = (begin(one) for _ in range(3))
    one.until(first, "human.requested")
    assert [place(one, run) for run in (first, second, third)] == [(0, 0), (1, 2), (2, 2)]
    assert [state(one, run) for run in (second, third)] == ["queued", "queued"]
    assert one.types(second) == ["run.created"]
    end(one, first)
    one.until(second, "run.started")
    assert [place(one, run) for run in (second, third)] == [(0, 0), (1, 1)]
    end(one, second)
    end(one, third)
    assert one.types(third)[:2] == ["run.created", "run.started"]


def test_other_kinds_do_not_wait(one):
    first = begin(one)
    plain = begin(one, "plain")
    one.until(first, "human.requested")
    end(one, plain)


def test_higher_priorities_go_first(one):
    first = begin(one)
    low, high, middle, later = (begin(one, priority=number) for number in (-5, 50, 0, 50))
    assert [place(one, run)[0] for run in (high, later, middle, low)] == [1, 2, 3, 4]
    order = []
    for _ in range(4):
        before = under_way(one)
        end(one, before.pop())
        wait_until(lambda: len(under_way(one)) == 1)
        order.append(under_way(one).pop())
    assert order == [high, later, middle, low]
    assert first not in order


@pytest.mark.parametrize("body", [{"priority": 101}, {"priority": "high"}, {"alone": ""}, {"alone": 1}])
def test_bad_starts(one, body):
    assert one.request("POST", "/api/run", {"workflow": "line", "inputs": {}, **body}).status == 422


def test_of_a_word_one_at_a_time(one):
    at_once(one, 10)
    first, second, other = begin(one, alone="repo"), begin(one, alone="repo"), begin(one, alone="elsewhere")
    plain = begin(one, "plain", alone="repo")  # a word is a word, whatever the kind
    one.until(first, "human.requested")
    one.until(other, "human.requested")
    assert [state(one, run) for run in (second, plain)] == ["queued", "queued"]
    third = begin(one)  # who waits for a word holds up nobody else
    one.until(third, "human.requested")
    end(one, first)
    wait_until(lambda: len(under_way(one) & {second, plain}) == 1)
    [next_one] = under_way(one) & {second, plain}
    assert next_one == second
    end(one, second)
    end(one, plain)


def test_more_room_lets_the_next_ones_go(one):
    runs = [begin(one) for _ in range(4)]
    one.until(runs[0], "human.requested")
    assert place(one, runs[3]) == (3, 3)
    at_once(one, 3)
    wait_until(lambda: under_way(one) == set(runs[:3]))
    assert place(one, runs[3]) == (1, 1)


def test_the_queue_survives_a_kill(home, one):
    first = begin(one)
    runs = [begin(one, priority=number) for number in (0, 9, 5)]
    one.until(first, "human.requested")
    one.kill()
    server = home.serve()
    assert under_way(server) == {first}
    assert [place(server, run) for run in runs] == [(3, 3), (1, 3), (2, 3)]
    end(server, first)
    server.until(runs[1], "human.requested")
    server.kill()
    server = home.serve()
    assert under_way(server) == {runs[1]}
    for run in (runs[1], runs[2], runs[0]):
        end(server, run)
    assert under_way(server) == set()


@pytest.mark.parametrize("point", ["queue.before_start", "store.before_commit@5", "store.after_commit@5"])
def test_a_crash_while_one_is_let_go_loses_nobody(home, point):
    """Commits: the setting, two starts, the answer that ends the first, the second leaves its queue."""
    home.define(PIPELINE)
    name, _, number = point.partition("@")
    server = home.serve(BATON_POINTS=f"{name}=kill{'@' + number if number else ''}")
    at_once(server, 1)
    first, second = begin(server), begin(server)
    server.until(first, "human.requested")
    with contextlib.suppress(Gone):  # it may die before its answer has left
        server.tell(first, "approve")
    assert server.wait() == -9
    server = home.serve()
    if state(server, first) != "succeeded":
        end(server, first)
    end(server, second)
    assert server.types(second).count("run.started") == 1
    third = begin(server)
    end(server, third)
    assert server.types(third)[0:1] == ["run.created"] and "run.started" not in server.types(third)


def test_a_run_that_ends_while_the_queue_is_read_again_makes_room(home):
    """After the restart its tool is called again and it ends while the reader of the queue is held: what that has read
    is not true any more."""
    home.define(PIPELINE)
    home.define("""
name: works
kind: pipeline
steps:
  - {name: work, tool: shell, inputs: {command: "echo up > told; read -r w < gate"}}
""")
    server = home.serve()
    at_once(server, 1)
    first = new_id()
    told, gate = home.fifo(first, "told"), home.fifo(first, "gate")
    begin(server, "works", run_id=first)
    second = begin(server)
    assert told.await_line() == "up"
    server.kill()
    points = os.path.join(home.path, "points")
    os.mkfifo(points)
    server = home.begin_serve(BATON_POINTS="queue.recalled=hold", BATON_POINTS_GATE=points)
    assert told.await_line() == "up"
    gate.send()

    def has_ended():
        with contextlib.suppress(sqlite3.DatabaseError), home.database() as database:
            return database.execute("SELECT count(*) FROM runs WHERE ended_at > 0").fetchone() == (1,)
    wait_until(has_ended)
    with open(points, "wb", buffering=0) as file:
        file.write(b"x")
    assert server.listen(), server.errors()
    end(server, second)


def test_a_cancelled_run_leaves_the_queue(home, one):
    first, second, third = (begin(one) for _ in range(3))
    one.until(first, "human.requested")
    assert one.tell(second, "cancel").status == 200
    assert one.finish(second)["metadata"]["state"] == "cancelled"
    assert place(one, third) == (1, 1)
    one.kill()
    server = home.serve()
    assert place(server, third) == (1, 1)
    end(server, first)
    end(server, third)


def test_cancelling_what_is_under_way_makes_room(one):
    first, second = begin(one), begin(one)
    one.until(first, "human.requested")
    assert one.tell(first, "cancel").status == 200
    one.until(second, "human.requested")
    end(one, second)


def test_a_queued_run_cannot_be_paused(one):
    """It has not begun; what holds it is its queue."""
    first, second = begin(one), begin(one)
    one.until(first, "human.requested")
    assert one.tell(second, "pause").status == 409
    assert one.tell(second, "resume").status == 409
    end(one, first)
    end(one, second)


@pytest.mark.parametrize("flag", ["--concurrency-key", "--alone"])
def test_the_command_line_waits_and_says_where(home, one, flag):
    first = begin(one)
    one.until(first, "human.requested")
    run = new_id()
    waiting = home.begin("run", "line", "--id", run, "--priority", "7", flag, "repo")
    wait_until(lambda: one.get(f"/api/runs/{run}").status == 200)
    shown = home.cli("show", run)[1]
    assert "queue      position 1 of 1 for admission of kind pipeline" in shown
    assert "priority   7" in shown and "key        repo" in shown and "state      queued" in shown
    outline = json.loads(home.cli("show", run, "--json")[1])
    assert outline["queue"] == {"run_id": run, "kind": "pipeline", "position": 1, "length": 1}
    heading, line = home.cli("runs", "--status", "queued")[1].splitlines()
    assert heading.split()[0] == "RUN" and line.split()[0] == run
    end(one, first)
    end(one, run)
    assert waiting.wait() == 0
    assert "run.started" in waiting.errors()
    assert home.cli("run", "line", "--priority", "1000")[0] == EXIT["usage"]
