// The list of runs.
import type { runtime } from "contract";
import { useRef } from "preact/hooks";
import { ask, nextCursor, Problem } from "../api";
import { useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Badge, Duration, Empty, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Labels } from "../parts/labels";
import { go, goQuery, href, Link, usePlace } from "../route";
import { ownState, shortId } from "../words";

type Summary = runtime.RunSummaryModel;

const PAGE = 50;
const PAGES_LOOKED_THROUGH = 10;
/** The states of a run, as `baton runs` prints them. */
const STATES = ["queued", "running", "paused", "waiting_human", "succeeded", "with_issues", "failed", "cancelled"];
/** In the runtime vocabulary these words stand for other states, too: the server gives all of them. */
const AMBIGUOUS = new Set(["running", "failed"]);
/** The beginning of an id. */
const ID = /^[0-9a-f]{4}[0-9a-f-]{0,32}$/i;

interface List {
	items: Summary[];
	next: string | null;
}

interface Filter {
	status: string;
	/** Part of a workflow's name, or the beginning of an id. */
	search: string;
	label: string;
}

const stateOf = (item: Summary): string => item.state ?? ownState(item.status);

const queryOf = (words: Record<string, string>): string =>
	Object.entries(words).filter(([, value]) => value !== "").map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");

async function readPage(limit: number, cursor: string, { status, label }: Filter, signal: AbortSignal): Promise<List> {
	const { body, headers } = await ask<Summary[]>(`/api/runs?${queryOf({ limit: String(limit), cursor, status, label })}`, { signal });
	return { items: body, next: nextCursor(headers) };
}

const fits = (item: Summary, { status, search }: Filter): boolean =>
	(!AMBIGUOUS.has(status) || stateOf(item) === status) && item.workflow.toLowerCase().includes(search.toLowerCase());

/** One page.  What the server cannot filter reads several pages to fill one, up to a bound. */
async function readFiltered(cursor: string, filter: Filter, signal: AbortSignal): Promise<List> {
	if (filter.search === "" && !AMBIGUOUS.has(filter.status))
		return readPage(PAGE, cursor, filter, signal);
	const found: List = { items: [], next: cursor };
	for (let page = 0; page < PAGES_LOOKED_THROUGH && found.next !== null && found.items.length < PAGE; page++) {
		const more = await readPage(200, found.next, filter, signal);
		found.items.push(...more.items.filter((item) => fits(item, filter)));
		found.next = more.next;
	}
	return found;
}

async function readById(search: string, signal: AbortSignal): Promise<Summary[]> {
	if (!ID.test(search))
		return [];
	const prefix = search.toLowerCase().replaceAll("-", "");
	try {
		return (await ask<Summary[]>(`/api/runs?${queryOf({ id_prefix: prefix })}`, { signal })).body;
	} catch (cause) {
		if (cause instanceof Problem && cause.status === 400)
			return []; // not the beginning of an id after all
		throw cause;
	}
}

/** Runs whose id begins with the text come first, then those of a workflow with the text in its name. */
async function readRuns(cursor: string, filter: Filter, signal: AbortSignal): Promise<List> {
	const [byId, list] = await Promise.all([cursor === "" ? readById(filter.search, signal) : [], readFiltered(cursor, filter, signal)]);
	const first = byId.filter((item) => (filter.status === "" || stateOf(item) === filter.status) && hasLabels(item, filter.label));
	const known = new Set(first.map((item) => item.run_id));
	return { items: [...first, ...list.items.filter((item) => !known.has(item.run_id))], next: list.next };
}

const hasLabels = (item: Summary, label: string): boolean =>
	label.split(",").every((one) => one === "" || Object.entries(item.labels ?? {}).some(([name, value]) => `${name}=${value}` === one));

function Row({ item }: { item: Summary }) {
	return (
		<tr data-run={item.run_id}>
			<td><Badge state={stateOf(item)} /></td>
			<td class="name">
				<Link href={href("runs", item.run_id)} data-row>{item.workflow}</Link> <code class="muted">{shortId(item.run_id)}</code> <Labels labels={item.labels} />
				{item.error !== null && <div class="error clip">{item.error}</div>}
			</td>
			<td class="number">{item.step_count} {item.step_count === 1 ? "step" : "steps"}</td>
			<td><Time at={item.started_at} /></td>
			<td class="number"><Duration of={item} /></td>
		</tr>
	);
}

const CLEAR = { cursor: null };

function Filters({ status, search, label }: Filter) {
	const field = useRef<HTMLInputElement>(null);
	useKeys([{ keys: "/", text: "Search", run: () => field.current?.focus() }]);
	const leave = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => event.key === "Escape" && event.currentTarget.blur();
	return (
		<search class="filters">
			<label>
				Search{" "}
				<input ref={field} type="search" size={28} value={search} placeholder="workflow, or beginning of an id" spellcheck={false}
					onInput={(event) => goQuery({ q: event.currentTarget.value.trim(), ...CLEAR })} onKeyDown={leave} />
			</label>
			<label>
				State{" "}
				<select value={status} onChange={(event) => goQuery({ status: event.currentTarget.value, ...CLEAR }, "push")}>
					<option value="">any</option>
					{STATES.map((state) => <option key={state} value={state}>{state}</option>)}
					{status !== "" && !STATES.includes(status) && <option value={status}>{status}</option>}
				</select>
			</label>
			<label>
				Label{" "}
				<input type="search" value={label} placeholder="name=value" spellcheck={false}
					onChange={(event) => goQuery({ label: event.currentTarget.value.trim(), ...CLEAR }, "push")} onKeyDown={leave} />
			</label>
		</search>
	);
}

function Nothing({ filtered, later }: { filtered: boolean; later: boolean }) {
	if (filtered)
		return (
			<Empty title="No run matches this filter.">
				<p><Link href={href("runs")}>Show all runs</Link></p>
			</Empty>
		);
	if (later)
		return <Empty title="There are no older runs."><p><Link href={href("runs")}>Newest runs</Link></p></Empty>;
	return (
		<Empty title="No run yet.">
			<p><Link class="action" data-tone="main" href={href("runs", "new")}>Start a run</Link> <Link class="action" href={href("start")}>Work on an issue</Link></p>
			<p class="muted">or run <code>baton run workflow.yaml</code> on this machine. The run appears here.</p>
		</Empty>
	);
}

export function RunsPage() {
	const { query } = usePlace();
	const filter: Filter = { status: query.get("status") ?? "", search: query.get("q") ?? "", label: query.get("label") ?? "" };
	const cursor = query.get("cursor") ?? "";
	const filtered = filter.status !== "" || filter.search !== "" || filter.label !== "";
	const kept = { status: filter.status, q: filter.search, label: filter.label };

	const { value, problem } = useLoaded((signal) => readRuns(cursor, filter, signal), [cursor, filter.status, filter.search, filter.label], () => true);
	useKeys([...listKeys("run"), { keys: "n", text: "Start a run", run: () => go(href("runs", "new")) }]);

	return (
		<Page title="Runs" aside={<span class="aside"><Link class="action" href={href("start")}>Work on an issue</Link><Link class="action" data-tone="main" href={href("runs", "new")}>Start a run</Link></span>}>
			<Filters {...filter} />
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Nothing filtered={filtered} later={cursor !== ""} />}
			{value !== undefined && value.items.length > 0 && (
				<table class="runs" aria-label="Runs, newest first">
					<thead>
						<tr>
							<th scope="col">State</th>
							<th scope="col">Workflow</th>
							<th scope="col" class="number">Steps</th>
							<th scope="col">Started</th>
							<th scope="col" class="number">Duration</th>
						</tr>
					</thead>
					<tbody>
						{value.items.map((item) => <Row key={item.run_id} item={item} />)}
					</tbody>
				</table>
			)}
			<nav class="pages" aria-label="Pages">
				{cursor !== "" && <Link href={href("runs", kept)}>Newest</Link>}
				{value?.next != null && <Link href={href("runs", { ...kept, cursor: value.next })}>Older</Link>}
			</nav>
		</Page>
	);
}
