// The usage page: what agents' turns used and cost, by day, model, agent, workflow and run.
import type { run } from "contract";
import { get } from "../api";
import { useLoaded } from "../data";
import { Loading, Page, ProblemText } from "../parts/basic";
import { href, Link, usePlace, withQuery } from "../route";
import { Budgets } from "./budgets";

type Usage = run.Usage;
type Row = run.UsageRow;

const RANGES = [["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["365", "1 year"]] as const;
const DAY_MS = 86_400_000;
const CHART = { width: 720, height: 160, left: 64, bottom: 20, top: 8 };

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Cents are enough for a dollar, not for a turn. */
function dollars(amount: number): string {
	const size = Math.abs(amount);
	return `$${amount.toFixed(size === 0 ? 0 : size < 1 ? 6 : 2)}`;
}

interface Sum {
	cost_usd: number | null;
	unpriced_turns: number;
}

const costText = ({ cost_usd, unpriced_turns }: Sum): string =>
	cost_usd === null ? "unknown" : `${dollars(cost_usd)}${unpriced_turns > 0 ? " + unknown" : ""}`;

const count = (number: number): string => number.toLocaleString("en-US");

/** Every day of the range, also those without turns. */
function daysOf(usage: Usage): { day: string; row: Row | undefined }[] {
	const rows = new Map((usage.days ?? []).map((row) => [row.day, row]));
	const days = [];
	for (let time = Date.parse(usage.since); time <= Date.parse(usage.until); time += DAY_MS)
		days.push({ day: dayOf(time), row: rows.get(dayOf(time)) });
	return days;
}

/** One bar per day: its cost, or its tokens if no cost is known. */
function DayChart({ usage }: { usage: Usage }) {
	const days = daysOf(usage);
	const priced = days.some(({ row }) => (row?.cost_usd ?? 0) > 0);
	const tokens = (row: Row | undefined): number => (row ? row.input_tokens + row.output_tokens : 0);
	const value = (row: Row | undefined): number => (priced ? row?.cost_usd ?? 0 : tokens(row));
	const text = (amount: number): string => (priced ? dollars(amount) : count(Math.round(amount)));
	const most = Math.max(...days.map(({ row }) => value(row)), Number.MIN_VALUE);
	const step = (CHART.width - CHART.left) / days.length;
	const room = CHART.height - CHART.top - CHART.bottom;
	const base = CHART.height - CHART.bottom;
	return (
		<svg class="chart" viewBox={`0 0 ${CHART.width} ${CHART.height}`} role="img" aria-label={`${priced ? "Cost" : "Tokens"} by day, from ${usage.since} to ${usage.until}`}>
			<line x1={CHART.left} x2={CHART.width} y1={CHART.top} y2={CHART.top} class="chart-line" />
			<line x1={CHART.left} x2={CHART.width} y1={base} y2={base} class="chart-line" />
			<text x={CHART.left - 6} y={CHART.top + 4} text-anchor="end">{text(most)}</text>
			<text x={CHART.left - 6} y={base} text-anchor="end">0</text>
			{days.map(({ day, row }, i) => (
				<rect key={day} class="chart-bar" data-day={day} x={CHART.left + i * step + step * 0.1} width={step * 0.8} y={base - (value(row) / most) * room} height={(value(row) / most) * room}>
					<title>{day}: {row ? `${costText(row)}, ${count(row.turns)} turns, ${count(tokens(row))} tokens` : "no turns"}</title>
				</rect>
			))}
			<text x={CHART.left} y={CHART.height - 4}>{usage.since}</text>
			<text x={CHART.width} y={CHART.height - 4} text-anchor="end">{usage.until}</text>
		</svg>
	);
}

/** The share of the most expensive row, as a bar. */
function Share({ row, most }: { row: Row; most: number }) {
	const share = most > 0 ? (row.cost_usd ?? 0) / most : 0;
	return <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="chart-bar" width={share * 100} height="8" /></svg>;
}

function RowName({ row }: { row: Row }) {
	if (row.run_id !== undefined)
		return <Link href={href("runs", row.run_id)}>{row.workflow} <code>{row.run_id.slice(0, 8)}</code></Link>;
	if (row.model !== undefined)
		return <>{row.model || "–"} <span class="muted">{row.provider}</span></>;
	return <>{row.agent ?? row.workflow ?? row.day}</>;
}

function Rows({ title, rows }: { title: string; rows: Row[] | undefined }) {
	if (rows === undefined || rows.length === 0)
		return null;
	const most = Math.max(...rows.map((row) => row.cost_usd ?? 0));
	const id = `usage-${title.toLowerCase()}`;
	return (
		<section aria-labelledby={id}>
			<h2 id={id}>By {title.toLowerCase()}</h2>
			<table aria-labelledby={id} data-usage={title.toLowerCase()}>
				<thead><tr><th scope="col">{title}</th><th scope="col" class="number">Cost</th><td /><th scope="col" class="number">Turns</th><th scope="col" class="number">Input</th><th scope="col" class="number">Cached</th><th scope="col" class="number">Output</th></tr></thead>
				<tbody>
					{rows.map((row) => (
						<tr key={row.run_id ?? `${row.provider}/${row.model}/${row.agent}/${row.workflow}`}>
							<td class="name"><RowName row={row} /></td>
							<td class="number">{costText(row)}</td>
							<td><Share row={row} most={most} /></td>
							<td class="number">{count(row.turns)}</td>
							<td class="number">{count(row.input_tokens)}</td>
							<td class="number">{count(row.cache_read_tokens)}</td>
							<td class="number">{count(row.output_tokens)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

function Figures({ total }: { total: run.UsageTotal }) {
	const figures: [string, string][] = [
		["Cost", costText(total)], ["Saved by caches", dollars(total.saved_usd)], ["Turns", count(total.turns)],
		["Input tokens", count(total.input_tokens)], ["of them cached", count(total.cache_read_tokens)], ["Output tokens", count(total.output_tokens)],
	];
	return <dl class="figures">{figures.map(([label, value]) => <div class="figure" key={label}><dt>{label}</dt><dd>{value}</dd></div>)}</dl>;
}

export function UsagePage() {
	const chosen = usePlace().query.get("days") ?? "30";
	const days = RANGES.some(([range]) => range === chosen) ? Number(chosen) : 30;
	const since = dayOf(Date.now() - (days - 1) * DAY_MS);
	const loaded = useLoaded((signal) => get<Usage>(`/api/usage?since=${since}`, signal), [since], (event) => event.event_type === "stage_completed" || event.event_type === "task_failed");
	const usage = loaded.value;
	return (
		<Page title="Usage">
			<nav class="tabs" aria-label="Range">
				{RANGES.map(([range, text]) => <Link key={range} href={withQuery({ days: range === "30" ? null : range })} aria-current={Number(range) === days ? "page" : undefined}>{text}</Link>)}
			</nav>
			<ProblemText problem={loaded.problem} />
			{usage === undefined && loaded.problem === undefined && <Loading />}
			{usage && usage.total.turns === 0 && <p class="muted">No turns with reported usage in these days.</p>}
			{usage && usage.total.turns > 0 && (
				<>
					<Figures total={usage.total} />
					{usage.total.unpriced_turns > 0 && <p class="muted">Turns without a known cost: {count(usage.total.unpriced_turns)}. Add the prices of their models to prices.yaml in the data folder.</p>}
					<DayChart usage={usage} />
					<Rows title="Model" rows={usage.models} />
					<Rows title="Agent" rows={usage.agents} />
					<Rows title="Workflow" rows={usage.workflows} />
					<Rows title="Run" rows={usage.runs} />
				</>
			)}
			<Budgets />
		</Page>
	);
}
