"""Keys over HTTP: made once, listed without their secret, taken back at once."""
import json
import re

import pytest

KEY = re.compile(r"baton_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_[0-9a-f]{64}")


def make(server, label="ci", role="operator", headers=None, **more):
    return server.request("POST", "/api/keys", {"label": label, "role": role, **more}, headers)


def bearer(key):
    return {"Authorization": f"Bearer {key}"}


def listed(server):
    return server.get("/api/keys").body["items"]


def test_a_key_is_told_once(home):
    server = home.serve()
    made = make(server)
    assert made.status == 201, made
    key = made.body["key"]
    assert KEY.fullmatch(key)
    assert made.headers["Location"] == f"/api/keys/{made.body['id']}"
    assert made.headers["Cache-Control"] == "no-store"
    shown = {name: value for name, value in made.body.items() if name != "key"}
    assert set(shown) == {"id", "label", "role", "created_at", "expires_at", "created_by"}
    assert listed(server) == [shown]
    # Its secret is nowhere: not in the lists, not in the stream, not on the disk.
    secret = key.rsplit("_", 1)[1]
    assert secret not in json.dumps(server.get("/api/events").body)
    server.kill()
    with home.database() as database:
        text = "\n".join(database.iterdump())
    assert made.body["id"] in text and secret not in text


def test_the_same_request_again_makes_no_second_key(server):
    headers = {"Idempotency-Key": "one"}
    first = make(server, headers=headers)
    again = make(server, headers=headers)
    assert again.status == 200
    assert again.body == {name: value for name, value in first.body.items() if name != "key"}
    assert len(listed(server)) == 1
    other = make(server, "another", headers=headers)
    assert (other.status, other.body["code"]) == (409, "conflict")
    assert server.request("DELETE", f"/api/keys/{first.body['id']}").status == 204
    gone = make(server, headers=headers)
    assert (gone.status, gone.body["code"]) == (409, "conflict")
    assert listed(server) == []


def test_pages(server):
    ids = sorted(make(server, f"k{n}").body["id"] for n in range(5))
    seen, cursor = [], ""
    while cursor is not None:
        page = server.get(f"/api/keys?limit=2&cursor={cursor}").body
        seen += [item["id"] for item in page["items"]]
        cursor = page["cursor"]
    assert seen == ids


@pytest.mark.parametrize("body, pointer", [
    ({"role": "viewer"}, "/label"), ({"label": "x"}, "/role"), ({"label": "x", "role": "root"}, "/role"),
    ({"label": "", "role": "viewer"}, "/label"), ({"label": "x", "role": "viewer", "rol": 1}, "/rol"),
    ({"label": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
    ({"label": "x", "role": "viewer", "expires": "soon"}, "/expires")])
def test_bad_requests(server, body, pointer):
    answer = server.request("POST", "/api/keys", body)
    assert (answer.status, answer.body["code"]) == (422, "invalid")
    assert [place["pointer"] for place in answer.body["details"]] == [pointer], answer.body
    assert listed(server) == []


def test_it_may_expire(server):
    made = make(server, expires="2999-01-01T00:00:00Z")
    assert made.body["expires_at"].startswith("2999-01-01T00:00:00")
    assert make(server).body["expires_at"] is None


def test_a_key_opens_and_is_taken_back_at_once(home):
    """The key works with the answer that made it, not after the one that took it back, and through a
    restart in between."""
    server = home.serve("--require-key")
    assert server.get("/api/runs").status == 401
    made = home.local("POST", "/api/keys", {"label": "ci", "role": "viewer"})
    assert made.status == 201, made
    key = bearer(made.body["key"])
    assert server.get("/api/runs", key).status == 200
    server.kill()
    server = home.serve("--require-key")
    assert server.get("/api/runs", key).status == 200
    assert server.get("/api/runs", bearer(made.body["key"][:-1] + "x")).status == 401
    # Its role holds: a viewer neither makes keys nor sees them.
    assert server.request("POST", "/api/keys", {"label": "x", "role": "admin"}, key).status == 403
    assert server.get("/api/keys", key).status == 403
    assert home.local("DELETE", f"/api/keys/{made.body['id']}").status == 204
    assert server.get("/api/runs", key).status == 401
    assert home.local("DELETE", f"/api/keys/{made.body['id']}").status == 404
    server.kill()
    server = home.serve("--require-key")
    assert server.get("/api/runs", key).status == 401


def test_who_made_it_is_known(home):
    server = home.serve()
    admin = make(server, "the admin", "admin").body["key"]
    made = make(server, "by key", "viewer", bearer(admin))
    assert made.status == 201, made
    assert made.body["created_by"] == "the admin"
    events = server.get("/api/events?type=document.changed").body["items"]
    assert [event["data"]["by"] for event in events] == ["http", "the admin"]


def test_a_long_label_of_long_characters(server):
    label = "€" * 128
    admin = make(server, label, "admin").body["key"]
    made = make(server, "next", "viewer", bearer(admin))
    assert made.status == 201
    assert label.startswith(made.body["created_by"]) and made.body["created_by"]
    assert [item["label"] for item in listed(server) if item["id"] == made.body["id"]] == ["next"]
    assert make(server, label + "€").status == 422
