"""`baton serve`: the HTTP interface, door by door."""
import http.client
import re
import socket

import pytest
from baton import PATIENCE_S, WAIT_S, new_id

RESULT = {"run_id", "workflow", "adapter", "status", "started_at", "completed_at", "duration_ms",
          "steps", "inputs", "outputs", "error", "metadata"}
STEP = {"step_id", "agent", "status", "started_at", "completed_at", "duration_ms", "output", "error"}
SUMMARY = {"run_id", "workflow", "status", "started_at", "completed_at", "duration_ms", "step_count",
           "error", "state"}
PROBLEM = {"type", "title", "status", "detail", "error", "code", "details", "class"}
ATTRIBUTES = {"model_name", "validation_errors", "adapter_name", "available_adapters"}  # of some problems
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")

WAITS = "name: waits\nsteps: [{name: a, human: {question: 'well?'}}]\n"


def check_problem(answer, status, code):
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert set(answer.body) - ATTRIBUTES == PROBLEM
    assert (answer.body["status"], answer.body["code"]) == (status, code)
    assert answer.body["detail"] and answer.body["detail"] == answer.body["error"]
    return answer.body


def test_health(server):
    answer = server.get("/api/health")
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body["status"] == "ok"


def test_a_start_is_acknowledged_once_it_is_recorded(server):
    answer = server.start("two-steps")
    assert answer.status == 202
    assert set(answer.body) == {"run_id", "status"}
    assert answer.body["status"] == "queued"
    run = answer.body["run_id"]
    server.kill()
    assert re.fullmatch(r"[0-9a-f-]{36}", run)


def test_an_acknowledged_run_survives_a_kill(home, server):
    run = server.run_of("two-steps")
    server.kill()
    assert home.serve().finish(run)["status"] == "success"


def test_waiting_for_the_end(server):
    answer = server.start("two-steps", wait=True)
    assert answer.status == 200
    assert answer.body["status"] == "success"
    assert answer.body["outputs"] == {"greeting": "hello, world\n"}


def test_waiting_in_vain_gives_the_receipt(home, server):
    home.define(WAITS)
    answer = server.start("waits", wait=1)
    assert answer.status == 202
    assert answer.body["status"] == "queued"
    assert server.result(answer.body["run_id"])["status"] == "running"


@pytest.mark.parametrize("preference, status", [
    (f"wait={WAIT_S}", 200), (f"respond-async, wait={WAIT_S}", 200), ("wait=0", 202), ("wait=-1", 202),
    ("wait=soon", 202), ("respond-async", 202)])
def test_preferences(server, preference, status):
    body = {"workflow": "two-steps", "inputs": {}}
    answer = server.request("POST", "/api/run", body, {"Prefer": preference})
    assert answer.status == status


def test_a_run_id_of_the_clients_choice(server):
    run = new_id()
    assert server.start("two-steps", run_id=run).body["run_id"] == run
    check_problem(server.start("two-steps", run_id=run), 409, "conflict")
    assert server.finish(run)["status"] == "success"
    check_problem(server.start("two-steps", run_id=run), 409, "conflict")
    assert len(server.get("/api/runs").body) == 1


def test_the_same_id_twice_at_once_is_one_run(server):
    run = new_id()
    connections = [http.client.HTTPConnection(server.address, timeout=PATIENCE_S) for _ in range(8)]
    body = b'{"workflow":"two-steps","inputs":{},"run_id":"%s"}' % run.encode()
    for connection in connections:
        connection.request("POST", "/api/run", body, {"Content-Type": "application/json"})
    statuses = sorted(connection.getresponse().status for connection in connections)
    for connection in connections:
        connection.close()
    assert statuses == [202] + [409] * 7
    assert server.finish(run)["status"] == "success"


def test_the_fields_of_a_run(home, server):
    home.define("""
name: fields
steps:
  - {name: a, tool: echo, inputs: {x: 1}}
  - {name: b, tool: shell, depends_on: [a], inputs: {command: "exit 1"}}
  - {name: c, wait: {seconds: 0.01}, depends_on: [b]}
  - {name: d, human: {question: "?"}}
""")
    run = server.run_of("fields")
    server.until(run, "human.requested")
    server.respond(server.inbox()[0]["id"])
    result = server.finish(run)
    assert set(result) == RESULT
    assert all(set(step) - {"failure"} == STEP for step in result["steps"])
    assert [step["step_id"] for step in result["steps"] if "failure" in step] == ["b", "c"]
    assert (result["run_id"], result["workflow"], result["adapter"]) == (run, "fields", "native")
    assert result["status"] == "failed"
    assert result["outputs"] == {}
    assert result["metadata"]["state"] == "failed"
    assert TIME.fullmatch(result["started_at"]) and TIME.fullmatch(result["completed_at"])
    assert isinstance(result["duration_ms"], int) and result["error"]
    steps = {step["step_id"]: step for step in result["steps"]}
    assert [steps[name]["status"] for name in "abcd"] == ["success", "failed", "skipped", "success"]
    assert [steps[name]["agent"] for name in "abcd"] == ["echo", "shell", "wait", "human"]
    assert steps["a"]["output"] == {"x": 1}
    assert steps["c"]["started_at"] is None and steps["c"]["duration_ms"] is None
    assert steps["d"]["output"]["decision"] == "approve"


def test_a_run_that_still_runs(home, server):
    home.define(WAITS)
    run = server.run_of("waits")
    server.until(run, "human.requested")
    result = server.result(run)
    assert set(result) == RESULT
    assert (result["status"], result["completed_at"], result["duration_ms"]) == ("running", None, None)
    assert result["metadata"]["state"] == "waiting_human"


def test_the_list_and_its_pages(server):
    runs = [server.run_of("two-steps") for _ in range(5)]
    for run in runs:
        server.finish(run)
    newest_first = runs[::-1]
    answer = server.get("/api/runs")
    assert answer.headers["Content-Type"] == "application/json"
    assert [item["run_id"] for item in answer.body] == newest_first
    assert all(set(item) == SUMMARY for item in answer.body)
    assert {(item["status"], item["step_count"]) for item in answer.body} == {("success", 2)}
    assert "Link" not in answer.headers
    seen, target = [], "/api/runs?limit=2"
    while target:
        answer = server.get(target)
        seen.append([item["run_id"] for item in answer.body])
        link = re.fullmatch(r'<(\S+)>; rel="next"', answer.headers.get("Link", ""))
        target = link.group(1) if link else None
    assert sum(seen, []) == newest_first
    assert [len(page) for page in seen] == [2, 2, 1]


def test_runs_are_listed_by_workflow_and_status(home):
    """Filters by Baton's own states and by those of the runtime vocabulary, page by page; an unknown status is an error."""
    home.define("name: good\nsteps:\n  - {name: only, tool: echo}\n")
    home.define("name: bad\nsteps:\n  - {name: only, tool: json_transform, inputs: {input: 1, operations: [{get: /a}]}}\n")
    home.define("name: waits\nsteps:\n  - {name: only, wait: {signal: go}}\n")
    server = home.serve()
    runs = {name: [server.run_of(name) for _ in range(3)] for name in ("good", "bad", "waits")}
    for run in runs["good"] + runs["bad"]:
        server.finish(run)
    assert server.tell(runs["waits"][1], "cancel").status == 200
    server.finish(runs["waits"][1])

    def listed(query):
        found, target = [], f"/api/runs?limit=2&{query}"
        while target:
            answer = server.get(target)
            assert answer.status == 200, answer
            found += [row["run_id"] for row in answer.body]
            target = answer.headers.get("Link", "<>").partition("<")[2].partition(">")[0]
        return found

    assert listed("status=success") == listed("status=succeeded") == listed("workflow=good") == runs["good"][::-1]
    assert listed("status=failed") == [runs["waits"][1], *runs["bad"][::-1]]
    assert listed("status=cancelled") == [runs["waits"][1]]
    assert listed("status=running") == [runs["waits"][2], runs["waits"][0]]
    assert listed("workflow=waits") == runs["waits"][::-1]
    assert listed("workflow=waits&status=failed") == [runs["waits"][1]]
    assert listed("workflow=good&status=failed") == listed("workflow=nobody") == []
    answer = server.get("/api/runs?status=sucess")
    check_problem(answer, 400, "usage")
    assert answer.body["detail"] == ('unknown status "sucess"; expected one of queued, running, paused, waiting_human, succeeded, with_issues, '
                                     "failed, cancelled, or of the runtime vocabulary: pending, running, success, failed")


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "cursor=x"])
def test_bad_pages(server, query):
    check_problem(server.get("/api/runs?" + query), 400, "usage")


def test_the_events_and_their_pages(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    whole = server.get(f"/api/runs/{run}/events").body
    assert whole["cursor"] is None
    assert [event["seq"] for event in whole["items"]] == list(range(1, 6))
    assert all(set(event) == {"run_id", "seq", "position", "at", "type", "data"}
               for event in whole["items"])
    page = server.get(f"/api/runs/{run}/events?limit=2").body
    assert page["items"] == whole["items"][:2]
    page = server.get(f"/api/runs/{run}/events?limit=2&after={page['cursor']}").body
    assert page["items"] == whole["items"][2:4]
    check_problem(server.get(f"/api/runs/{new_id()}/events"), 404, "not_found")


@pytest.mark.parametrize("body, status, code", [
    (b"", 400, "syntax"), (b"{", 400, "syntax"), (b'{"workflow":"x","inputs":{}} x', 400, "syntax"),
    (b"[]", 422, "invalid"), (b"null", 422, "invalid"), (b"{}", 422, "invalid"),
    (b'{"inputs":{}}', 422, "invalid"),
    (b'{"workflow":"two-steps","inputs":[]}', 422, "invalid"),
    (b'{"workflow":7,"inputs":{}}', 422, "invalid"),
    (b'{"workflow":"","inputs":{}}', 422, "invalid"),
    (b'{"workflow":"two-steps","inputs":{},"more":1}', 422, "invalid"),
    (b'{"workflow":"two-steps","inputs":{},"run_id":"x"}', 422, "invalid"),
    (b'{"workflow":"two-steps","inputs":{},"adapter":"other"}', 400, "adapter_not_found"),
    (b'{"workflow":"two-steps","inputs":{"ghost":1}}', 422, "invalid"),
    (b'{"workflow":"two-steps","inputs":{"who":1}}', 422, "invalid"),
    (b'{"workflow":"nobody","inputs":{}}', 404, "not_found"),
    (b'{"workflow":"../../etc/passwd","inputs":{}}', 404, "not_found"),
])
def test_bad_bodies(server, body, status, code):
    answer = server.request("POST", "/api/run", body, {"Content-Type": "application/json"})
    check_problem(answer, status, code)
    assert server.get("/api/runs").body == []


def test_every_problem_of_a_body_is_named(server):
    body = b'{"workflow": 7,\n "inputs": [],\n "surprise": 1}'
    answer = server.request("POST", "/api/run", body, {"Content-Type": "application/json"})
    details = check_problem(answer, 422, "invalid")["details"]
    assert {place["pointer"] for place in details} == {"/workflow", "/inputs", "/surprise"}
    assert {place["line"] for place in details} == {1, 2, 3}
    assert all(place["column"] >= 1 and place["text"] for place in details)


@pytest.mark.parametrize("media", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_other_media(server, media):
    headers = {"Content-Type": media} if media else {}
    answer = server.request("POST", "/api/run", b'{"workflow":"two-steps","inputs":{}}', headers)
    check_problem(answer, 415, "unsupported_media")


def test_json_with_a_charset(server):
    answer = server.request("POST", "/api/run", b'{"workflow":"two-steps","inputs":{}}',
                            {"Content-Type": "Application/JSON; charset=utf-8"})
    assert answer.status == 202


def test_a_body_over_the_limit(server):
    answer = server.request("POST", "/api/run", b" " * 2097153, {"Content-Type": "application/json"})
    assert answer.status == 413
    assert server.get("/api/health").status == 200


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/runs/x", "/api/runs/../health",
                                  "/ui/nothing.js", "/ui", "//", "/api/health/"])
def test_unknown_paths(server, path):
    check_problem(server.get(path), 404, "not_found")


@pytest.mark.parametrize("method, path", [("POST", "/api/health"), ("GET", "/api/run"),
                                          ("DELETE", "/api/runs"), ("PUT", "/ui/")])
def test_known_paths_with_other_methods(server, method, path):
    check_problem(server.request(method, path), 405, "method_not_allowed")


def test_an_unknown_run(server):
    check_problem(server.get(f"/api/runs/{new_id()}"), 404, "not_found")


def test_head(server):
    whole, head = server.get("/api/health"), server.request("HEAD", "/api/health")
    assert head.status == 200
    assert head.body == b""
    assert head.headers["Content-Type"] == whole.headers["Content-Type"]
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]


@pytest.mark.parametrize("host, status", [
    ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("localhost", 200), ("LocalHost:1", 200),
    ("127.0.0.1:80", 200), ("[::1]:80", 200), ("", 421)])
def test_the_host_header(server, host, status):
    answer = server.request("GET", "/api/health", None, {"Host": host})
    assert answer.status == status, answer
    if status == 421:
        check_problem(answer, 421, "misdirected")


@pytest.mark.parametrize("target, host, status", [
    ("localhost:80", "localhost:80", 200), ("localhost", "evil.example", 200),
    ("evil.example", "localhost", 421)])
def test_the_host_of_an_absolute_target_counts(server, target, host, status):
    answer = server.request("GET", f"http://{target}/api/health", None, {"Host": host})
    assert answer.status == status, answer
    if status == 421:
        assert answer.body["code"] == "misdirected"


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1", "null",
                                    "http://127.0.0.1:1"])
def test_a_foreign_origin(server, origin):
    answer = server.request("POST", "/api/run", {"workflow": "two-steps", "inputs": {}},
                            {"Origin": origin})
    check_problem(answer, 403, "forbidden")
    assert server.get("/api/runs").body == []


def test_our_own_origin(server):
    answer = server.request("POST", "/api/run", {"workflow": "two-steps", "inputs": {}},
                            {"Origin": f"http://{server.address}"})
    assert answer.status == 202


def test_a_definition_is_taken_only_through_the_socket(home, server):
    body = {"workflow": "sent", "inputs": {},
            "yaml_content": "name: sent\nsteps: [{name: a, tool: echo}]\n"}
    check_problem(server.request("POST", "/api/run", body), 403, "forbidden")
    assert home.local("POST", "/api/run", body).status == 202


def test_a_sent_definition_with_problems(home, server):
    body = {"workflow": "sent", "inputs": {},
            "yaml_content": "name: sent\nsteps:\n  - {name: a, tool: nobody}\n"}
    problem = check_problem(home.local("POST", "/api/run", body), 422, "invalid")
    assert [(place["line"], place["pointer"]) for place in problem["details"]] == [(3, "/steps/0/tool")]


def test_a_sent_definition_with_another_name(home, server):
    body = {"workflow": "other", "inputs": {},
            "yaml_content": "name: sent\nsteps: [{name: a, tool: echo}]\n"}
    check_problem(home.local("POST", "/api/run", body), 422, "invalid")


def test_many_requests_on_one_connection(server):
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    connection.connect()
    local = connection.sock.getsockname()
    for _ in range(20):
        connection.request("GET", "/api/health")
        assert connection.getresponse().read()
        assert connection.sock.getsockname() == local
    connection.close()


@pytest.mark.parametrize("bytes", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x" * 20000,
                                   b"POST /api/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                                   b"Transfer-Encoding: chunked\r\n\r\n"])
def test_what_is_no_http_is_refused_and_harms_nobody(server, bytes):
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
        connection.sendall(bytes)
        answer = connection.makefile("rb").read()
    assert re.match(rb"HTTP/1\.1 4\d\d ", answer), answer
    assert server.get("/api/health").status == 200


def test_a_server_answers_while_a_step_runs(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define("name: long\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {command: 'echo up > told; read -r w < gate'}}\n")
    server.start("long", run_id=run)
    told.await_line()
    assert server.get("/api/health").status == 200
    assert server.start("two-steps", wait=True).status == 200
    gate.send()
    assert server.finish(run)["status"] == "success"
