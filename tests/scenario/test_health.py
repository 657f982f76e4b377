"""Is the server there, should it get work, how are its parts."""
import pytest

COMPONENTS = {"store", "writer", "disk", "loop", "tools", "recovery", "runs"}


def test_the_two_fields_of_s2(server):
    body = server.get("/api/health").body
    assert set(body) == {"status", "version"} and body["status"] == "ok"


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_probes(server, path):
    answer = server.get(path)
    assert (answer.status, answer.body) == (200, {"status": "ok"})


def test_every_component(server):
    answer = server.get("/health")
    assert answer.status == 200, answer
    assert set(answer.body) == {"status", "version", "uptime_seconds", "components"}
    assert {part["component"] for part in answer.body["components"]} == COMPONENTS
    for part in answer.body["components"]:
        assert set(part) == {"type", "component", "status", "metrics", "timestamp"}
        assert part["type"] == "event_health_check"
        assert part["metrics"]
        assert part["status"] in ("healthy", "degraded", "unhealthy")
    by_name = {part["component"]: part for part in answer.body["components"]}
    assert by_name["store"]["status"] == by_name["recovery"]["status"] == "healthy"
    assert by_name["disk"]["metrics"]["free_bytes"] > 0


def test_a_missing_sandbox_is_named(home, tmp_path):
    """Tools cannot run without it: the server is there, but it is not well."""
    server = home.serve(PATH=str(tmp_path))
    answer = server.get("/health")
    assert (answer.status, answer.body["status"]) == (503, "unhealthy")
    bad = [part["component"] for part in answer.body["components"] if part["status"] == "unhealthy"]
    assert bad == ["tools"]
    assert server.get("/api/health").status == server.get("/health/live").status == 200


def test_probes_of_a_server_that_asks_for_keys(home):
    """A supervisor has none."""
    server = home.serve("--require-key")
    for path in ("/health/live", "/health/ready", "/api/health"):
        assert server.get(path).status == 200
    assert server.get("/health").status == 401


def test_while_it_recovers(home):
    """The TCP door is open before the open runs are in memory: reads are answered, changes wait."""
    home.define("name: waits\nsteps: [{name: a, human: {question: 'well?'}}]\n")
    first = home.serve()
    run = first.run_of("waits")
    first.until(run, "human.requested")
    first.kill()
    passed, gate = home.fifo("points", "passed"), home.fifo("points", "gate")
    port = home.port()
    server = home.begin_serve(port=port, BATON_POINTS="runtime.recovering=hold",
                              BATON_POINTS_GATE=str(gate.path), BATON_POINTS_TRACE=str(passed.path))
    while passed.await_line() != "runtime.recovering":
        pass
    server.address = f"127.0.0.1:{port}"
    probe = server.get("/health/ready")
    assert (probe.status, probe.body["status"]) == (503, "recovering")
    assert server.get("/health/live").status == 200
    assert server.result(run)["status"] == "running"
    refused = server.start("waits")
    assert (refused.status, refused.body["code"]) == (503, "unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    report = server.get("/health")
    assert (report.status, report.body["status"]) == (200, "degraded")
    gate.send("x")
    assert server.listen()
    assert server.get("/health/ready").status == 200
    assert server.start("waits").status == 202
