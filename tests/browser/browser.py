"""Chromium, moved by driver.mjs, as Python objects: a Driver, and a Page for each tab."""
import json
import pathlib
import select
import shutil
import subprocess

from baton import PATIENCE_S, WAIT_S

HERE = pathlib.Path(__file__).resolve().parent

# What a browser says of itself when a request is refused or nobody answers.
EXPECTED = ("Failed to load resource", "WebSocket connection to")


def node():
    """The machine's own, or the one that tools/install-deps has put beside the tests."""
    own = sorted(HERE.glob(".node/node_modules/node-linux-*/bin/node"))
    return str(own[0]) if own else shutil.which("node")


class BrowserError(Exception):
    """The browser could not do what it was told."""


class Driver:
    def __init__(self):
        chromium = shutil.which("chromium")
        assert chromium, "chromium is not installed: run tools/install-deps"
        self.process = subprocess.Popen([node(), HERE / "driver.mjs", chromium, str(WAIT_S * 1000)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, cwd=HERE)

    def tell(self, command, **rest):
        self.process.stdin.write(json.dumps({"command": command, **rest}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
        assert ready, f"the browser does not answer to {command} {rest}"
        line = self.process.stdout.readline()
        assert line, "the browser has gone"
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=PATIENCE_S)
        finally:
            if self.process.poll() is None:
                self.process.kill()


# Methods of Playwright that only say where; whatever else is called is done at once.
WHERE = {"getByRole", "getByText", "getByLabel", "locator", "first", "last", "nth", "filter"}


class Chain:
    """page.getByRole("button", {"name": "Start"}).click(), carried out in the browser."""

    def __init__(self, page, steps=()):
        self._page, self._steps = page, list(steps)

    def __getattr__(self, method):
        def call(*given):
            steps = [*self._steps, [method, *given]]
            if method in WHERE:
                return Chain(self._page, steps)
            return self._page.driver.tell("chain", page=self._page.number, steps=steps)
        return call


class Page:
    """One tab."""

    def __init__(self, driver, server, options):
        self.driver, self.server, self.expected = driver, server, list(EXPECTED)
        self.number = driver.tell("open", options=options, origin=f"http://{server.address}")

    def __getattr__(self, method):
        return getattr(Chain(self), method)

    def open(self, path):
        self.goto(path)
        self.locator("h1").waitFor()
        self.evaluate("window.loadedOnce = true")
        return self

    def css(self, selector):
        return self.locator(selector)

    def button(self, name, exact=True):
        return self.getByRole("button", {"name": name, "exact": exact})

    def link(self, name):
        return self.getByRole("link", {"name": name, "exact": True})

    def wait(self, selector, state="visible"):
        self.waitForSelector(selector, {"state": state})

    def wait_text(self, selector, text):
        """Until an element that the selector finds has the text in it."""
        self.locator(selector).filter({"hasText": text}).first().waitFor()

    def remember(self, selector):
        """From now on it is noted whether there ever is such an element, however short it stays."""
        self.evaluate("""(selector) => {
            const look = () => { if (document.querySelector(selector)) (window.seen ??= {})[selector] = true; };
            new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
        }""", selector)

    def until_seen(self, selector):
        """Until there has been such an element since remember(selector)."""
        self.until(f"window.seen?.[{json.dumps(selector)}]")

    def until(self, expression):
        """Until a JavaScript expression is true."""
        self.driver.tell("until", page=self.number, text=expression)

    def evaluate(self, text, given=None):
        """What a JavaScript expression or function gives."""
        return self.driver.tell("evaluate", page=self.number, text=text, given=given)

    def texts(self, selector):
        return self.locator(selector).allInnerTexts()

    def values(self, selector, attribute):
        return self.evaluate("([s, a]) => [...document.querySelectorAll(s)].map((e) => e.getAttribute(a))",
                             [selector, attribute])

    def still_the_same_document(self):
        return self.evaluate("window.loadedOnce === true")

    def key(self, *keys):
        """Pressed wherever the focus is."""
        for key in keys:
            self.driver.tell("key", page=self.number, key=key)

    def live(self):
        """The WebSocket is open."""
        self.wait('[data-connection="live"]')
        return self

    def seqs(self):
        """Numbers of the events in the document, in its order."""
        return [int(number) for number in self.values(".event", "data-seq")]

    def before(self, pattern, method, path, body=None, headers=None):
        """When the page first asks for what fits the pattern, somebody else is faster with this."""
        self.driver.tell("intercept", page=self.number, pattern=pattern,
                         before={"method": method, "url": f"http://{self.server.address}{path}", "body": body,
                                 "headers": headers or {}})

    def answer(self, pattern, json=None, status=200, text=None):
        """Requests that fit the pattern are answered with this, and not by the server."""
        self.driver.tell("fulfill", page=self.number, pattern=pattern, json=json, text=text, status=status)

    def abort(self, pattern):
        """Requests that fit the pattern fail as if nobody answered; unroute(pattern) ends that."""
        self.driver.tell("abort", page=self.number, pattern=pattern)

    def axe(self):
        return self.driver.tell("axe", page=self.number)

    def report(self):
        return self.driver.tell("report", page=self.number)

    def close(self):
        report = self.report()
        self.driver.tell("close", page=self.number)
        assert [error for error in report["errors"] if not error.startswith(tuple(self.expected))] == []
        ours = (f"http://{self.server.address}/", "data:")
        asked = [request.split(" ", 1)[1] for request in report["requests"]]
        assert [url for url in asked if not url.startswith(ours)] == []
        assert [url for url in report["sockets"] if not url.startswith(f"ws://{self.server.address}/ws/events")] == []
