"""Is the server there, should it get work, how are its parts."""
import os

import pytest

COMPONENTS = {"store", "writer", "disk", "loop", "tools", "recovery"}


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
    held = home.held_serve("server.recovered")
    probe = held.get("/health/ready")
    assert (probe.status, probe.body["status"]) == (503, "recovering")
    assert held.get("/health/live").status == 200
    assert held.result(run)["status"] == "running"
    refused = held.start("waits")
    assert (refused.status, refused.body["code"]) == (503, "unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    report = held.get("/health").body
    assert report["status"] == "degraded"
    held.go_on()
    assert held.get("/health/ready").status == 200
    assert held.start("waits").status == 202
