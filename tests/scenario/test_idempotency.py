"""Idempotency-Key: a request that comes again does nothing again, until a day has passed."""
import http.client
import json

import pytest
from baton import PATIENCE_S, WAIT_S, Gone, killed, new_id
from test_api import check_problem
from test_auth import bearer, make_key

BODY = {"workflow": "two-steps", "inputs": {}}
WAITS = "name: waits\nsteps: [{name: a, human: {question: 'well?'}}]\n"


def start(server, key, body=None, **headers):
    return server.request("POST", "/api/run", body or BODY, {"Idempotency-Key": key, **headers})


def runs(server):
    return [run["run_id"] for run in server.get("/api/runs").body]


def test_the_same_again(server):
    first = start(server, "k")
    assert first.status == 202
    for _ in range(3):
        again = start(server, "k")
        assert (again.status, again.body) == (first.status, first.body)
    assert runs(server) == [first.body["run_id"]]
    assert start(server, "another").body["run_id"] != first.body["run_id"]


def test_without_a_key_everything_is_new(server):
    assert len({server.request("POST", "/api/run", BODY).body["run_id"] for _ in range(3)}) == 3


def test_other_words_are_a_conflict(server):
    first = start(server, "k")
    check_problem(start(server, "k", {"workflow": "two-steps", "inputs": {"who": "else"}}), 409, "conflict")
    check_problem(start(server, "k", {**BODY, "run_id": new_id()}), 409, "conflict")
    assert runs(server) == [first.body["run_id"]]


def test_waiting_for_the_same_run(home, server):
    home.define(WAITS)
    body = {"workflow": "waits", "inputs": {}}
    first = start(server, "k", body)
    run = first.body["run_id"]
    server.until(run, "human.requested")
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    connection.request("POST", "/api/run", json.dumps(body).encode(),
                       {"Content-Type": "application/json", "Idempotency-Key": "k", "Prefer": f"wait={WAIT_S}"})
    server.respond(server.inbox()[0]["id"])
    response = connection.getresponse()
    result = json.loads(response.read())
    connection.close()
    assert (response.status, result["run_id"], result["status"]) == (200, run, "success")
    after_the_end = start(server, "k", body, Prefer=f"wait={WAIT_S}")
    assert (after_the_end.status, after_the_end.body) == (200, result)
    assert runs(server) == [run]


@pytest.mark.parametrize("given", [{}, {"run_id": "87654321-4321-4321-8321-210987654321"}])
def test_two_at_once_are_one_run(server, given):
    connections = [http.client.HTTPConnection(server.address, timeout=PATIENCE_S) for _ in range(16)]
    body = json.dumps({**BODY, **given}).encode()
    for connection in connections:
        connection.request("POST", "/api/run", body, {"Content-Type": "application/json",
                                                      "Idempotency-Key": "k"})
    answers = []
    for connection in connections:
        response = connection.getresponse()
        answers.append((response.status, response.read()))
        connection.close()
    assert len(set(answers)) == 1 and answers[0][0] == 202, set(answers)
    assert runs(server) == [json.loads(answers[0][1])["run_id"]]


def test_a_refused_one_may_be_tried_again(home, server):
    """Nothing came of it, so nothing is remembered."""
    body = {"workflow": "later", "inputs": {}}
    check_problem(start(server, "k", body), 404, "not_found")
    home.define("name: later\nsteps: [{name: a, tool: echo}]\n")
    answer = start(server, "k", body)
    assert answer.status == 202
    assert start(server, "k", body).body == answer.body


@pytest.mark.parametrize("point", ["runtime.committed", "store.after_commit", "runtime.before_append"])
def test_a_kill_before_the_answer(home, point):
    """Whether or not it was committed, the client that asks again has one run."""
    server = home.serve(BATON_POINTS=f"{point}=kill")
    with pytest.raises(Gone):
        start(server, "k")
    assert killed(server)
    server = home.serve()
    first = start(server, "k")
    assert first.status == 202, first
    assert start(server, "k").body == first.body
    assert runs(server) == [first.body["run_id"]]
    assert server.finish(first.body["run_id"])["status"] == "success"


def test_an_acknowledged_key_survives_a_kill(home, server):
    first = start(server, "k")
    server.kill()
    again = home.serve()
    assert start(again, "k").body == first.body
    check_problem(start(again, "k", {**BODY, "run_id": new_id()}), 409, "conflict")


@pytest.mark.parametrize("hours, kept", [(23, True), (25, False)])
def test_a_key_is_forgotten_after_a_day(home, server, hours, kept):
    first = start(server, "k").body["run_id"]
    server.kill()
    with home.meddled() as database:
        assert database.execute("UPDATE requests SET at = at - ?", (hours * 3600 * 1000000,)).rowcount == 1
    again = start(home.serve(), "k")
    assert again.status == 202 and (again.body["run_id"] == first) == kept


def test_answers_too(home, server):
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "human.requested")
    target = f"/api/inbox/{server.inbox()[0]['id']}/respond"

    def respond(key, decision="approve"):
        return server.request("POST", target, {"decision": decision}, {"Idempotency-Key": key})

    first = respond("k")
    assert first.status == 200
    again = respond("k")
    assert (again.status, again.body) == (200, first.body)
    check_problem(respond("other"), 409, "conflict")
    check_problem(respond("k", "reject"), 409, "conflict")
    server.finish(run)
    assert respond("k").body == first.body
    assert server.types(run).count("human.finished") == 1


def test_two_answers_at_once(home, server):
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "human.requested")
    target = f"/api/inbox/{server.inbox()[0]['id']}/respond"
    connections = [http.client.HTTPConnection(server.address, timeout=PATIENCE_S) for _ in range(8)]
    for connection in connections:
        connection.request("POST", target, b'{"decision":"approve"}',
                           {"Content-Type": "application/json", "Idempotency-Key": "k"})
    answers = set()
    for connection in connections:
        response = connection.getresponse()
        answers.add((response.status, response.read()))
        connection.close()
    assert {status for status, _ in answers} == {200} and len(answers) == 1, answers
    assert server.types(run).count("human.finished") == 1


def test_a_key_is_the_callers_and_the_routes_own(home, server):
    one, two = (make_key(home, "admin")["key"] for _ in range(2))
    ids = {start(server, "k", None, **headers).body["run_id"] for headers in ({}, bearer(one), bearer(two))}
    assert len(ids) == 3
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "human.requested")
    answer = server.request("POST", f"/api/inbox/{server.inbox()[0]['id']}/respond", {"decision": "approve"},
                            {"Idempotency-Key": "k"})
    assert answer.status == 200, "another route"
    assert home.local("POST", "/api/run", BODY, {"Idempotency-Key": "k"}).body["run_id"] not in ids


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "\xe9", "\t"])
def test_keys_that_are_none(server, key):
    answer = start(server, key)
    assert (answer.status, answer.body["code"]) == (400, "usage")
    assert runs(server) == []


@pytest.mark.parametrize("key", ["x", "x" * 255, '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'])
def test_keys_that_are_some(server, key):
    assert start(server, key).body == start(server, key).body


def test_two_keys_are_none(server):
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    connection.putrequest("POST", "/api/run")
    for name, value in [("Content-Type", "application/json"), ("Idempotency-Key", "a"),
                        ("Idempotency-Key", "b"), ("Content-Length", "2")]:
        connection.putheader(name, value)
    connection.endheaders(b"{}")
    assert connection.getresponse().status == 400
    connection.close()


def test_reading_needs_no_key(server):
    assert server.get("/api/runs", {"Idempotency-Key": ""}).status == 200
