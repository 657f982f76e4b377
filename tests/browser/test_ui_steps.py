"""The steps of a run: failures first, one step in full beside the page, bars over time."""
import json
import pathlib
import re
from urllib.parse import urlsplit, parse_qs

from baton import new_id

MIXED = """
name: mixed
steps:
  - {name: first, tool: shell, inputs: {command: "printf 'one\\ntwo\\n'"}}
  - name: each
    depends_on: [first]
    map:
      over: [good, bad, good]
      steps:
        - {name: work, tool: shell, inputs: {command: "test ${item} = good || { echo broken >&2; exit 7; }"}}
  - name: flaky
    tool: shell
    depends_on: [first]
    retry: {max_retries: 1, base_delay: 0}
    inputs: {command: "echo trouble >&2; exit 3"}
  - {name: odd, tool: echo, depends_on: [first], when: "1 == 2", inputs: {text: never}}
  - {name: last, tool: echo, depends_on: [each, flaky], inputs: {text: never}}
"""

GATED = """
name: gated
steps:
  - {name: first, tool: echo, inputs: {text: one}}
  - {name: hold, tool: shell, depends_on: [first], inputs: {command: "echo up > told; read -r word < gate; echo $word"}}
"""

PARENT = """
name: parent
steps:
  - {name: child, workflow: two-steps, inputs: {who: child}}
"""


def mixed(home, server):
    home.define(MIXED)
    return server.start("mixed", wait=True).body["run_id"]


def rows(page):
    return page.values("tr[data-step]", "data-step")


def drawer(page, path):
    page.wait(f'.drawer[data-drawer="{path}"] [data-attempt]')


def focused(page):
    return page.evaluate("document.activeElement.dataset.opens ?? document.activeElement.id")


# ---- the list ----------------------------------------------------------------------------------


def test_failures_come_first_and_do_not_count_as_done(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait("[data-failure]")
    assert page.values("[data-failure]", "data-failure") == ["each[1]/work", "flaky"]
    assert "exit status 7: broken" in page.css('[data-failure="each[1]/work"]').innerText()
    assert rows(page) == ["each", "each[1]/work", "each[0]/work", "each[2]/work", "flaky", "first", "odd", "last"]
    # first, two items and the step whose condition does not hold are done; last was left out.
    assert "4 of 7 steps, 2 failed" in re.sub(r"\s+", " ", page.css(".facts").innerText())
    assert page.css("progress").getAttribute("value") == "4"


def test_the_failed_ones_only(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.getByLabel("Failed only (2)").check()
    page.until("document.querySelectorAll('tr[data-step]').length === 2")
    assert rows(page) == ["each[1]/work", "flaky"]
    assert parse_qs(urlsplit(page.url()).query) == {"failed": ["1"]}
    page.reload()
    page.until("document.querySelectorAll('tr[data-step]').length === 2")
    page.getByLabel("Failed only (2)").uncheck()
    page.until("document.querySelectorAll('tr[data-step]').length === 8")


LENIENT = """
name: lenient
steps:
  - {name: a, tool: echo, inputs: {n: 1}}
  - {name: b, tool: shell, depends_on: [a], inputs: {command: "echo ${steps.a.outputs.m}"}}
outputs: {x: {from: {inner: "${steps.a.outputs.k}"}}}
"""


def test_warnings_above_the_graph_and_in_the_drawer(home, server, browse):
    home.define(LENIENT)
    run = server.start("lenient", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-warnings="2"]')
    shown = page.css("[data-warnings]").innerText()
    assert "b: steps.a.outputs.m is missing and was read as null" in shown
    assert "outputs: steps.a.outputs.k is missing" in shown
    page.css("[data-warnings] a").click()
    drawer(page, "b")
    assert "coalesce(steps.a.outputs.m, …)" in page.css('.drawer [data-step-warnings="1"]').innerText()


# ---- one step ----------------------------------------------------------------------------------


def test_a_step_in_full(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.css('tr[data-step="flaky"] a').click()
    drawer(page, "flaky")
    told = server.get(f"/api/runs/{run}/steps/flaky/details").body
    assert told["summary"]["error"] in page.css(".drawer [data-error]").innerText()
    assert "ToolError · tool_failed" in page.css(".drawer [data-failure-code]").innerText()
    assert page.css('.drawer [data-member="command"]').innerText().splitlines()[-1] == told["inputs"]["command"]
    assert page.values(".drawer [data-attempt]", "data-attempt") == ["1", "2"]
    assert page.values(".drawer [data-attempt] .badge", "data-state") == ["failed", "failed"]
    assert parse_qs(urlsplit(page.url()).query) == {"step": ["flaky"]}
    page.css('tr[data-step="first"] a').click()
    drawer(page, "first")
    assert "one\ntwo" in page.css('.drawer [data-member="stdout"]').innerText()
    assert page.css('.drawer [data-member="exit_code"]').innerText().split() == ["exit_code", "0"]
    assert json.loads(page.css('[aria-label="The step as JSON"]').textContent())["run_id"] == run
    assert page.axe() == []


def test_the_address_of_a_step_opens_it(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}?step=each[1]/work")
    drawer(page, "each[1]/work")
    assert "broken" in page.css(".drawer [data-error]").innerText()
    page.getByLabel("Activation").selectOption("each[2]/work")
    drawer(page, "each[2]/work")
    page.open(f"/ui/runs/{run}?step=nobody")
    page.wait_text(".drawer .problem", "the run has no step nobody")


def test_a_step_is_opened_from_the_graph_and_the_timeline(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.css('g[data-node="each/work"]').click()
    drawer(page, "each[1]/work")  # of three activations the one that failed
    page.wait('g[data-node="each/work"][data-chosen="true"]')
    page.css('[data-bar="first"] a').click()
    drawer(page, "first")
    page.goBack()
    drawer(page, "each[1]/work")
    page.css('[data-failure="flaky"] a').click()
    drawer(page, "flaky")


def test_the_box_of_the_open_step_is_in_view(home, server, browse):
    steps = "\n".join(f"  - {{name: s{number}, tool: echo, depends_on: [{'' if number == 0 else f's{number - 1}'}], inputs: {{text: x}}}}"
                      for number in range(30))
    home.define(f"name: tall\nsteps:\n{steps}\n")
    run = server.start("tall", wait=True).body["run_id"]
    page = browse(f"/ui/runs/{run}?step=s29").live()
    drawer(page, "s29")
    page.until("""(() => {
        const box = document.querySelector('g[data-node="s29"] rect').getBoundingClientRect();
        const view = document.querySelector('.graph').getBoundingClientRect();
        return box.top >= view.top && box.bottom <= view.bottom;
    })()""")
    assert page.evaluate("scrollY") == 0


def test_by_keyboard_alone(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.css('a[data-opens="first"]').focus()
    page.key("Enter")
    drawer(page, "first")
    page.until("document.activeElement.id === 'step-title'")
    page.key("]")
    drawer(page, "each")
    page.key("[")
    drawer(page, "first")
    page.key("Escape")
    page.wait(".drawer", "detached")
    assert focused(page) == "first"  # where it was opened


def test_the_step_is_live(home, server, browse):
    run = new_id()
    told, gate = home.fifo(run, "told"), home.fifo(run, "gate")
    home.define(GATED)
    assert server.start("gated", run_id=run).status == 202
    told.await_line()
    page = browse(f"/ui/runs/{run}?step=hold").live()
    page.wait('.drawer .headline [data-state="running"]')
    gate.send("hello\n")
    page.wait('.drawer .headline [data-state="succeeded"]')
    page.wait_text('.drawer [data-member="stdout"]', "hello")
    page.wait('.drawer [data-attempt] [data-state="succeeded"]')
    assert page.still_the_same_document()


def test_from_a_run_to_its_sub_run_and_back(home, server, browse):
    home.define(PARENT)
    run = server.start("parent", wait=True).body["run_id"]
    child = server.get(f"/api/runs/{run}/steps").body["steps"][0]["subrun"]
    page = browse(f"/ui/runs/{run}?step=child").live()
    page.css(f'.drawer a[href="/ui/runs/{child}"]').click()
    page.wait_text("h1", "two-steps")
    assert urlsplit(page.url()).path == f"/ui/runs/{child}"
    page.css("[data-parent]").click()
    page.wait_text("h1", "parent")
    page.css(f'tr[data-step="child"] a[href="/ui/runs/{child}"]').click()
    page.wait_text("h1", "two-steps")


def test_on_a_phone(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}?step=flaky", viewport={"width": 320, "height": 640}, hasTouch=True).live()
    drawer(page, "flaky")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelector('.drawer').scrollWidth <= innerWidth")
    assert page.axe() == []
    page.button("Close").click()
    page.wait(".drawer", "detached")


def test_nothing_is_pushed_away_while_the_page_loads(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}?step=flaky").live()
    drawer(page, "flaky")
    page.wait(".event")
    moved = page.evaluate("""() => new Promise((done) => {
        let sum = 0;
        const observer = new PerformanceObserver((list) => {
            for (const entry of list.getEntries())
                sum += entry.hadRecentInput ? 0 : entry.value;
        });
        observer.observe({ type: 'layout-shift', buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => done(sum)));
    })""")
    assert moved < 0.1


# ---- the timeline ------------------------------------------------------------------------------


def test_the_timeline_has_a_scale_and_the_colors_of_states(home, server, browse):
    run = mixed(home, server)
    page = browse(f"/ui/runs/{run}").live()
    page.wait('[data-bar="first"]')  # nobody had to open it
    bars = dict(zip(page.values("[data-bar]", "data-bar"), page.values("[data-bar] rect", "data-state")))
    steps = {step["step"]: step["state"] for step in server.get(f"/api/runs/{run}/steps").body["steps"] if "started_at" in step}
    assert bars == steps
    ticks = [int(tick) for tick in page.values("[data-tick]", "data-tick")]
    assert ticks[0] == 0 and 2 <= len(ticks) <= 7
    assert len({after - before for before, after in zip(ticks, ticks[1:])}) == 1
    # However long the run took, and wherever its last tick is: no label is outside of the scale.
    assert page.evaluate("""() => {
        const scale = document.querySelector(".scale").getBoundingClientRect();
        const labels = [...document.querySelectorAll("[data-tick]")];
        return labels.every((label) => label.getBoundingClientRect().right <= scale.right + 0.5);
    }""")
    colors = page.evaluate("""() => ['succeeded', 'failed'].map((state) =>
        getComputedStyle(document.querySelector(`.timeline rect[data-state="${state}"]`)).fill)""")
    assert colors[0] != colors[1]


def test_the_prompt_files_of_a_step(home, server, browse):
    """As they were when the run began, with what they include and what they read."""
    folder = pathlib.Path(home.data, "prompts/parts")
    folder.mkdir(parents=True)
    (folder / "head.md").write_text("For {{ inputs.who }}.")
    (folder.parent / "review.md").write_text("{% include 'parts/head.md' %} Read {{ diff }} and {{ steps.one.outputs.word }}.")
    home.define("""name: asks
inputs: {who: {default: Ada}}
agents: {ada: {driver: script, system_template: "You are {{ inputs.who }}.", options: {replies: [{text: ok}]}}}
steps:
  - {name: one, tool: echo, inputs: {word: hi}}
  - {name: ask, agent: ada, depends_on: [one], prompt_file: review.md, inputs: {diff: "+ ${inputs.who}"}}
""")
    run = server.start("asks", wait=True).body["run_id"]
    (folder / "head.md").write_text("changed")
    details = server.get(f"/api/runs/{run}/steps/ask/details").body
    assert [(one["part"], [file["name"] for file in one["files"]]) for one in details["prompts"]] == [
        ("system", ["system_template"]), ("prompt", ["prompts/review.md", "prompts/parts/head.md"])]
    page = browse(f"/ui/runs/{run}?step=ask")
    page.wait('[data-prompt="prompt"]')
    assert page.values('[data-prompt="prompt"] [data-prompt-file]', "data-prompt-file") == ["prompts/review.md", "prompts/parts/head.md"]
    page.css('[data-prompt-file="prompts/parts/head.md"] summary').click()
    assert page.css('[data-prompt-file="prompts/parts/head.md"] pre').innerText() == "For {{ inputs.who }}."
    assert "+ ${inputs.who}" in page.css('[data-prompt="prompt"] [data-member="diff"]').innerText()
    page.css('[data-prompt="system"] summary').click()
    assert page.css('[data-prompt="system"] pre').innerText() == "You are {{ inputs.who }}."
    assert page.axe() == []
    assert "prompts" not in server.get(f"/api/runs/{run}/steps/one/details").body
