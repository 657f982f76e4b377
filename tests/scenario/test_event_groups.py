"""One stored event becomes several events of a vocabulary: files, artifacts, thinking, calls; cursors inside of a group."""
import json
import os
import signal

from baton import new_id, wait_until
from test_sessions import call, definition
from test_websocket import Client

VIEWS = ("pipeline", "pipeline_v1", "runtime", "task", "graph")

WRITER = """
name: writer
steps:
  - name: make
    tool: shell
    inputs: {command: "mkdir -p src; echo one > src/a.txt; echo two > b.txt; printf x > 'c d.txt'; echo ignored > i.log; echo '*.log' > .gitignore"}
  - name: change
    tool: shell
    depends_on: [make]
    inputs: {command: "echo more >> src/a.txt; rm b.txt"}
  - name: look
    tool: shell
    depends_on: [change]
    inputs: {command: "cat src/a.txt"}
  - name: keep
    tool: write_artifact
    depends_on: [look]
    inputs: {name: note, content: hello}
  - name: again
    tool: write_artifact
    depends_on: [keep]
    inputs: {name: note, content: hello again}
  - name: fail
    tool: shell
    depends_on: [again]
    continue_on_error: true
    inputs: {command: "touch z; exit 3"}
"""


def listed(server, run, view, limit=1000, after="0"):
    """All events in a view, in pages of `limit`; and the cursor of each page."""
    items, cursors = [], []
    while after is not None:
        page = server.get(f"/api/runs/{run}/events?view={view}&limit={limit}&after={after}").body
        assert len(page["items"]) <= limit
        items += page["items"]
        after = page["cursor"]
        cursors.append(after)
    return items, cursors


def written(home, server):
    run = server.run_of(home.define(WRITER))
    assert server.finish(run)["status"] == "success"
    return run


def files_of(server, run):
    return {event["data"]["step"]: event["data"].get("file_count", 0) for event in server.events(run) if event["type"] == "tool.finished"}


def types(items):
    return [item.get("event_type") or item.get("event") or item.get("type") or item.get("status") for item in items]


def test_every_call_records_the_files_it_changed(home, server):
    run = written(home, server)
    assert files_of(server, run) == {"make": 4, "change": 2, "look": 0, "keep": 0, "again": 0, "fail": 1}
    events, _ = listed(server, run, "pipeline")
    files = [(e["event_type"], e["data"]["step"], e["data"]["path"]) for e in events if e["event_type"].startswith("file_")]
    assert files == [("file_created", "make", ".gitignore"), ("file_created", "make", "b.txt"), ("file_created", "make", "c d.txt"),
                     ("file_created", "make", "src/a.txt"), ("file_deleted", "change", "b.txt"), ("file_modified", "change", "src/a.txt"),
                     ("file_created", "fail", "z")]
    sizes = {e["data"]["path"]: e["data"].get("size") for e in events if e["data"].get("step") == "change" and e["event_type"].startswith("file_")}
    assert sizes == {"b.txt": None, "src/a.txt": 9}


def test_the_other_vocabularies_show_files_artifacts_and_errors(home, server):
    run = written(home, server)
    v1, _ = listed(server, run, "pipeline_v1")
    assert types(v1).count("file_created") == 5 and types(v1).count("file_deleted") == 1
    task, _ = listed(server, run, "task")
    assert types(task).count("event_artifact_created") == 6  # five files and the first version of the artifact
    assert types(task).count("event_artifact_modified") == 2
    [versioned] = [e for e in task if e["type"] == "event_artifact_versioned"]
    assert (versioned["old_version"], versioned["new_version"]) == ("1", "2")
    runtime, _ = listed(server, run, "runtime")
    [error] = [e for e in runtime if e["event"] == "error"]
    assert (error["data"]["code"], error["data"]["step_id"]) == ("tool_failed", "fail")
    trace, _ = listed(server, run, "graph")
    assert [r["message"] for r in trace if "deleted" in r["message"]] == ["change deleted b.txt"]


def test_a_page_may_end_inside_a_group_and_loses_nothing(home, server):
    run = written(home, server)
    for view in VIEWS:
        whole, _ = listed(server, run, view)
        for limit in (1, 2, 3, 5, 7):
            paged, cursors = listed(server, run, view, limit)
            assert paged == whole, (view, limit)
            assert view == "runtime" or limit > 3 or any("." in cursor for cursor in cursors if cursor), (view, limit)
    everywhere, after, shown = [], "0", None
    while after is not None:
        page = server.get(f"/api/events?view=pipeline&run={run}&limit=2&after={after}").body
        everywhere += page["items"]
        after = page["cursor"]
        shown = shown or (after is not None and "." in after)
    assert everywhere == listed(server, run, "pipeline")[0] and shown


def test_a_bare_number_is_the_whole_group_and_a_number_beyond_ends_it(home, server):
    run = written(home, server)
    seq = next(e["seq"] for e in server.events(run) if e["type"] == "tool.finished")
    rest = listed(server, run, "pipeline", after=str(seq))[0]
    assert listed(server, run, "pipeline", after=f"{seq}.4")[0] == rest
    assert listed(server, run, "pipeline", after=f"{seq}.999999999999")[0] == rest
    assert listed(server, run, "pipeline", after=f"{seq}.1")[0][3:] == rest
    # Baton's own words have one event for each.
    own = server.get(f"/api/runs/{run}/events?after={seq}.0").body["items"]
    assert [e["seq"] for e in own] == list(range(seq + 1, seq + 1 + len(own)))
    for wrong in ("x", "1.", "1.x", "-1", ".1", "1.2.3"):
        answer = server.get(f"/api/runs/{run}/events?view=pipeline&after={wrong}")
        assert answer.status == 400 and "cursor" in answer.body["detail"], wrong


def told(server, target, last=None):
    with server.stream(target, last) as stream:
        return list(stream)


def test_a_stream_resumes_inside_a_group_across_a_kill(home):
    server = home.serve()
    run = written(home, server)
    target = f"/api/runs/{run}/stream?view=pipeline"
    whole = told(server, target)
    assert [t.event for t in whole] == listed(server, run, "pipeline")[0]
    inside = [i for i, t in enumerate(whole) if "." in t.id]
    assert len(inside) == 7  # the groups of make, change and fail, without their last events
    for i in inside:
        assert told(server, target, whole[i].id) == whole[i + 1:]
        assert told(server, f"{target}&after={whole[i].id}") == whole[i + 1:]
    assert server.kill() == -signal.SIGKILL
    server = home.serve()
    for i in inside + [0, len(whole) - 2]:
        assert told(server, target, whole[i].id) == whole[i + 1:]
    # What the stream names as the last id is valid without a view, too.
    assert [t.event["seq"] for t in told(server, f"/api/runs/{run}/stream", whole[inside[0]].id)][0] == int(whole[inside[0]].id.split(".")[0]) + 1


def backfill(client, count):
    events = client.events(count)
    assert client.hear() == {"type": "backfill_complete", "count": count}
    return events


def test_a_socket_resumes_inside_a_group(home, server):
    run = written(home, server)
    positions = {e["seq"]: e["position"] for e in server.events(run)}
    whole, _ = listed(server, run, "pipeline")
    with Client(server, "/ws/events?since=0") as client:
        seen = backfill(client, len(whole))
    assert [e["id"] for e in seen] == [e["id"] for e in whole]
    parts = [i for i, e in enumerate(seen) if "part" in e["data"]]
    assert len(parts) == 10
    for i in parts:
        with Client(server, f"/ws/events?since={seen[i]['id']}") as client:
            assert backfill(client, len(seen) - i - 1) == seen[i + 1:]
        with Client(server, f"/ws/events?since={positions[seen[i]['sequence']]}.{seen[i]['data']['part']}") as client:
            assert backfill(client, len(seen) - i - 1) == seen[i + 1:]


def task_events(server, run):
    with Client(server, f"/tasks/{run}/events") as client:
        return client.all()


def test_a_compacted_run_has_the_same_groups(home, server):
    run = written(home, server)
    before = task_events(server, run)
    assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
    after = task_events(server, run)
    assert [e["type"] for e in after] == [e["type"] for e in before]
    for one, other in zip(before, after):
        if one["type"] not in ("event_tool_call",):  # inputs are gone
            assert one == other


def test_thinking_calls_and_refusals_of_an_agent_are_events(home, server):
    run = server.run_of(home.define(definition([
        {"turn": 1, "thinking": "First a file.", "calls": [call("write_file", path="a.txt", content="seven"), call("nothing", x=1)]},
        {"turn": 2, "text": "Done."}])))
    assert server.finish(run)["status"] == "success"
    events, _ = listed(server, run, "pipeline")
    traces = [(e["event_type"], e["agent"], e["tool_name"], e["is_error"]) for e in events if e["event_type"].startswith(("claude", "agent", "file"))]
    assert traces == [("claude_thinking", "dev", None, False), ("claude_tool_call", "dev", "nothing", False), ("claude_tool_result", "dev", "nothing", True),
                      ("claude_tool_call", "dev", "write_file", False), ("claude_tool_result", "dev", "write_file", False),
                      ("file_created", "dev", "write_file", False), ("agent_output", "dev", None, False)]
    [thinking] = [e for e in events if e["event_type"] == "claude_thinking"]
    assert thinking["data"]["text"] == "First a file." and thinking["model"] == "play"
    [refused] = [e for e in events if e["tool_name"] == "nothing" and e["event_type"] == "claude_tool_call"]
    assert refused["tool_input"] == {"x": 1}
    task, _ = listed(server, run, "task")
    calls = [e["tool_call"]["id"] for e in task if e["type"] == "event_tool_call"]
    results = [e["tool_result"]["tool_call_id"] for e in task if e["type"] == "event_tool_result"]
    assert calls == results and len(set(calls)) == 2
    assert {e["agent_name"] for e in task if e["type"] == "event_tool_call"} == {"dev"}


def test_more_files_than_a_group_has_are_counted(home, server):
    run = server.run_of(home.define("""
name: many
steps:
  - name: make
    tool: shell
    inputs: {command: "for i in $(seq 1 1200); do echo > f$i; done"}
"""))
    assert server.finish(run)["status"] == "success"
    assert files_of(server, run) == {"make": 1000}
    events, _ = listed(server, run, "pipeline", 100)
    group = [e for e in events if e["sequence"] == 3]
    assert len(group) == 1000 and types(group).count("file_created") == 999
    assert group[-1]["data"]["left_out"] == 201 and all("left_out" not in e["data"] for e in group[:-1])
    assert "201 more are left out" in group[-1]["message"]


def test_a_kill_before_the_result_is_committed_repeats_the_call_and_its_list(home):
    server = home.serve(BATON_POINTS="tool.files_listed=kill")
    run = new_id()
    home.define(WRITER)
    server.start("writer", run_id=run)
    server.wait()
    server = home.serve()
    assert server.finish(run)["status"] == "success"
    assert files_of(server, run)["make"] == 4
    assert server.types(run).count("tool.restarted") == 1
    assert os.path.exists(home.workspace(run, "src", "a.txt"))
    wait_until(lambda: server.inbox() == [])
