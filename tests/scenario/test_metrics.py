"""GET /metrics: every series is there, well-formed, and moved by what happens."""
import re


def read(server):
    answer = server.get("/metrics")
    assert answer.status == 200
    text = answer.body if isinstance(answer.body, str) else answer.body.decode()
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+|[a-z_]+ \d+", line), line
    return {name: int(value) for name, value in re.findall(r"^([a-z_]+) (\d+)$", text, re.M)}


def test_what_has_happened_is_counted(server):
    before = read(server)
    server.start("two-steps", wait=20)
    after = read(server)
    assert after["baton_events_total"] - before["baton_events_total"] == 5
    assert after["baton_commits_total"] - before["baton_commits_total"] == 2
    assert after["baton_appends_total"] - before["baton_appends_total"] == 2
    assert after["baton_runs_live"] == 0


def test_what_is_under_way_is_shown(server):
    run = server.run_of("release-notes")
    with server.stream(f"/api/runs/{run}/stream") as events:
        next(told for told in events if told.event["type"] == "human.requested")
        figures = read(server)
    assert figures["baton_runs_live"] == 1
    assert figures["baton_watches"] == 1
    assert figures["baton_http_exchanges_open"] == 2  # the stream and this very request
    assert figures["baton_tools_open"] == 0
    assert figures["baton_writer_waiting"] == 0
    assert figures["baton_conflicts_total"] == 0
