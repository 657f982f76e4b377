"""The dashboard's page: served whole by the program itself, allowed to load nothing else."""
import re

import pytest

FILES = {"/ui/": "text/html", "/ui/index.html": "text/html", "/ui/app.js": "text/javascript",
         "/ui/app.css": "text/css"}


def test_the_root_leads_to_the_page(server):
    answer = server.get("/")
    assert answer.status in (302, 303, 307, 308)
    assert answer.headers["Location"] == "/ui/"


@pytest.mark.parametrize("path", FILES)
def test_its_files(server, path):
    answer = server.get(path)
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith(FILES[path])
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.body


def test_its_policy(server):
    policy = dict(part.strip().split(" ", 1) for part in
                  server.get("/ui/").headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in str(policy)


@pytest.mark.parametrize("path", FILES)
def test_nothing_is_fetched_from_elsewhere(server, path):
    text = server.get(path).body.decode()
    outside = [link for link in re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s'\"]*", text)
               if not link.startswith("http://www.w3.org/")]
    assert outside == []


def test_no_script_or_style_is_inline(server):
    page = server.get("/ui/").body.decode()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", page) == []


def test_every_file_it_names_is_there(server):
    page = server.get("/ui/").body.decode()
    named = re.findall(r'(?:src|href)="(/[^"#]*)"', page)
    assert {"/ui/app.js", "/ui/app.css"} <= set(named)
    assert [path for path in named if server.get(path).status != 200] == []
