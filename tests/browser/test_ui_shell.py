"""The frame: keys, narrow and dark, what the page may do, what it weighs."""
import gzip
import re

import pytest
from baton import ROOT

WEB = ROOT / "web"
PAGES = ["/ui/", "/ui/runs/new", "/ui/start", "/ui/inbox", "/ui/settings/profiles", "/ui/settings/keys", "/ui/system"]
BUDGET_BYTES = 60 * 1024
CHUNK_BYTES = {"editor": 20 * 1024, "pages": 20 * 1024}  # loaded when a workflow is edited, or when a pipeline is shown
TEXT_EDITOR_BYTES = 150 * 1024  # loaded when a workflow or a plan is edited


def test_keys(server, browse):
    server.start("two-steps", wait=True)
    server.start("two-steps", wait=True)
    page = browse("/ui/").live()
    page.until("document.querySelectorAll('tr[data-run]').length === 2")
    focused = "document.activeElement.closest('tr')?.dataset.run"
    first, second = page.values("tr[data-run]", "data-run")
    page.key("j")
    assert page.evaluate(focused) == first
    page.key("j")
    assert page.evaluate(focused) == second
    page.key("k")
    assert page.evaluate(focused) == first
    page.evaluate("document.activeElement.click()")
    page.wait_text("h1", "two-steps")
    page.until("document.querySelectorAll('.event').length === 6")
    page.key("j")
    page.wait('aside[aria-label="Event 1"]')
    page.key("g", "i")
    page.wait_text("h1", "Inbox")
    page.key("g", "y")
    page.wait_text("h1", "System")
    page.key("g", "n")
    page.wait_text("h1", "Start a run")
    page.key("g", "r")
    page.wait_text("h1", "Runs")
    page.getByLabel("Search").press("g")  # in a field a letter is a letter
    assert page.getByLabel("Search").inputValue() == "g"
    page.getByLabel("Search").blur()
    page.key("?")
    page.wait_text("dialog", "Go to Inbox")
    page.key("Escape")
    page.wait("dialog", "detached")


def test_single_keys_can_be_switched_off(server, browse):
    page = browse("/ui/").live()
    page.key("?")
    page.getByLabel("Enable single-key shortcuts").uncheck()
    page.key("Escape")
    page.wait("dialog", "detached")
    page.key("g", "i")
    page.key("?")  # this one always works, or there would be no way back
    page.wait("dialog")
    assert page.css("h1").innerText() == "Runs"


def test_the_focus_follows_to_the_new_page(server, browse):
    page = browse("/ui/").live()
    page.css(".places").getByRole("link", {"name": "System"}).click()
    page.wait_text("h1", "System")
    page.until("document.activeElement.tagName === 'H1'")


def test_a_deep_link_can_be_loaded_again(browse):
    page = browse("/ui/").live()
    for path in PAGES:
        page.open(path)
        heading = page.css("h1").innerText()
        page.reload()
        page.wait_text("h1", heading)


# What is too wide for the screen, for the message of a failing test.
WIDE = """() => [...document.querySelectorAll("*")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth)
    .map((element) => `${element.outerHTML.slice(0, 100)} ${element.getBoundingClientRect().right}`)"""


def test_on_a_phone_nothing_is_cut_off(server, browse):
    run = server.start("two-steps", wait=True).body["run_id"]
    page = browse("/ui/", viewport={"width": 320, "height": 640}, hasTouch=True).live()
    for path in [*PAGES, f"/ui/runs/{run}?event=2"]:
        page.open(path).live()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, page.evaluate(WIDE))
    bar = page.evaluate("document.querySelector('.places').getBoundingClientRect().bottom === innerHeight")
    assert bar  # within the thumb's reach


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_accessible(server, browse, scheme):
    run = server.start("two-steps", wait=True).body["run_id"]
    page = browse("/ui/", colorScheme=scheme).live()
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}[scheme]
    complaints = {}
    for path in [*PAGES, f"/ui/runs/{run}?event=2"]:
        page.open(path).live()
        complaints[path] = page.axe()
    assert complaints == {path: [] for path in complaints}


def test_text_cannot_become_markup(browse):
    """The policy holds even if a script tried."""
    page = browse("/ui/").live()
    page.expected.append("This document requires 'TrustedHTML'")
    tried = """() => {
        try { document.body.innerHTML = "<b>x</b>"; } catch (error) { return error.name; }
        return "written";
    }"""
    assert page.evaluate(tried) == "TypeError"


# ---- the sources -------------------------------------------------------------------------------


def sources():
    return [path for path in (WEB / "src").rglob("*") if path.suffix in (".ts", ".tsx")]


def test_no_source_writes_markup():
    banned = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\(|new Function|createContextualFragment")
    found = [f"{path.name}: {line.strip()}" for path in sources() for line in path.read_text().splitlines()
             if banned.search(line)]
    assert len(sources()) > 20 and found == []


def test_what_is_loaded_is_small(server):
    page = server.get("/ui/").body.decode()
    files = ["/ui/", *re.findall(r'(?:src|href)="(/ui/[^"]+)"', page)]
    assert len(files) == 3
    script = server.get(next(path for path in files if path.endswith(".js"))).body.decode()
    files += [f"/ui/{name}" for name in set(re.findall(r'from"\./([\w-]+\.js)"', script))]
    sizes = {}
    for path in files:
        answer = server.get(path, {"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(answer.body) == server.get(path).body
        sizes[path] = len(answer.body)
    assert sum(sizes.values()) <= BUDGET_BYTES, sizes
    later = {name.rsplit("-", 1)[0]: name for name in re.findall(r'import\("\./([\w-]+\.js)"\)', script)}
    assert set(later) == set(CHUNK_BYTES)
    for name, path in later.items():
        assert len(server.get(f"/ui/{path}", {"Accept-Encoding": "gzip"}).body) <= CHUNK_BYTES[name], name
        [editor] = set(re.findall(r'import\("\./([\w-]+\.js)"\)', server.get(f"/ui/{path}").body.decode()))
        assert len(server.get(f"/ui/{editor}", {"Accept-Encoding": "gzip"}).body) <= TEXT_EDITOR_BYTES
