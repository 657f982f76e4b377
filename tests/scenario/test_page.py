"""The dashboard's files: served whole by the program itself, allowed to load nothing else, never
asked for twice in vain.  What a browser makes of them is in tests/browser."""
import gzip
import re

import pytest

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}


def named(server):
    """What index.html asks for."""
    page = server.get("/ui/").body.decode()
    return re.findall(r'(?:src|href)="(/ui/[^"#]*)"', page)


def files(server):
    return ["/ui/", "/ui/index.html", *named(server)]


def kind(path):
    return "html" if path.endswith("/") else path.rsplit(".", 1)[1]


def test_the_root_leads_to_the_page(server):
    answer = server.get("/")
    assert answer.status in (302, 303, 307, 308)
    assert answer.headers["Location"] == "/ui/"


def test_its_files(server):
    assert sorted(kind(path) for path in named(server)) == ["css", "js"]
    for path in files(server):
        answer = server.get(path)
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith(TYPES[kind(path)])
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.body
        head = server.request("HEAD", path)
        assert (head.status, head.body, head.headers["ETag"]) == (200, b"", answer.headers["ETag"])


def test_its_policy(server):
    for path in [*files(server), "/ui/runs/new"]:
        policy = dict((part.strip() + " ").split(" ", 1) for part in
                      server.get(path).headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"].strip() == "'none'"
        assert policy["frame-ancestors"].strip() == "'none'"
        assert policy["script-src"].strip() == policy["connect-src"].strip() == "'self'"
        assert policy["require-trusted-types-for"].strip() == "'script'"
        assert policy["trusted-types"].strip() == "'none'"
        assert "unsafe" not in str(policy)


def test_nothing_is_fetched_from_elsewhere(server):
    for path in files(server):
        text = server.get(path).body.decode()
        outside = [link for link in re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s'\"]*", text)
                   if not link.startswith("http://www.w3.org/")]
        assert outside == []


def test_no_script_or_style_is_inline(server):
    page = server.get("/ui/").body.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []


# ---- pages -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/ui/runs", "/ui/runs/new", "/ui/runs/0190/x", "/ui/settings/profiles/a.b",
                                  "/ui/runs?status=failed&name=x", "/ui/?a=1&a=2"])
def test_every_page_is_the_same_document(server, path):
    answer = server.get(path)
    assert answer.status == 200
    assert answer.body == server.get("/ui/").body
    assert answer.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/ui/app-OLDHASH0.js", "/ui/style.css", "/ui/x.map"])
def test_a_file_that_is_not_there_is_no_page(server, path):
    answer = server.get(path)
    assert (answer.status, answer.body["code"]) == (404, "not_found")


# ---- caches ----------------------------------------------------------------------------------


def test_what_a_client_has_is_not_sent_again(server):
    for path in files(server):
        for accepted in ({}, {"Accept-Encoding": "gzip"}):
            tag = server.get(path, accepted).headers["ETag"]
            again = server.get(path, {"If-None-Match": f'"other", {tag}', **accepted})
            assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
            assert server.get(path, {"If-None-Match": '"other"', **accepted}).status == 200


def test_names_with_a_hash_are_kept_for_ever(server):
    for path in named(server):
        assert re.search(r"-[A-Z0-9]{8}\.(js|css)$", path)
        assert "immutable" in server.get(path).headers["Cache-Control"]
    assert server.get("/ui/").headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("accepted, compressed", [
    ("gzip", True), ("br, GZIP;q=0.5", True), ("deflate,gzip", True), ("gzip;q=0", False), ("identity", False),
    ("", False), ("x-gzip-like", False)])
def test_compressed_where_it_is_taken(server, accepted, compressed):
    for path in files(server):
        plain = server.get(path)
        answer = server.get(path, {"Accept-Encoding": accepted})
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert (answer.headers.get("Content-Encoding") == "gzip") == compressed
        assert (gzip.decompress(answer.body) if compressed else answer.body) == plain.body
        assert (answer.headers["ETag"] == plain.headers["ETag"]) == (not compressed)
