"""What agents' turns used and cost, as a person sees it."""
import datetime
import pathlib

DEFINITION = """
name: {name}
agents:
  {agent}: {{driver: script, model: {model}, options: {{replies: [{{text: "x", usage: {usage}}}]}}}}
steps:
  - {{name: a, agent: {agent}, inputs: {{prompt: p}}}}
"""


def finish(home, server, name, agent, model, usage):
    run = server.run_of(home.define(DEFINITION.format(name=name, agent=agent, model=model, usage=usage)))
    server.finish(run)
    return run


def figures(page):
    return dict(zip(page.texts(".figure dt"), page.texts(".figure dd")))


def test_usage_with_charts(home, server, browse):
    page = browse("/ui/usage").live()
    page.wait_text("p", "No turns with reported usage in these days.")
    run = finish(home, server, "notes", "ada", "claude-sonnet-4", "{input_tokens: 400000, output_tokens: 100000, cache_read_tokens: 100000, provider: anthropic}")
    finish(home, server, "review", "bob", "gpt-4o", "{input_tokens: 200000, output_tokens: 20000, provider: openai}")
    page.wait_text('table[data-usage="model"]', "gpt-4o")
    shown = figures(page)
    assert (shown["Cost"], shown["Saved by caches"], shown["Turns"], shown["Input tokens"]) == ("$3.13", "$0.270000", "2", "600,000")
    assert page.texts('table[data-usage="model"] tbody td:nth-child(2)') == ["$2.43", "$0.700000"]
    assert page.texts('table[data-usage="agent"] tbody td:first-child') == ["ada", "bob"]
    heights = [float(height) for height in page.values(".chart rect", "height")]
    assert len(heights) == 30 and max(heights) == heights[-1] > 0 and heights[0] == 0
    assert page.values(".chart rect", "data-day")[-1] == datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    assert page.axe() == []
    page.link("7 days").click()
    page.until("document.querySelectorAll('.chart rect').length === 7")
    page.css('table[data-usage="run"] a').first().click()
    page.wait_text("h1", "notes")
    assert run in page.evaluate("location.pathname")


def test_an_unknown_cost_is_not_shown_as_nothing(home, server, browse):
    finish(home, server, "plain", "eve", "m", "{input_tokens: 10}")
    page = browse("/ui/runs").live()
    page.key("g", "u")
    page.wait_text("h1", "Usage")
    page.wait_text("p", "Turns without a known cost: 1.")
    assert figures(page)["Cost"] == "unknown"
    assert page.texts('table[data-usage="model"] tbody td:nth-child(2)') == ["unknown"]


def test_budgets_are_shown_and_changed(server, browse):
    page = browse("/ui/usage").live()
    page.wait_text("p", "No budgets: turns are not limited.")
    page.getByLabel("Limits").selectOption("agent:")
    page.getByLabel("Name").fill("ada")
    page.getByLabel("Dollars").fill("2.5")
    page.button("Set budget").click()
    page.wait_text("table[data-budgets]", "agent:ada")
    assert page.texts("table[data-budgets] tbody td:nth-child(2)") == ["$2.50"]
    assert page.texts("table[data-budgets] tbody td:nth-child(4)") == ["$0.00"]
    assert page.axe() == []
    page.button("Change agent:ada").click()
    page.getByLabel("Limit of agent:ada in dollars").fill("4")
    page.button("Save agent:ada").click()
    page.wait_text("table[data-budgets]", "$4.00")
    assert server.get("/api/budgets/agent:ada").body["limit_usd"] == 4
    page.button("Change agent:ada").click()
    page.button("Delete agent:ada").click()
    page.wait_text("p", "No budgets: turns are not limited.")
    assert server.get("/api/budgets").body["items"] == []


def test_the_bar_of_a_budget_shows_spent_money(home, browse):
    """A turn of a thousand tokens at $10 a million is a cent: four percent of the limit."""
    pathlib.Path(home.data, "prices.yaml").write_text("prices: [{model: m, input: 0, output: 10}]\n")
    server = home.serve(port=home.port())
    assert server.request("PUT", "/api/budgets/agent:ada", {"limit_usd": 0.25}).status == 201
    finish(home, server, "notes", "ada", "m", "{output_tokens: 1000}")
    page = browse("/ui/usage", server=server).live()
    page.wait_text("table[data-budgets]", "agent:ada")
    page.until("document.querySelector('table[data-budgets] rect.chart-bar')?.getAttribute('width') === '4'")
    assert page.values("table[data-budgets] rect.chart-reserved", "width") == ["4"]
    assert page.values("table[data-budgets] svg", "aria-label") == ["agent:ada: 4 % of the limit"]
    assert page.texts("table[data-budgets] tbody td:nth-child(4)") == ["$0.010000"]
    assert page.axe() == []
