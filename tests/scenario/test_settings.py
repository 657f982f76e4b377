"""Settings and ServerConfig of the pipeline vocabulary over HTTP: reading, changing, and when a change takes effect."""
import base64
import http.client
import os
import socket

import pytest
from baton import PATIENCE_S


def profile(name, **more):
    return {"name": name, "repo_root": "/srv/" + name, **more}


def settings(active, *names):
    return {"active_profile": active, "profiles": {name: profile(name) for name in names}}


def changes(server):
    return server.get("/api/events?type=document.changed&limit=1000").body["items"]


# ---- all profiles in one document ------------------------------------------------------------


def test_all_at_once(server):
    answer = server.get("/api/settings")
    assert (answer.status, answer.body["code"]) == (404, "not_found")
    assert "POST /api/profiles" in answer.body["detail"]
    made = server.request("PUT", "/api/settings", settings("b", "a", "b", "c"))
    assert made.status == 200, made
    assert made.body["active_profile"] == "b" and sorted(made.body["profiles"]) == ["a", "b", "c"]
    assert server.get("/api/profiles/a").body == made.body["profiles"]["a"]
    assert server.get("/api/profiles").body["active_profile"] == "b"
    # Those that are left out go, those that stay as they are keep their revision, b may go with the rest.
    other = server.request("PUT", "/api/settings", settings("d", "a", "d"))
    assert sorted(other.body["profiles"]) == ["a", "d"]
    assert server.get("/api/profiles/a").headers["ETag"] == '"1"'
    assert server.get("/api/profiles/b").status == 404
    assert server.get("/api/settings").body == other.body


def test_all_or_nothing(server):
    server.request("PUT", "/api/settings", settings("a", "a"))
    before = server.get("/api/settings")
    count = len(changes(server))
    for bad, pointer in [({"active_profile": "x", "profiles": {"y": profile("y")}}, "/active_profile"),
                         ({"active_profile": "y", "profiles": {"y": profile("z")}}, "/profiles"),
                         ({"active_profile": "y", "profiles": {"y": {"name": "y"}}}, "/profiles/y/repo_root"),
                         ({"active_profil": "y", "profiles": {}}, "/active_profil")]:
        answer = server.request("PUT", "/api/settings", bad)
        assert (answer.status, answer.body["code"]) == (422, "invalid"), bad
        assert pointer in [place["pointer"] for place in answer.body["details"]], answer.body
    assert server.get("/api/settings").body == before.body
    assert len(changes(server)) == count


def test_if_match_is_about_the_whole(server):
    first = server.request("PUT", "/api/settings", settings("a", "a"))
    tag = {"If-Match": first.headers["ETag"]}
    assert server.get("/api/settings", {"If-None-Match": first.headers["ETag"]}).status == 304
    assert server.request("POST", "/api/profiles", profile("other")).status == 201
    late = server.request("PUT", "/api/settings", settings("a", "a"), tag)
    assert (late.status, late.body["code"]) == (412, "precondition_failed")
    tag = {"If-Match": server.get("/api/settings").headers["ETag"]}
    assert server.request("PUT", "/api/settings", settings("a", "a"), tag).status == 200
    assert server.get("/api/profiles/other").status == 404


def test_parts(server):
    server.request("PUT", "/api/settings", settings("a", "a", "b"))
    answer = server.request("PATCH", "/api/settings", {"active_profile": "b",
                                                       "profiles": {"a": None, "c": profile("c"),
                                                                    "b": {"tracker": "jira"}}})
    assert answer.status == 200, answer
    assert answer.body["active_profile"] == "b" and sorted(answer.body["profiles"]) == ["b", "c"]
    assert answer.body["profiles"]["b"]["tracker"] == "jira"
    bad = server.request("PATCH", "/api/settings", {"profiles": {"b": {"trackr": "jira"}, "d": {"name": "d"}}})
    assert bad.status == 422
    assert {p["pointer"] for p in bad.body["details"]} == {"/profiles/b/trackr", "/profiles/d/repo_root"}
    answer = server.request("PATCH", "/api/settings", {"profiles": {"b": None}})
    assert (answer.status, answer.body["code"]) == (409, "conflict")
    assert server.request("PATCH", "/api/settings", {"active_profile": "x"}).status == 404


def test_old_settings_are_read(server):
    old = {"active_profile": "w", "profiles": {"w": {"name": "w", "driver": "api", "model": "m", "tracker": "none"}}}
    answer = server.request("PUT", "/api/settings", old)
    assert answer.status == 200, answer
    assert answer.body["profiles"]["w"]["tracker"] == "noop"
    assert answer.body["profiles"]["w"]["agents"]["developer"] ["model"] == "m"


# ---- the server's own ------------------------------------------------------------------------

DEFAULTS = {"log_retention_days": 30, "log_retention_max_events": 100000, "websocket_idle_timeout_seconds": 300,
            "workflow_start_timeout_seconds": 60, "max_concurrent": 5}


def test_the_servers_settings_as_they_are(home):
    server = home.serve()
    shown = server.get("/api/server")
    host, port = server.address.split(":")
    assert shown.status == 200
    assert shown.body == {"host": host, "port": int(port), "database_path": os.path.join(home.data, "baton.db"),
                          **DEFAULTS}
    changed = server.request("PATCH", "/api/server", {"log_retention_days": 7, "max_concurrent": 9})
    assert changed.body == {**shown.body, "log_retention_days": 7, "max_concurrent": 9}
    # Only what was set is stored.
    assert changes(server)[-1]["data"]["body"] == {"log_retention_days": 7, "max_concurrent": 9}
    server.kill()
    server = home.serve()
    assert server.get("/api/server").body["log_retention_days"] == 7
    # null takes one back, a PUT everything that it leaves out.
    assert server.request("PATCH", "/api/server", {"max_concurrent": None}).body["max_concurrent"] == 5
    assert changes(server)[-1]["data"]["body"] == {"log_retention_days": 7}
    answer = server.request("PUT", "/api/server", {"workflow_start_timeout_seconds": 30})
    assert answer.body["log_retention_days"] == 30 and answer.body["workflow_start_timeout_seconds"] == 30
    assert changes(server)[-1]["data"]["body"] == {"workflow_start_timeout_seconds": 30}
    # What was read can be sent back.
    whole = server.get("/api/server").body
    assert server.request("PUT", "/api/server", {**whole, "max_concurrent": 6}).body == {**whole, "max_concurrent": 6}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_what_only_a_start_decides_is_refused_with_the_way(server, method):
    answer = server.request(method, "/api/server", {"host": "0.0.0.0", "port": 1, "database_path": "/x",
                                                    "max_concurrent": 2})
    assert (answer.status, answer.body["code"]) == (422, "invalid")
    places = {place["pointer"]: place["text"] for place in answer.body["details"]}
    assert set(places) == {"/host", "/port", "/database_path"}
    assert "--host" in places["/host"] and "--port" in places["/port"] and "--home" in places["/database_path"]
    assert server.get("/api/server").body["max_concurrent"] == 5


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("body, pointer", [
    ({"log_retention_days": 0}, "/log_retention_days"), ({"log_retention_max_events": 999}, "/log_retention_max_events"),
    ({"max_concurrent": 0}, "/max_concurrent"), ({"max_concurent": 3}, "/max_concurent"),
    ({"websocket_idle_timeout_seconds": 0}, "/websocket_idle_timeout_seconds"),
    ({"workflow_start_timeout_seconds": -1}, "/workflow_start_timeout_seconds")])
def test_settings_out_of_range(server, method, body, pointer):
    answer = server.request(method, "/api/server", body)
    assert (answer.status, answer.body["code"]) == (422, "invalid")
    assert [place["pointer"] for place in answer.body["details"]] == [pointer]
    assert changes(server) == []


def test_revisions_of_the_servers_settings(server):
    assert server.get("/api/server").headers["ETag"] == '"0"'
    first = server.request("PATCH", "/api/server", {"max_concurrent": 2}, {"If-Match": '"0"'})
    assert first.status == 200
    assert server.request("PATCH", "/api/server", {"max_concurrent": 3}, {"If-Match": '"0"'}).status == 409
    assert first.headers["ETag"] == '"1"'
    second = server.request("PATCH", "/api/server", {"max_concurrent": 3}, {"If-Match": '"1"'})
    assert second.headers["ETag"] == '"2"'
    late = server.request("PATCH", "/api/server", {"max_concurrent": 4}, {"If-Match": '"1"'})
    assert (late.status, late.body["code"]) == (412, "precondition_failed")


# ---- in effect -------------------------------------------------------------------------------


def open_socket(server):
    """A WebSocket of /ws/events, as a plain socket behind its handshake."""
    host, port = server.address.split(":")
    client = socket.create_connection((host, int(port)), PATIENCE_S)
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(f"GET /ws/events HTTP/1.1\r\nHost: {server.address}\r\nUpgrade: websocket\r\n"
                   f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(1)
    assert b" 101 " in head.split(b"\r\n")[0]
    return client


def frames(client):
    """(opcode, payload) of what comes until the server ends; nothing is answered, not even a ping."""
    def take(size):
        data = b""
        while len(data) < size:
            piece = client.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data
    try:
        while True:
            first, size = take(2)
            if size == 126:
                size = int.from_bytes(take(2), "big")
            yield first & 15, take(size)
    except (EOFError, ConnectionError):
        return


def test_the_idle_timeout_takes_effect_on_open_sockets(server):
    """A client that would have had five minutes is put out at once, with 1001."""
    client = open_socket(server)
    assert server.request("PATCH", "/api/server", {"websocket_idle_timeout_seconds": 0.2}).status == 200
    seen = list(frames(client))
    client.close()
    assert seen[-1][0] == 8 and seen[-1][1][:2] == (1001).to_bytes(2, "big")
    assert 9 in [opcode for opcode, _ in seen], "it was pinged before"


def test_the_idle_timeout_holds_from_the_start(home):
    server = home.serve()
    server.request("PATCH", "/api/server", {"websocket_idle_timeout_seconds": 0.2})
    server.kill()
    server = home.serve()
    client = open_socket(server)
    seen = list(frames(client))
    client.close()
    assert seen[-1][0] == 8 and seen[-1][1][:2] == (1001).to_bytes(2, "big")


def test_the_start_timeout_takes_effect(server):
    server.request("PATCH", "/api/server", {"workflow_start_timeout_seconds": 0.000001})
    answer = server.start("two-steps")
    assert (answer.status, answer.body["code"]) == (408, "timeout")
    assert "workflow_start_timeout_seconds" in answer.body["detail"]
    assert server.get("/api/runs").body == []
    server.request("PATCH", "/api/server", {"workflow_start_timeout_seconds": None})
    assert server.start("two-steps", wait=True).body["status"] == "success"
