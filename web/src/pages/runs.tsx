// The list of runs.
import type { runtime } from "contract";
import { useRef } from "preact/hooks";
import { ask, nextCursor } from "../api";
import { useCell } from "../cell";
import { useLoaded } from "../data";
import { inbox } from "../inbox";
import { listKeys, useKeys } from "../keys";
import { Badge, Duration, Empty, Loading, Page, ProblemText, Time } from "../parts/basic";
import { go, goQuery, href, Link, usePlace } from "../route";
import { ownState, shortId } from "../words";

type Summary = runtime.RunSummaryModel;

const PAGE = 50;
const PAGES_LOOKED_THROUGH = 10;
const WAITING = "waiting_human";
const STATES = ["running", WAITING, "succeeded", "failed"];

interface List {
	items: Summary[];
	next: string | null;
}

async function readPage(limit: number, cursor: string, status: string, signal: AbortSignal): Promise<List> {
	const words = [`limit=${limit}`];
	if (cursor !== "")
		words.push(`cursor=${encodeURIComponent(cursor)}`);
	if (status !== "")
		words.push(`status=${encodeURIComponent(status)}`);
	const { body, headers } = await ask<Summary[]>(`/api/runs?${words.join("&")}`, { signal });
	return { items: body, next: nextCursor(headers) };
}

/** One page.  A filter that the server does not support reads several pages to fill one, up to a bound. */
async function readRuns(cursor: string, status: string, fits: ((item: Summary) => boolean) | null, signal: AbortSignal): Promise<List> {
	if (fits === null)
		return readPage(PAGE, cursor, status, signal);
	const found: List = { items: [], next: cursor };
	for (let page = 0; page < PAGES_LOOKED_THROUGH && found.next !== null && found.items.length < PAGE; page++) {
		const more = await readPage(200, found.next, status, signal);
		found.items.push(...more.items.filter(fits));
		found.next = more.next;
	}
	return found;
}

function Row({ item, state }: { item: Summary; state: string }) {
	return (
		<tr data-run={item.run_id}>
			<td><Badge state={state} /></td>
			<td class="name">
				<Link href={href("runs", item.run_id)} data-row>{item.workflow}</Link> <code class="muted">{shortId(item.run_id)}</code>
				{item.error !== null && <div class="error clip">{item.error}</div>}
			</td>
			<td class="number">{item.step_count} {item.step_count === 1 ? "step" : "steps"} done</td>
			<td><Time at={item.started_at} /></td>
			<td class="number"><Duration of={item} /></td>
		</tr>
	);
}

function Filters({ status, name }: { status: string; name: string }) {
	const field = useRef<HTMLInputElement>(null);
	useKeys([{ keys: "/", text: "Filter by name", run: () => field.current?.focus() }]);
	const clear = { cursor: null };
	return (
		<search class="filters">
			<label>
				State{" "}
				<select value={status} onChange={(event) => goQuery({ status: event.currentTarget.value, ...clear }, "push")}>
					<option value="">any</option>
					{STATES.map((state) => <option key={state} value={state}>{state}</option>)}
					{status !== "" && !STATES.includes(status) && <option value={status}>{status}</option>}
				</select>
			</label>
			<label>
				Workflow{" "}
				<input
					ref={field}
					type="search"
					value={name}
					placeholder="part of its name"
					onInput={(event) => goQuery({ name: event.currentTarget.value, ...clear })}
					onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
				/>
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
			<p><Link class="action" data-tone="main" href={href("runs", "new")}>Start a run</Link></p>
			<p class="muted">or run <code>baton run workflow.yaml</code> on this machine. The run appears here.</p>
		</Empty>
	);
}

export function RunsPage() {
	const { query } = usePlace();
	const status = query.get("status") ?? "";
	const name = query.get("name") ?? "";
	const cursor = query.get("cursor") ?? "";
	const filtered = status !== "" || name !== "";
	const waiting = new Set(inbox.open(useCell(inbox.cell)).map((item) => item.run_id));
	const stateOf = (item: Summary) => (item.status === "running" && waiting.has(item.run_id) ? WAITING : ownState(item.status));
	const fits = (item: Summary) =>
		(status !== "running" || stateOf(item) === status) && item.workflow.toLowerCase().includes(name.toLowerCase());
	const looksThrough = name !== "" || status === "running";

	const { value, problem } = useLoaded((signal) => readRuns(cursor, status, looksThrough ? fits : null, signal), [cursor, status, name], () => true);
	useKeys([...listKeys("run"), { keys: "n", text: "Start a run", run: () => go(href("runs", "new")) }]);

	return (
		<Page title="Runs" aside={<Link class="action" data-tone="main" href={href("runs", "new")}>Start a run</Link>}>
			<Filters status={status} name={name} />
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Nothing filtered={filtered} later={cursor !== ""} />}
			{value !== undefined && value.items.length > 0 && (
				<table class="runs" aria-label="Runs, newest first">
					<thead>
						<tr>
							<th scope="col">State</th>
							<th scope="col">Workflow</th>
							<th scope="col" class="number">Progress</th>
							<th scope="col">Started</th>
							<th scope="col" class="number">Duration</th>
						</tr>
					</thead>
					<tbody>
						{value.items.map((item) => <Row key={item.run_id} item={item} state={stateOf(item)} />)}
					</tbody>
				</table>
			)}
			<nav class="pages" aria-label="Pages">
				{cursor !== "" && <Link href={href("runs", { status, name })}>Newest</Link>}
				{value?.next != null && <Link href={href("runs", { status, name, cursor: value.next })}>Older</Link>}
			</nav>
		</Page>
	);
}
