"""?level=, ?domain= and ?type= of lists, streams and sockets of events."""
import pytest

from test_event_groups import types
from test_milestones import PLANNED
from test_websocket import Client, Refused


def planned(home, server):
    run = server.run_of(home.define(PLANNED))
    server.finish(run)
    return run


def all_of(server, target):
    """Every item behind the filter, page by page, and the number of pages."""
    items, pages, after = [], 0, "0"
    while after is not None:
        page = server.get(f"{target}&after={after}")
        assert page.status == 200, page
        items += page.body["items"]
        after, pages = page.body["cursor"], pages + 1
        assert pages < 1000
    return items, pages


def test_lists_are_filtered_by_level_domain_and_type(home, server):
    run = planned(home, server)
    everything, _ = all_of(server, f"/api/runs/{run}/events?view=pipeline&limit=1000")
    for target in (f"/api/runs/{run}/events?view=pipeline", "/api/events?view=pipeline"):
        for limit in (3, 1000):
            base = f"{target}&limit={limit}"
            debug, _ = all_of(server, f"{base}&level=debug")
            assert debug == [item for item in everything if item["level"] == "debug"] and debug
            both, _ = all_of(server, f"{base}&level=error,warning")
            assert both == [item for item in everything if item["level"] in ("error", "warning")] and both
            tasks, _ = all_of(server, f"{base}&type=task_started,task_failed")
            assert types(tasks) == ["task_started", "task_started", "task_failed"]
            assert all_of(server, f"{base}&domain=oracle")[0] == []
            assert all_of(server, f"{base}&domain=workflow,oracle")[0] == everything
            assert types(all_of(server, f"{base}&type=task_started,task_failed&level=error")[0]) == ["task_failed"]


def test_baton_s_own_names_filter_every_vocabulary(home, server):
    run = planned(home, server)
    own, _ = all_of(server, "/api/events?limit=7&type=run.finished,run.created")
    assert types(own) == ["run.created", "run.finished"]
    same, _ = all_of(server, f"/api/runs/{run}/events?limit=7&type=step.left")
    assert types(same) == ["step.left"] * len(same) and same
    levels, _ = all_of(server, "/api/events?limit=7&level=info")
    assert "run.finished" in types(levels)
    viewed, _ = all_of(server, "/api/events?limit=7&view=runtime&type=run.finished")
    assert types(viewed) == ["workflow_end"]


def test_an_unknown_word_is_refused_with_the_choices(home, server):
    run = planned(home, server)
    for target, words in ((f"/api/runs/{run}/events?level=loud", ("loud", "debug", "error")),
                          ("/api/events?domain=space", ("space", "workflow", "knowledge")),
                          ("/api/events?view=pipeline&type=task_start", ("task_start", "workflow_created")),
                          ("/api/stream?type=run.done", ("run.done", "run.created")),
                          (f"/api/runs/{run}/stream?level=loud", ("loud", "warning")),
                          ("/api/events?view=graph&type=task_started", ("task_started", "info"))):
        answer = server.get(target)
        assert answer.status == 422 and all(word in answer.body["detail"] for word in words), (target, answer)


def test_streams_leave_out_what_the_filter_does_not_allow(home, server):
    run = planned(home, server)
    for target in (f"/api/runs/{run}/stream?view=pipeline&type=review_completed", f"/api/runs/{run}/stream?view=pipeline&type=review_completed&after=1"):
        with server.stream(target) as stream:
            assert types([told.event for told in stream]) == ["review_completed"] * 4
    with server.stream(f"/api/runs/{run}/stream?type=run.finished") as stream:
        assert [told.event["type"] for told in stream] == ["run.finished"]


def test_a_filtered_stream_continues_behind_what_it_left_out(home, server):
    run = planned(home, server)
    seen, last = [], None
    with server.stream(f"/api/runs/{run}/stream?view=pipeline&type=review_completed") as stream:
        for told in stream:
            seen.append(told.event["id"])
            last = told.id
            if len(seen) == 2:
                break
    with server.stream(f"/api/runs/{run}/stream?view=pipeline&type=review_completed", last) as stream:
        seen += [told.event["id"] for told in stream]
    assert len(seen) == 4 and len(set(seen)) == 4


def test_sockets_filter_by_query_and_by_subscription(home, server):
    first = planned(home, server)
    with Client(server, "/ws/events?since=0&type=task_started,task_failed") as client:
        told = []
        while not told or told[-1]["type"] != "backfill_complete":
            told.append(client.hear())
        assert [message["payload"]["event_type"] for message in told if message["type"] == "event"] == ["task_started", "task_started", "task_failed"]
        assert told[-1]["count"] == 3
        client.say({"type": "subscribe_all", "level": "error"})
        assert client.sync() == []
        second = server.run_of("planned")
        server.finish(second)
        words = client.events(3)
        assert {word["workflow_id"] for word in words} == {second} and first != second
        assert [word["event_type"] for word in words] == ["plan_validation_failed", "task_failed", "workflow_failed"]


def test_a_socket_refuses_unknown_words(home, server):
    planned(home, server)
    with pytest.raises(Refused) as refused:
        Client(server, "/ws/events?level=loud")
    assert refused.value.status == 422 and "debug" in refused.value.body["detail"]
    with Client(server, "/ws/events") as client:
        client.say({"type": "subscribe_all", "domain": "space"})
        assert client.hear() is None and client.code == 1008 and "workflow" in client.reason
