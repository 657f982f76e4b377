"""Who may come in: keys, roles, hosts, and the whole table of routes times roles."""
import datetime
import http.client
import json
import re

import pytest
from baton import PATIENCE_S, WAIT_S, new_id
from test_api import audit, check_problem
from test_websocket import Client, Refused

ROLES = ["viewer", "operator", "admin"]
WAITS = "name: waits\nsteps: [{name: a, human: {question: 'well?'}}]\n"


def make_key(home, role, label="test", **more):
    """Through baton.sock: whoever owns the data folder needs no key."""
    answer = home.local("POST", "/api/keys", {"label": label, "role": role, **more})
    assert answer.status == 201, answer
    return answer.body


def make_expiring_key(home, role):
    """A key and the moment of its end: soon, but not before it is made, however slow this machine is."""
    for seconds in (0.3, 3, 30):
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        answer = home.local("POST", "/api/keys", {"label": "test", "role": role,
                                                  "expires_at": soon.isoformat().replace("+00:00", "Z")})
        if answer.status != 422:
            break
    assert answer.status == 201, answer
    return answer.body, soon


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture
def guarded(home):
    """A server that asks everybody for a key, and a key of every role."""
    server = home.serve("--require-key", "--log", "json")
    server.keys = {role: make_key(home, role)["key"] for role in ROLES}
    return server


# ---- keys ----------------------------------------------------------------------------------


def test_a_key_looks_like_one(home, guarded):
    key = make_key(home, "viewer")["key"]
    assert re.fullmatch(r"baton_[0-9a-f-]{36}_[0-9a-f]{64}", key)


@pytest.mark.parametrize("headers", [
    lambda key: {"Authorization": f"Bearer {key}"}, lambda key: {"authorization": f"bearer  {key} "},
    lambda key: {"X-Api-Key": key}])
def test_ways_to_show_it(guarded, headers):
    assert guarded.get("/api/runs", headers(guarded.keys["viewer"])).status == 200


def wrong_keys(key):
    head, identity, secret = key.split("_")
    return [
        {}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}, {"Authorization": key},
        {"Authorization": f"Basic {key}"}, {"Authorization": f"Bearer {key}x"},
        {"Authorization": f"Bearer {key[:-1]}"}, {"Authorization": f"Bearer {head}_{identity}_"},
        {"Authorization": f"Bearer {head}_{new_id()}_{secret}"},
        {"Authorization": f"Bearer {head}_{identity}_{secret.upper()}"},
        {"Authorization": f"Bearer other_{identity}_{secret}"}, {"X-Api-Key": "nonsense"},
        {"Authorization": f"Bearer {key}", "X-Api-Key": key},
        {"Sec-WebSocket-Protocol": f"baton.key.{key}"},
    ]


def test_ways_to_fail(home):
    """Few enough wrong keys for each server that none of them is told to wait."""
    server = home.serve("--require-key")
    key = make_key(home, "admin")["key"]
    cases = wrong_keys(key)
    assert len(cases) == 14
    for headers in cases:
        answer = server.get("/api/runs", headers)
        check_problem(answer, 401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="baton"'
        assert key not in answer.body["detail"]
    assert server.get("/api/runs", bearer(key)).status == 200


def test_a_key_is_kept_as_a_hash_only(home, guarded):
    secret = guarded.keys["admin"].split("_")[2]
    with home.database() as database:
        dump = "\n".join(database.iterdump())
    assert "run.created" not in dump and "document.changed" in dump
    assert secret not in dump
    assert secret not in guarded.errors()
    listed = home.local("GET", "/api/keys").body["items"]
    assert len(listed) == 3 and all("key" not in item and "sha256" not in item for item in listed)
    assert secret[-4:] not in json.dumps(listed)


def test_keys_survive_a_kill(home, guarded):
    guarded.kill()
    server = home.serve("--require-key")
    assert server.get("/api/runs", bearer(guarded.keys["viewer"])).status == 200
    assert server.get("/api/runs").status == 401


def test_a_key_that_was_taken_back(home, guarded):
    made = make_key(home, "viewer")
    assert guarded.get("/api/runs", bearer(made["key"])).status == 200
    assert home.local("DELETE", f"/api/keys/{made['id']}").status == 204
    check_problem(guarded.get("/api/runs", bearer(made["key"])), 401, "unauthenticated")
    guarded.kill()
    server = home.serve("--require-key")
    assert server.get("/api/runs", bearer(made["key"])).status == 401


def test_a_key_that_expires(home, guarded):
    """By the clock of the server: one that is over by the time of the answer is not taken."""
    made, soon = make_expiring_key(home, "viewer")
    statuses = set()
    while 401 not in statuses:
        statuses.add(guarded.get("/api/runs", bearer(made["key"])).status)
        late = datetime.datetime.now(datetime.timezone.utc) - soon
        assert late < datetime.timedelta(seconds=PATIENCE_S)
    assert statuses <= {200, 401}


def test_a_stream_ends_with_its_key(home, guarded):
    """At the next page: what was sent before was sent to somebody who might have it."""
    made = make_key(home, "viewer")
    connection = http.client.HTTPConnection(guarded.address, timeout=PATIENCE_S)
    connection.request("GET", "/api/stream", None, bearer(made["key"]))
    response = connection.getresponse()
    assert response.status == 200
    admin = bearer(guarded.keys["admin"])
    assert home.local("DELETE", f"/api/keys/{made['id']}").status == 204
    guarded.request("POST", "/api/run", {"workflow": "two-steps", "inputs": {}},
                    {**admin, "Prefer": f"wait={WAIT_S}"})
    # Not read(): a stream that stayed open would keep us waiting for its end.
    assert response.readline() == b""
    connection.close()


def test_a_socket_ends_with_its_key(home, guarded):
    made = make_key(home, "viewer")
    with Client(guarded, "/ws/events", {"Sec-WebSocket-Protocol": f"baton, baton.key.{made['key']}"}) as client:
        assert home.local("DELETE", f"/api/keys/{made['id']}").status == 204
        guarded.request("POST", "/api/run", {"workflow": "two-steps", "inputs": {}},
                        bearer(guarded.keys["admin"]))
        # Not all(): a socket that stayed open would keep us waiting for its end.
        assert client.hear() is None
        assert client.code == 1008


# ---- WebSockets ------------------------------------------------------------------------------


def test_a_browsers_socket_shows_its_key_as_a_protocol(guarded):
    """The key is not said back, and a browser finds one of the protocols it offered chosen."""
    offer = f"baton, baton.key.{guarded.keys['viewer']}"
    with Client(guarded, "/ws/events", {"Sec-WebSocket-Protocol": offer}) as client:
        assert client.headers["sec-websocket-protocol"] == "baton"
    with Client(guarded, "/ws/events", bearer(guarded.keys["viewer"])) as client:
        assert "sec-websocket-protocol" not in client.headers


@pytest.mark.parametrize("headers", [{}, {"Sec-WebSocket-Protocol": "baton"},
                                     {"Sec-WebSocket-Protocol": "baton, baton.key.baton_x_y"}])
def test_a_socket_without_a_key(guarded, headers):
    with pytest.raises(Refused) as refused:
        Client(guarded, "/ws/events", headers)
    assert refused.value.status == 401


def test_a_key_in_the_url_is_none(guarded):
    for name in ("key", "token", "access_token", "api_key"):
        answer = guarded.get(f"/api/runs?{name}={guarded.keys['admin']}")
        assert answer.status == 401


# ---- wrong keys come too often -----------------------------------------------------------------


def test_wrong_keys_are_slowed_down(home, guarded):
    statuses = [guarded.get("/api/runs", bearer("baton_x_y")).status for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    answer = guarded.get("/api/runs", bearer("baton_x_y"))
    check_problem(answer, 429, "rate_limited")
    assert 1 <= int(answer.headers["Retry-After"]) <= 61
    figures = home.local("GET", "/metrics").body.decode()
    assert 'baton_rejections_total{limit="WRONG_KEYS"} 3\n' in figures
    assert guarded.get("/api/runs", bearer(guarded.keys["viewer"])).status == 200, "a good key is"
    assert guarded.get("/api/runs").status == 401, "no key is no wrong key"
    assert len([line for line in audit(guarded) if line["status"] == "401"]) == 11
    assert home.local("GET", "/api/runs").status == 200


# ---- where nobody is asked ---------------------------------------------------------------------


def test_loopback_without_a_key_is_open(server):
    assert server.get("/api/keys").status == 200
    assert server.run_of("two-steps")


def test_loopback_with_a_key_has_its_role(home, server):
    key = make_key(home, "viewer")["key"]
    assert server.get("/api/runs", bearer(key)).status == 200
    check_problem(server.get("/api/keys", bearer(key)), 403, "forbidden")
    check_problem(server.get("/api/runs", bearer(key + "x")), 401, "unauthenticated")


def test_the_owner_needs_no_key(home, guarded):
    assert home.local("GET", "/api/keys").status == 200
    status, _, errors = home.cli("run", "two-steps")
    assert status == 0, errors


@pytest.mark.parametrize("path", ["/api/health", "/health/live", "/health/ready"])
def test_what_needs_no_key(guarded, path):
    assert guarded.get(path).status == 200
    assert guarded.get(path, bearer("wrong")).status == 200


# ---- beyond loopback -----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_nobody_listens_beyond_loopback_without_a_key(home, host):
    server = home.begin_serve("--host", host)
    assert not server.listen()
    assert server.wait() == 6
    assert "baton key create" in server.errors()


def test_beyond_loopback_everybody_needs_a_key(home):
    first = home.serve()
    key = make_key(home, "viewer")["key"]
    first.kill()
    server = home.serve("--host", "0.0.0.0", "--hosts", "baton.example, other.example:8080")
    server.address = server.address.replace("0.0.0.0", "127.0.0.1")
    assert server.get("/api/runs").status == 401, "also from this machine"
    assert server.get("/api/runs", bearer(key)).status == 200
    for host, status in [("baton.example", 200), ("BATON.example:1", 200), ("other.example", 200),
                         ("10.1.2.3", 200), ("[fe80::1]:80", 200), ("localhost", 200),
                         ("evil.example", 421), ("baton.example.evil.example", 421), ("", 421)]:
        assert server.get("/api/runs", {**bearer(key), "Host": host}).status == status, host
    for host, origin, status in [
            ("baton.example", "https://baton.example", 200), ("baton.example", "http://baton.example", 200),
            ("baton.example", "https://evil.example", 403), ("10.1.2.3", "https://10.1.2.3", 403)]:
        headers = {**bearer(key), "Host": host, "Origin": origin}
        assert server.get("/api/runs", headers).status == status, (host, origin)


def test_a_key_that_has_expired_opens_no_door(home):
    first = home.serve()
    _, soon = make_expiring_key(home, "admin")
    first.kill()
    while datetime.datetime.now(datetime.timezone.utc) < soon:
        pass
    server = home.begin_serve("--host", "0.0.0.0")
    assert not server.listen()


# ---- the whole table -----------------------------------------------------------------------------


def filled(path, ids):
    path = path.replace("{id}", ids)
    return re.sub(r"\{\w+\}", "nobody", path)


def cells(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            needs = None if operation.get("security") == [] else operation["x-role"]
            yield method.upper(), path, needs


def test_every_route_for_every_role(guarded):
    """All cells: refused for its role exactly where the row says so, for nobody at all the same."""
    document = guarded.get("/openapi.json", bearer(guarded.keys["viewer"])).body
    table = list(cells(document))
    seen = 0
    for method, path, needs in table:
        target = filled(path, new_id())
        for role in [None] + ROLES:
            headers = bearer(guarded.keys[role]) if role else {}
            if path in ("/api/stream",):
                status = stream_status(guarded, target, headers)
            else:
                status = guarded.request(method, target, None, headers).status
            if needs is None:
                assert status not in (401, 403, 405), (method, path, role, status)
            elif role is None:
                assert status == 401, (method, path, role, status)
            elif ROLES.index(role) < ROLES.index(needs):
                assert status == 403, (method, path, role, status)
            elif path.startswith("/api/db/"):
                assert status == 403 or method == "POST" and status == 415, "baton.sock only"
            else:
                assert status not in (401, 403), (method, path, role, status)
            seen += 1
    assert seen == len(table) * 4
    assert {needs for _, _, needs in table} == {None, "viewer", "operator", "admin"}
    open_ones = {path for _, path, needs in table if needs is None}
    assert open_ones == {"/api/health", "/health/live", "/health/ready", "/", "/ui/", "/ui/{path}",
                         "/api/triggers/{name}"}  # POST only; its signature is checked (test_triggers.py)


def stream_status(server, target, headers):
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE_S)
    connection.request("GET", target, None, headers)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("path", ["/ws/events", "/api/ws/events"])
def test_every_socket_for_every_role(guarded, path):
    for role in ROLES:
        Client(guarded, path, bearer(guarded.keys[role])).socket.close()
    with pytest.raises(Refused) as refused:
        Client(guarded, path)
    assert refused.value.status == 401


def test_who_answered_is_the_key(home, guarded):
    home.define(WAITS)
    operator = make_key(home, "operator", label="the night shift")["key"]
    run = guarded.request("POST", "/api/run", {"workflow": "waits", "inputs": {}}, bearer(operator)).body["run_id"]
    viewer = bearer(guarded.keys["viewer"])
    items = []
    while not items:
        items = guarded.get("/api/inbox", viewer).body["items"]
    target = f"/api/inbox/{items[0]['id']}/respond"
    check_problem(guarded.request("POST", target, {"decision": "approve"}, viewer), 403, "forbidden")
    assert guarded.request("POST", target, {"decision": "approve"}, bearer(operator)).status == 200
    events = guarded.get(f"/api/runs/{run}/events", viewer).body["items"]
    assert [e["data"]["by"] for e in events if e["type"] == "human.finished"] == ["the night shift"]


def test_refused_callers_leave_a_line(home, guarded):
    guarded.get("/api/keys", {**bearer(guarded.keys["viewer"]), "X-Request-Id": "no-1"})
    guarded.get("/api/runs", {"X-Request-Id": "no-2"})
    lines = {line["request_id"]: line for line in audit(guarded) if line["request_id"].startswith("no-")}
    assert (lines["no-1"]["status"], lines["no-1"]["role"]) == ("403", "viewer")
    assert lines["no-1"]["caller"] == guarded.keys["viewer"].split("_")[1]
    assert lines["no-1"]["route"] == "GET /api/keys"
    assert (lines["no-2"]["status"], lines["no-2"]["caller"]) == ("401", "nobody")
