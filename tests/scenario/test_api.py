"""The interface as such: paths, queries, methods, ids of requests, long bodies, the page of the
reference, and every run's events."""
import concurrent.futures
import http.client
import json
import re
import socket

import pytest
from baton import PATIENCE_S, WAIT_S, new_id
from test_websocket import Client

PROBLEM = {"class", "type", "title", "status", "detail", "error", "code", "details"}
ATTRIBUTES = {"model_name", "validation_errors", "adapter_name", "available_adapters"}
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def check_problem(answer, status, code):
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert set(answer.body) - ATTRIBUTES == PROBLEM
    assert (answer.body["status"], answer.body["code"]) == (status, code)
    return answer.body


# ---- paths and queries -----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/%72uns", "/%61pi/runs", "/api/runs?", "/api/runs?&&"])
def test_escapes_mean_what_they_stand_for(server, path):
    assert server.get(path).status == 200


@pytest.mark.parametrize("path", ["/api/%zz", "/api/%7", "/api/%", "/api/%ff", "/api/%00", "/api/%c3%28",
                                  "/api/runs?limit=%zz", "/api/runs?limit=%", "/api/runs?%ff=1",
                                  "/api/runs?limit=%00"])
def test_escapes_that_are_no_characters(server, path):
    check_problem(server.get(path), 400, "usage")


@pytest.mark.parametrize("path", ["/ui/..%2fapp.js", "/ui/%2e%2e", "/ui/a%2fb", "/api%2fruns",
                                  "/api/runs/" + "/".join("a" * 70)])
def test_an_escaped_slash_is_no_slash(server, path):
    check_problem(server.get(path), 404, "not_found")


def test_query_values_are_unescaped(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    plain = server.get(f"/api/runs/{run}?view=pipeline")
    assert plain.status == 200
    assert server.get(f"/api/runs/{run}?view=%70ipe%6cine").body == plain.body


@pytest.mark.parametrize("target, says", [
    ("/api/runs?limt=3", "did you mean limit?"), ("/api/runs?page=3", "expected one of limit, cursor"),
    ("/api/health?x=1", "this route has none"), ("/api/runs?limit=1&limit=2", "twice"),
    ("/api/runs?limit=1&l%69mit=2", "twice")])
def test_parameters_that_are_not_taken(server, target, says):
    problem = check_problem(server.get(target), 400, "usage")
    assert says in problem["detail"]


def test_every_documented_parameter_is_taken(server):
    """And no other: the rows are what the server reads."""
    run = server.start("two-steps", wait=True).body["run_id"]
    paths = server.get("/openapi.json").body["paths"]
    asked = 0
    for path, methods in paths.items():
        if "get" not in methods or "stream" in path or path.startswith("/ui/"):
            continue  # the dashboard reads its own address
        names = [p["name"] for p in methods["get"].get("parameters", []) if p["in"] == "query"]
        target = re.sub(r"\{\w+\}", "x", path.replace("{id}", run))
        for name in names:
            answer = server.get(f"{target}?{name}=")
            assert "not taken" not in str(answer.body), (path, name)
            asked += 1
        unknown = server.get(f"{target}?surely_not=1")
        assert unknown.status == 400 and "surely_not" in unknown.body["detail"], path
    assert asked >= 10


# ---- methods -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method, path, allow", [
    ("DELETE", "/api/runs", "GET, HEAD, OPTIONS"), ("GET", "/api/run", "POST, OPTIONS"),
    ("PUT", "/ws/events", "GET, HEAD, OPTIONS")])
def test_a_method_that_is_not_there_is_told_the_others(server, method, path, allow):
    answer = server.request(method, path)
    check_problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == allow


@pytest.mark.parametrize("path, allow", [("/api/runs", "GET, HEAD, OPTIONS"), ("/api/run", "POST, OPTIONS"),
                                         ("*", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")])
def test_options(server, path, allow):
    answer = server.request("OPTIONS", path)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["Allow"] == allow
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_options_of_nothing(server):
    check_problem(server.request("OPTIONS", "/nowhere"), 404, "not_found")


# ---- what every answer has -------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/api/health", "/api/runs", "/ui/", "/docs", "/docs/style.css",
                                    "/openapi.json", "/metrics", "/nowhere", "/api/runs/x", "/"])
def test_headers_of_every_answer(server, target):
    headers = server.get(target).headers
    assert re.fullmatch(r"[0-9a-f-]{36}", headers["X-Request-Id"])
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy and "http" not in policy and "*" not in policy


@pytest.mark.parametrize("given, taken", [
    ("mine-1", True), ("a/b:c=d", True), ("x" * 128, True), ("x" * 129, False), ("", False),
    ('a"b', False), ("a b", False)])
def test_the_id_of_a_request(server, given, taken):
    answer = server.get("/api/runs", {"X-Request-Id": given})
    assert (answer.headers["X-Request-Id"] == given) == taken
    assert answer.headers["X-Request-Id"]


def test_a_stream_names_its_request(server):
    run = server.start("two-steps", wait=True).body["run_id"]
    answer = server.get(f"/api/runs/{run}/stream", {"X-Request-Id": "the-stream"})
    assert answer.status == 200 and answer.headers["X-Request-Id"] == "the-stream"


def test_a_websocket_names_its_request(server):
    with Client(server, "/ws/events", {"X-Request-Id": "the-socket"}) as client:
        assert client.headers["x-request-id"] == "the-socket"
    with Client(server, "/ws/events") as client:
        assert re.fullmatch(r"[0-9a-f-]{36}", client.headers["x-request-id"])


def test_what_could_not_be_read_has_a_name_too(server):
    seen = set()
    for request in (b"GET / HTTP/1.1\r\n folded: yes\r\n\r\n", b"NONSENSE\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 17000,
                    b"POST /api/run HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n"):
        host, port = server.address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as client:
            client.sendall(request)
            answer = b"".join(iter(lambda client=client: client.recv(65536), b"")).decode()
        assert answer.startswith("HTTP/1.1 4"), answer
        seen.add(re.search(r"^X-Request-Id: ([0-9a-f-]{36})\r$", answer, re.M)[1])
    assert len(seen) == 5


# ---- the audit ---------------------------------------------------------------------------------


def log_of(server):
    """A line is written behind its answer, but before the next request is looked at."""
    assert server.get("/api/health").status == 200
    return server.errors()


def audit(server):
    lines = [json.loads(line) for line in log_of(server).splitlines() if line.startswith("{")]
    return [line for line in lines if line["text"] == "audit"]


def test_what_changes_something_leaves_a_line(home):
    server = home.serve("--log", "json")
    body = {"workflow": "two-steps", "inputs": {"who": "a secret of ours"}}
    run = server.request("POST", "/api/run", body, {"X-Request-Id": "r-1"}).body["run_id"]
    server.finish(run)
    server.get("/api/runs")
    server.request("POST", "/api/run", b"{", {"Content-Type": "application/json", "X-Request-Id": "r-2"})
    server.get("/api/runs", {"Host": "evil.example", "X-Request-Id": "r-3"})
    lines = audit(server)
    assert [line["request_id"] for line in lines] == ["r-1", "r-2", "r-3"]
    assert [line["status"] for line in lines] == ["202", "400", "421"]
    assert lines[0]["subject"] == run
    assert (lines[0]["caller"], lines[0]["role"]) == ("loopback", "admin")
    assert {line["route"] for line in lines[:2]} == {"POST /api/run"}
    assert lines[2]["caller"] == "nobody"
    assert "secret of ours" not in log_of(server)


def test_the_audit_for_a_person(home):
    server = home.serve()
    server.request("POST", "/api/run", {"workflow": "nobody", "inputs": {}}, {"X-Request-Id": "r-9"})
    assert "info: audit (request_id=r-9 caller=loopback role=admin route=POST /api/run status=404)" \
        in log_of(server)


# ---- long bodies -------------------------------------------------------------------------------


def test_a_long_body_is_read_too(home, server):
    home.define("name: long\ninputs: {text: {type: string}}\n"
                "steps: [{name: a, tool: echo, inputs: {text: '${inputs.text}'}}]\n"
                "outputs: {text: {from: '${steps.a.outputs.text}'}}\n")
    text = "x" * 300000
    answer = server.request("POST", "/api/run", {"workflow": "long", "inputs": {"text": text}},
                            {"Prefer": f"wait={WAIT_S}", "X-Request-Id": "long", "Idempotency-Key": "long"})
    assert (answer.status, answer.body["outputs"]) == (200, {"text": text})
    assert answer.headers["X-Request-Id"] == "long"


def test_a_long_body_that_is_wrong(server):
    filler = " " * 200000
    broken = server.request("POST", "/api/run", f'{{"workflow":{filler}'.encode(),
                            {"Content-Type": "application/json"})
    check_problem(broken, 400, "syntax")
    wrong = server.request("POST", "/api/run", f'{{"workflow": 7,{filler}\n"inputs": []}}'.encode(),
                           {"Content-Type": "application/json"})
    details = check_problem(wrong, 422, "invalid")["details"]
    assert {place["pointer"] for place in details} == {"/workflow", "/inputs"}


def test_a_client_that_leaves_its_long_body(server):
    """Nothing comes of it and nobody is harmed."""
    body = json.dumps({"workflow": "two-steps", "inputs": {}, "more": "x" * 1500000}).encode()
    for _ in range(8):
        connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
        connection.request("POST", "/api/run", body, {"Content-Type": "application/json"})
        connection.close()
    assert server.get("/api/runs").body == []


# ---- traces ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given, kept", [
    (TRACE, True), ("cc" + TRACE[2:] + "-more", True), (TRACE + "-more", False), (TRACE[:-1], False),
    (TRACE.upper(), False), ("ff" + TRACE[2:], False), ("00-" + "0" * 32 + TRACE[35:], False),
    (TRACE[:36] + "0" * 16 + "-01", False), (TRACE.replace("-", "_"), False), ("", False)])
def test_a_trace_goes_with_its_run(server, given, kept):
    body = {"workflow": "two-steps", "inputs": {}}
    run = server.request("POST", "/api/run", body, {"traceparent": given}).body["run_id"]
    result = server.finish(run)
    created = server.events(run)[0]["data"]
    if kept:
        assert created["trace"] == result["metadata"]["traceparent"] == given[:55]
    else:
        assert "trace" not in created and "traceparent" not in result["metadata"]


# ---- the page of the reference ---------------------------------------------------------------


def test_the_reference_has_every_row(server):
    page = server.get("/docs")
    assert page.status == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
    text = page.body.decode()
    document = server.get("/openapi.json").body
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in text
    for name in document["components"]["schemas"]:
        if not name.endswith(".Input"):
            assert f'id="{name}"' in text, name
    for word in ("unauthenticated", "tool.finished", "serve.require_key", "HTTP_BODY_BYTES", "baton_runs_live"):
        assert f"<code>{word}</code>" in text
    links = set(re.findall(r'href="#([^"]+)"', text))
    assert links and links <= set(re.findall(r'id="([^"]+)"', text))


def test_the_reference_asks_for_nothing_from_elsewhere(server):
    page = server.get("/docs").body.decode()
    assert re.findall(r'(?:src|href)="([^#"][^"]*)"', page) == ["/docs/style.css"]
    assert "<script" not in page and "style=" not in page
    style = server.get("/docs/style.css")
    assert style.status == 200 and b"url(" not in style.body and b"@import" not in style.body


# ---- every run's events ------------------------------------------------------------------------


def pages(server, target):
    after, seen = "0", []
    while after is not None:
        page = server.get(f"{target}&after={after}").body
        seen += page["items"]
        after = page["cursor"]
    return seen


def test_every_runs_events_in_pages(server):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(3)]
    whole = server.get("/api/events").body
    assert whole["cursor"] is None
    positions = [int(event["position"]) for event in whole["items"]]
    assert positions == sorted(set(positions)) and len(positions) == 15
    assert pages(server, "/api/events?limit=4") == whole["items"]
    one = [event for event in whole["items"] if event["run_id"] == runs[1]]
    assert pages(server, f"/api/events?limit=4&run={runs[1]}") == one == server.events(runs[1])
    finished = pages(server, "/api/events?limit=4&type=run.finished")
    assert [event["run_id"] for event in finished] == runs
    assert server.get(f"/api/events?run={new_id()}").body == {"items": [], "cursor": None}


@pytest.mark.parametrize("view", ["pipeline", "pipeline_v1", "runtime", "task", "graph"])
def test_every_runs_events_in_a_vocabulary(server, view):
    runs = [server.start("two-steps", wait=True).body["run_id"] for _ in range(2)]
    shown = pages(server, f"/api/events?limit=3&view={view}")
    wanted = sum((server.get(f"/api/runs/{run}/events?view={view}").body["items"] for run in runs), [])
    assert shown == wanted and shown
    with server.stream(f"/api/runs/{runs[0]}/stream?view={view}") as stream:
        told = [item.event for item in stream]
    assert told == server.get(f"/api/runs/{runs[0]}/events?view={view}").body["items"]
    with server.stream(f"/api/stream?after=0&view={view}") as stream:
        assert [next(stream).event for _ in wanted] == wanted


def test_a_stream_in_a_vocabulary_while_it_happens(home, server):
    """What is told while the run goes on is what is told afterwards, whoever joins when."""
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define("name: held\nsteps:\n"
                "  - {name: a, tool: shell, inputs: {command: 'echo up > told; read -r w < gate'}}\n"
                "  - {name: b, tool: echo, depends_on: [a], inputs: {x: 1}}\n")

    def follow():
        with server.stream(f"/api/runs/{run}/stream?view=runtime") as stream:
            return [(item.id, item.event) for item in stream]

    server.start("held", run_id=run)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        early = [pool.submit(follow) for _ in range(3)]
        told.await_line()
        gate.send()
        server.finish(run)
        assert all(one.result(PATIENCE_S) == follow() for one in early)


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "after=-1", "after=x", "run=x",
                                   "view=nothing"])
def test_bad_pages_of_events(server, query):
    check_problem(server.get("/api/events?" + query), 400, "usage")


def test_an_unknown_type_of_event_is_refused_with_the_choices(server):
    answer = server.get("/api/events?type=nothing")
    check_problem(answer, 422, "invalid")
    assert "run.created" in answer.body["error"]
