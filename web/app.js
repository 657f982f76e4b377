/* The dashboard: a list of runs and one page per run, both live.
 *
 * The API is the only truth.  Events from a stream are shown as they are, but whatever is a
 * state (status, steps, open questions) is asked for again instead of being folded here: the
 * fold lives in the server, and a second one in the browser would drift from it.
 *
 * Text of a run can come from anywhere, so it enters the page as textContent only. */

const RUNS_SHOWN = 100;
const EVENTS_SHOWN = 5000;      /* rows kept in the page; older ones are dropped and counted */
const INBOX_PAGES = 10;
const REFRESH_AFTER_MS = 250;   /* a burst of events costs one refresh */
const RETRY_AFTER_MS = 3000;
const GONE_AFTER_MS = 10000;
const ANSWER_WITHIN_MS = 15000;

/* ---- elements ------------------------------------------------------------------------------ */

function element(tag, properties = {}, ...children) {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
}

/* A copy of a template, and its slots by name. */
function stamp(id) {
	const root = document.getElementById(id).content.cloneNode(true);
	const slots = {};
	for (const slot of root.querySelectorAll("[data-slot]"))
		slots[slot.dataset.slot] = slot;
	return { root, slots };
}

/* Writes only what changed: a selection or a screen reader's place survives a refresh. */
function write(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

function writeOrHide(node, text, box = node) {
	write(node, text ?? "");
	box.hidden = !text;
}

/* Makes `parent` hold one child per item, in order.  A child lives as long as its key, so focus,
 * half-written comments and opened details survive.  `make(item)` gives {node, update?}. */
function keyed(parent, items, keyOf, make) {
	const old = parent.keyedParts ?? new Map();
	const parts = new Map();
	for (const item of items) {
		const key = keyOf(item);
		const part = old.get(key) ?? make(item);
		part.update?.(item);
		parts.set(key, part);
	}
	for (const [key, part] of old)
		if (!parts.has(key))
			part.node.remove();
	let place = parent.firstChild;
	for (const { node } of parts.values()) {
		if (node === place)
			place = place.nextSibling;
		else
			parent.insertBefore(node, place);
	}
	parent.keyedParts = parts;
}

/* ---- words --------------------------------------------------------------------------------- */

const SHAPES = {
	pending: "○", running: "◐", success: "✓", failed: "✗", skipped: "–", "needs you": "◆",
};

/* Colour never stands alone: every status has a shape and a word, an unknown one its raw word. */
function statusWrite(node, status) {
	if (node.dataset.status === status)
		return;
	node.className = "status";
	node.dataset.status = status;
	const shape = element("span", { ariaHidden: "true", textContent: SHAPES[status] ?? "?" });
	node.replaceChildren(shape, ` ${status}`);
}

function durationText(ms) {
	if (ms < 1000)
		return `${Math.round(ms)} ms`;
	const seconds = Math.floor(ms / 1000);
	const two = (number) => String(number).padStart(2, "0");
	if (seconds < 60)
		return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
	if (seconds < 3600)
		return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`;
	return `${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} m`;
}

/* A duration that is still growing carries its start; tick() counts on. */
function durationWrite(node, item) {
	const growing = item.duration_ms == null && item.started_at && item.completed_at == null;
	if (growing) {
		node.dataset.since = item.started_at;
		elapsedWrite(node);
	} else {
		delete node.dataset.since;
		write(node, item.duration_ms == null ? "" : durationText(item.duration_ms));
	}
}

function elapsedWrite(node) {
	const seconds = Math.floor((Date.now() - Date.parse(node.dataset.since)) / 1000);
	write(node, seconds < 60 ? `${Math.max(0, seconds)} s` : durationText(seconds * 1000));
}

function tick() {
	for (const node of document.querySelectorAll("[data-since]"))
		elapsedWrite(node);
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const calendar = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function timeNode(iso) {
	const at = new Date(iso ?? NaN);
	if (Number.isNaN(at.getTime()))
		return element("span", { textContent: iso ?? "" });
	const today = at.toDateString() === new Date().toDateString();
	const text = today ? clock.format(at) : `${calendar.format(at)}, ${clock.format(at)}`;
	return element("time", { dateTime: iso, title: at.toString(), textContent: text });
}

const shortId = (id) => String(id).slice(0, 8);
const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const runHref = (id) => `#/runs/${id}`;

/* ---- the API ------------------------------------------------------------------------------- */

class Problem extends Error {
	constructor(status, body) {
		super(body.detail ?? body.title ?? `The server answered ${status}.`);
		this.status = status;    /* 0: no answer at all */
	}
}

async function call(path, options = {}) {
	let response;
	try {
		const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
		response = await fetch(path, { cache: "no-store", signal, ...options });
	} catch {
		throw new Problem(0, { detail: "The server does not answer." });
	}
	const body = await response.json().catch(() => null);
	if (!response.ok || body === null)
		throw new Problem(response.status, body ?? {});
	return body;
}

async function inboxRead() {
	const items = [];
	let query = "";
	for (let page = 0; page < INBOX_PAGES; page++) {
		const answer = await call(`/api/inbox${query}`);
		items.push(...answer.items);
		if (answer.cursor === null)
			break;
		query = `?cursor=${encodeURIComponent(answer.cursor)}`;
	}
	return items;
}

function answerSend(item, decision, comment) {
	const body = { decision, revision: item.revision };
	if (comment)
		body.comment = comment;
	return call(`/api/inbox/${item.id}/respond`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(body),
	});
}

/* ---- the connection ------------------------------------------------------------------------ */

const CONNECTION_WORDS = {
	connecting: "connecting", live: "live", reconnecting: "reconnecting",
	gone: "server gone, still trying", over: "run is over", away: "paused",
	none: "",
};

/* Asked at every connection, for the server may have come back as a newer one. */
function versionShow() {
	call("/api/health").then(
		({ version }) => write(document.getElementById("version"), version), () => {});
}

function connectionShow(state) {
	const node = document.getElementById("connection");
	node.dataset.state = state;
	write(node, CONNECTION_WORDS[state]);
}

/* One stream that comes back by itself.  EventSource resumes a broken connection after its last
 * id, but gives up for good on an error status; then a new one is opened, which may repeat events
 * or miss some.  So the owner drops what it has seen and refreshes at every `opened`. */
function streamOpen(url, opened, received) {
	let source, goneTimer, retryTimer;
	function open() {
		source = new EventSource(url);
		source.onopen = () => {
			clearTimeout(goneTimer);
			goneTimer = undefined;
			connectionShow("live");
			versionShow();
			opened();
		};
		source.onmessage = (message) => received(JSON.parse(message.data));
		source.onerror = () => {
			if (goneTimer === undefined) {
				connectionShow("reconnecting");
				goneTimer = setTimeout(connectionShow, GONE_AFTER_MS, "gone");
			}
			if (source.readyState === EventSource.CLOSED)
				retryTimer = setTimeout(open, RETRY_AFTER_MS);
		};
	}
	open();
	return () => {
		source.close();
		clearTimeout(goneTimer);
		clearTimeout(retryTimer);
	};
}

/* Calls `work` soon, never twice at once, and once more when asked meanwhile. */
function coalesced(work) {
	let busy = false, again = false, timer;
	async function run() {
		clearTimeout(timer);
		timer = undefined;
		if (busy) {
			again = true;
			return;
		}
		busy = true;
		try {
			await work();
		} finally {
			busy = false;
		}
		if (again) {
			again = false;
			ask();
		}
	}
	function ask() {
		timer ??= setTimeout(run, REFRESH_AFTER_MS);
	}
	return { ask, now: run };
}

/* ---- questions ----------------------------------------------------------------------------- */

let noticeTimer;

function notice(text) {
	const node = document.getElementById("notice");
	clearTimeout(noticeTimer);
	writeOrHide(node, text);
	noticeTimer = setTimeout(() => writeOrHide(node, ""), GONE_AFTER_MS);
}

/* While an answer is on its way its card is locked; when it cannot be known whether it arrived,
 * sending it again is safe, because the server takes only the first. */
function questionMake(item, page) {
	const { root, slots } = stamp("question");
	write(slots.question, item.question);
	const link = element("a", { href: runHref(item.run_id), textContent: shortId(item.run_id) });
	slots.where.append("run ", link, ` · step ${item.step} · ${item.kind} · asked `,
		timeNode(item.asked_at));
	if (item.inputs != null)
		writeOrHide(slots.inputs, pretty(item.inputs), slots["inputs-box"]);
	async function answer(decision) {
		slots.controls.disabled = true;
		writeOrHide(slots.problem, "");
		try {
			await answerSend(item, decision, slots.comment.value.trim());
			notice(`Recorded: ${decision}. ${item.question}`);
		} catch (problem) {
			if (problem.status !== 409) {
				writeOrHide(slots.problem, problem.message);
				slots.controls.disabled = false;
				slots[decision].focus();
				return;
			}
			notice(`Already answered. ${problem.message}`);
			slots.controls.disabled = false;    /* should it still be open after all */
		}
		/* The card is about to go: without this the keyboard would start at the top. */
		page.heading().focus({ preventScroll: true });
		page.refresh.now();
	}
	slots.approve.addEventListener("click", () => answer("approve"));
	slots.reject.addEventListener("click", () => answer("reject"));
	return { node: root.firstElementChild };
}

function questionsShow(page, items) {
	const { waiting, questions } = page.slots;
	const revision = (item) => `${item.id} ${item.revision}`;
	keyed(questions, items, revision, (item) => questionMake(item, page));
	write(page.slots["waiting-count"], String(items.length));
	waiting.hidden = items.length === 0;
}

/* ---- pages --------------------------------------------------------------------------------- */

/* What both pages share: template, stream and refresh, and giving them back.  `load` reads and
 * shows the state; an answer that arrives after the page was left is dropped by `page.open`. */
function pageOpen(template, url, load, received = () => {}) {
	const { root, slots } = stamp(template);
	const page = { slots, open: true };
	let streamClose = null;
	page.heading = () => document.querySelector("#page h1");
	page.refresh = coalesced(async () => {
		try {
			if (page.open)
				await load(page);
		} catch (problem) {
			if (!(problem instanceof Problem))
				throw problem;
			/* The last event of a run may be the last cause to ask: so asking goes on. */
			if (page.open)
				setTimeout(page.refresh.ask, RETRY_AFTER_MS);
			/* Without an answer the connection's own word says it all. */
			if (page.open && problem.status !== 0)
				notice(problem.message);
		}
	});
	page.over = (state) => {
		page.pause();
		page.ended = true;
		connectionShow(state);
	};
	page.pause = () => {
		streamClose?.();
		streamClose = null;
	};
	page.resume = () => {
		if (page.ended || streamClose)
			return;
		connectionShow("connecting");
		streamClose = streamOpen(url, page.refresh.ask, (event) => {
			page.refresh.ask();
			received(page, event);
		});
	};
	page.close = () => {
		page.open = false;
		page.pause();
	};
	document.getElementById("page").replaceChildren(root);
	page.refresh.now();
	page.resume();
	return page;
}

function titleShow(text, waiting) {
	document.title = `${waiting ? `(${waiting}) ` : ""}${text} · Baton`;
}

function runRowMake({ run }) {
	const status = element("span");
	const link = element("a", { href: runHref(run.run_id), textContent: run.workflow });
	const id = element("code", { className: "muted", textContent: shortId(run.run_id) });
	const error = element("div", { className: "error clip" });
	const duration = element("td", { className: "number" });
	const steps = element("td", { className: "number wide" });
	const node = element("tr", {},
		element("td", {}, status), element("td", { className: "name" }, link, " ", id, error),
		element("td", {}, timeNode(run.started_at)), duration, steps);
	function update({ run, status: word }) {
		statusWrite(status, word);
		writeOrHide(error, run.error);
		durationWrite(duration, run);
		write(steps, String(run.step_count));
	}
	return { node, update };
}

async function runsLoad(page) {
	const [runs, items] = await Promise.all([call(`/api/runs?limit=${RUNS_SHOWN}`), inboxRead()]);
	if (!page.open)
		return;
	const asked = new Set(items.map((item) => item.run_id));
	const rows = runs.map((run) => ({
		run, status: run.status === "running" && asked.has(run.run_id) ? "needs you" : run.status,
	})).sort((a, b) => Date.parse(b.run.started_at) - Date.parse(a.run.started_at) || 0);
	questionsShow(page, items);
	keyed(page.slots.rows, rows, (row) => row.run.run_id, runRowMake);
	page.slots.empty.hidden = runs.length > 0;
	page.slots.table.hidden = runs.length === 0;
	page.slots.more.hidden = runs.length < RUNS_SHOWN;
	titleShow("Runs", items.length);
}

function stepRowMake({ step }) {
	const status = element("span");
	const agent = element("td");
	const duration = element("td", { className: "number" });
	const error = element("div", { className: "error" });
	const label = `Output of ${step.step_id}`;
	const output = element("pre", { tabIndex: 0, role: "group", ariaLabel: label });
	const box = element("details", {}, element("summary", { textContent: "output" }), output);
	const node = element("tr", {},
		element("td", {}, status), element("td", { className: "name", textContent: step.step_id }),
		agent, duration, element("td", {}, error, box));
	function update({ step, status: word }) {
		statusWrite(status, word);
		write(agent, step.agent ?? "");
		durationWrite(duration, step);
		writeOrHide(error, step.error);
		writeOrHide(output, step.output == null ? "" : pretty(step.output), box);
	}
	return { node, update };
}

function runShow(page, run, items) {
	const { slots } = page;
	const asked = new Set(items.map((item) => item.step));
	const waiting = run.status === "running" && items.length > 0;
	write(slots.title, run.workflow);
	statusWrite(slots.status, waiting ? "needs you" : run.status);
	write(slots.id, run.run_id);
	if (!slots.started.firstChild)
		slots.started.append(timeNode(run.started_at));
	durationWrite(slots.duration, run);
	write(slots.state, run.metadata?.state ?? "");
	writeOrHide(slots.error, run.error);
	questionsShow(page, items);
	const rows = run.steps.map((step) => ({
		step, status: waiting && asked.has(step.step_id) ? "needs you" : step.status,
	}));
	keyed(slots.steps, rows, (row) => row.step.step_id, stepRowMake);
	const outputs = run.outputs && Object.keys(run.outputs).length ? pretty(run.outputs) : "";
	writeOrHide(slots.outputs, outputs, slots["outputs-section"]);
	titleShow(`${run.workflow} ${shortId(run.run_id)}`, items.length);
}

function runPage(id) {
	const path = `/api/runs/${id}`;
	return pageOpen("run-page", `${path}/stream`, async (page) => {
		try {
			const [run, items] = await Promise.all([call(path), inboxRead()]);
			if (page.open)
				runShow(page, run, items.filter((item) => item.run_id === run.run_id));
		} catch (problem) {
			if (problem.status !== 404 || !page.open)
				throw problem;
			writeOrHide(page.slots.error, `There is no run ${id} here.`);
			page.slots.body.hidden = true;
			titleShow("No such run", 0);
			page.over("none");
		}
	}, eventReceived);
}

/* ---- events of a run ----------------------------------------------------------------------- */

const TELLING = ["name", "step", "tool", "attempt", "kind", "question", "due_at", "decision",
	"outcome", "by", "comment"];

/* One line from whichever telling fields a body has: a new type of event reads well unasked. */
function eventSummary(data) {
	const parts = TELLING.filter((name) => data?.[name] != null)
		.map((name) => (name === "attempt" ? `attempt ${data[name]}` : String(data[name])));
	if (data?.fault)
		parts.push(`${data.fault.code}: ${data.fault.text}`);
	return parts.join(" · ");
}

function eventMake(event) {
	const details = element("details", {}, element("summary", {},
		element("span", { className: "seq", textContent: event.seq }), " ",
		timeNode(event.at), " ",
		element("strong", { textContent: event.type }), " ",
		element("span", { className: "summary", textContent: eventSummary(event.data) })));
	/* The body is only laid out when somebody looks: most never are. */
	details.addEventListener("toggle", () => {
		details.append(element("pre", { textContent: pretty(event.data) }));
	}, { once: true });
	return element("li", {}, details);
}

/* Sequence numbers only grow, so "not newer than the last" means "seen".  Rows wait for one
 * flush: a replay of thousands then costs one layout.  Who reads the end stays at the end; who
 * scrolled up stays where they are. */
function eventReceived(page, event) {
	if (event.seq <= (page.lastSeq ?? 0))
		return;
	page.lastSeq = event.seq;
	page.eventTotal = (page.eventTotal ?? 0) + 1;
	page.fresh ??= [];
	if (page.fresh.push(event) === 1)
		setTimeout(eventsFlush, 50, page);
	if (event.type === "run.finished")
		page.over("over");
}

function eventsFlush(page) {
	const { events, dropped } = page.slots;
	const following = events.scrollHeight - events.scrollTop - events.clientHeight < 8;
	events.append(...page.fresh.splice(0).slice(-EVENTS_SHOWN).map(eventMake));
	while (events.childElementCount > EVENTS_SHOWN)
		events.firstElementChild.remove();
	const lost = page.eventTotal - events.childElementCount;
	writeOrHide(dropped, lost ? `The first ${lost} events are not shown.` : "");
	write(page.slots["event-count"], String(page.eventTotal));
	if (following)
		events.scrollTop = events.scrollHeight;
}

/* ---- routes -------------------------------------------------------------------------------- */

let current = null;

function route() {
	const leaving = current;
	leaving?.close();
	const [, id] = /^#\/runs\/([\w-]+)$/.exec(location.hash) ?? [];
	current = id ? runPage(id) : pageOpen("runs-page", "/api/stream", runsLoad);
	/* A route is a new page to a screen reader: begin at its heading, but not at the first load. */
	if (leaving)
		current.heading().focus();
}

/* A browser opens six connections to one server; hidden tabs give theirs back, or the seventh
 * tab would never load.  The stream of a shown tab catches up by itself. */
document.addEventListener("visibilitychange", () => {
	if (!document.hidden)
		current.resume();
	else if (!current.ended) {
		current.pause();
		connectionShow("away");
	}
});
addEventListener("hashchange", route);
setInterval(tick, 1000);
route();
