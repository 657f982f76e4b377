"""The log of a step in the browser: colors, live, in order, through a killed server, never markup."""
import json
import subprocess

from baton import PATIENCE_S, ROOT, new_id
from browser import HERE, node

COLORS = r"""
name: colors
steps:
  - name: test
    tool: shell
    inputs:
      command: |
        printf '\033[32mPASS\033[0m one\n\033[1;31mFAIL\033[0m two\n10%%\r100%%\n'
        printf '<img src=x onerror="window.hacked=1">\033]0;title\007\n'
        sleep 0.1; echo 'assertion failed' >&2; exit 1
"""

GATED = """
name: gated
steps:
  - name: work
    tool: shell
    inputs: {command: "echo one; echo two >&2; echo up > told; read -r w < gate; echo $w; echo up > told; read -r w < gate; echo $w"}
"""

ATTEMPTS = """
name: attempts
steps:
  - name: work
    tool: shell
    retry: {max_retries: 3, base_delay: 0}
    inputs: {command: "echo x >> count; n=$(wc -l < count); echo attempt $n; test $n = 3"}
"""


def lines(page):
    return page.texts(".log-pane .log-line")


def until_lines(page, count):
    page.until(f"document.querySelectorAll('.log-pane .log-line').length === {count}")


def begin_gated(home, server):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    return run, told, gate


def test_the_text_of_a_terminal():
    done = subprocess.run([node(), HERE / "ansi.mjs", ROOT / "web"], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 9


def test_a_failed_step_shows_what_it_wrote_in_color_and_as_text(home, server, browse):
    home.define(COLORS)
    run = server.start("colors", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=test").live()
    until_lines(page, 5)
    assert [line.strip() for line in lines(page)] == ["PASS one", "FAIL two", "100%", '<img src=x onerror="window.hacked=1">', "assertion failed"]
    assert page.values(".log-line", "data-stream") == ["stdout"] * 4 + ["stderr"]
    assert page.values(".log-line span", "class") == ["ink-2", "bold ink-1"]
    inks = page.evaluate("() => [...document.querySelectorAll('.log-line span')].map((span) => getComputedStyle(span).color)")
    assert inks[0] != inks[1]
    assert page.evaluate("[window.hacked === undefined, document.querySelectorAll('main img, .drawer img').length]") == [True, 0]
    assert page.axe() == []


def test_it_is_readable_in_the_dark_too(home, server, browse):
    home.define(COLORS)
    run = server.start("colors", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=test", colorScheme="dark").live()
    until_lines(page, 5)
    assert page.axe() == []


def test_a_running_step_is_followed(home, server, browse):
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}?step=work").live()
    until_lines(page, 2)
    page.wait('.log-pane[data-open="true"]')
    gate.send("three\n")
    told.await_line()
    until_lines(page, 3)
    gate.send("four\n")
    until_lines(page, 4)
    page.wait('.log-pane[data-open="false"]')
    assert [line.strip() for line in lines(page)] == ["one", "two", "three", "four"]
    assert page.still_the_same_document()


def test_a_killed_server_repeats_no_line(home, server, browse, restart):
    run, told, gate = begin_gated(home, server)
    page = browse(f"/ui/runs/{run}?step=work").live()
    until_lines(page, 2)
    restart(server, while_away=lambda: page.wait('[data-banner="lost"]'))
    told.await_line()  # the step is made again, as attempt 2
    page.wait('.log-pane[data-log="2"]')
    until_lines(page, 2)
    gate.send("three\n")
    told.await_line()
    gate.send("four\n")
    until_lines(page, 4)
    page.wait('.log-pane[data-open="false"]')
    assert [line.strip() for line in lines(page)] == ["one", "two", "three", "four"]
    page.getByLabel("Attempt", {"exact": True}).selectOption("1")
    until_lines(page, 2)  # what was seen before the server died is still there


def test_every_attempt_can_be_read(home, server, browse):
    home.define(ATTEMPTS)
    run = server.start("attempts", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=work").live()
    page.wait_text('.log-pane[data-log="3"]', "attempt 3")
    page.getByLabel("Attempt", {"exact": True}).selectOption("1")
    page.wait_text('.log-pane[data-log="1"]', "attempt 1")


def test_a_long_log_says_what_was_left_out_and_shows_its_end(home, server, browse):
    home.define("name: long\nsteps:\n  - {name: work, tool: shell, inputs: {command: 'seq 1 200000; exit 1'}}\n")
    run = server.start("long", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=work").live()
    page.wait_text(".log-line:last-child", "200000")
    assert page.css(".log-line").count() == 2000
    page.until("document.querySelector('.log-pane').scrollTop > 0")  # at its end
    page.getByRole("button", {"name": "earlier lines"}).click()
    page.wait_text(".log-omitted", "left out")
    assert page.css(".log-line").first().innerText().strip() == "1"


def test_a_step_without_a_process_has_no_log(home, server, browse):
    run = server.start("two-steps", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=greet").live()
    page.wait('.drawer [data-member="text"]')
    assert page.css(".log-pane").count() == 0
