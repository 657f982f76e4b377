// The system page: health of the components, and metrics.
import type { run } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, getText, type Problem } from "../api";
import { useCell } from "../cell";
import { useLoaded } from "../data";
import { connection } from "../live";
import { family, perSecond, readMetrics, type Sample } from "../metrics";
import { Badge, Loading, Page, ProblemText } from "../parts/basic";
import { bytesText, durationText } from "../words";

const EVERY_MS = 2000;

type Health = run.Health;

/** With an unhealthy component the status is 503, but the body is still a health report. */
const readHealth = async (signal: AbortSignal): Promise<Health> =>
	(await ask<Health>("/health", { signal, also: [503] })).body;

const isHealth = (body: Health | null): body is Health => Array.isArray(body?.components);

function metricText(value: unknown, name: string): string {
	if (typeof value === "number" && name.endsWith("_bytes"))
		return bytesText(value);
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}

const metricsText = (metrics: { [key: string]: unknown }): string =>
	Object.entries(metrics).map(([name, value]) => `${name.replaceAll("_", " ")} ${metricText(value, name)}`).join(" · ");

/** The last two samples, taken while the page is visible. */
function useSamples(): { before: Sample | null; now: Sample | null; problem: Problem | undefined } {
	const samples = useRef<{ before: Sample | null; now: Sample | null }>({ before: null, now: null });
	const loaded = useLoaded(async (signal) => {
		const sample = readMetrics(await getText("/metrics", signal), performance.now());
		samples.current = { before: samples.current.now, now: sample };
		return samples.current;
	}, []);
	useEffect(() => {
		const timer = setInterval(() => {
			if (!document.hidden)
				void loaded.reload();
		}, EVERY_MS);
		return () => clearInterval(timer);
	}, []);
	return { before: loaded.value?.before ?? null, now: loaded.value?.now ?? null, problem: loaded.problem };
}

function Figure({ label, value }: { label: string; value: string }) {
	return <div class="figure"><dt>{label}</dt><dd>{value}</dd></div>;
}

const whole = (number: number | undefined): string => (number === undefined ? "–" : String(number));
const rate = (number: number | null): string => (number === null ? "–" : number.toFixed(number < 10 ? 1 : 0));

/** The lag of the event loop, from its health component. */
function lagOf(health: Health | undefined): string {
	const late = health?.components.find((component) => component.component === "loop")?.metrics["late_ms"];
	return typeof late === "number" ? durationText(late) : "–";
}

/** The most important metrics. */
function Figures({ before, now, health }: { before: Sample | null; now: Sample; health: Health | undefined }) {
	const of = (name: string) => now.values.get(name);
	const wal = of("baton_wal_bytes");
	return (
		<dl class="figures">
			<Figure label="Active runs" value={whole(of("baton_runs_live"))} />
			{family(now, "baton_runs").map(([labels, value]) => (
				<Figure key={labels} label={`Runs ${labels.replace(/^state="|"$/g, "")}`} value={String(value)} />
			))}
			<Figure label="Running tool calls" value={whole(of("baton_tools_open"))} />
			<Figure label="Writer queue" value={whole(of("baton_writer_waiting"))} />
			<Figure label="Commits per second" value={rate(perSecond(before, now, "baton_commits_total"))} />
			<Figure label="Events per second" value={rate(perSecond(before, now, "baton_events_total"))} />
			<Figure label="Events since the start" value={whole(of("baton_events_total"))} />
			{wal !== undefined && <Figure label="Write-ahead log" value={bytesText(wal)} />}
			<Figure label="Loop lag" value={lagOf(health)} />
			<Figure label="Open requests" value={whole(of("baton_http_exchanges_open"))} />
		</dl>
	);
}

function AllFigures({ now }: { now: Sample }) {
	const [open, setOpen] = useState(false);
	return (
		<details onToggle={(event) => setOpen(event.currentTarget.open)}>
			<summary>All metrics</summary>
			{open && (
				<table aria-label="All metrics">
					<tbody>
						{[...now.values].map(([name, value]) => <tr key={name}><td><code>{name}</code></td><td class="number">{value}</td></tr>)}
					</tbody>
				</table>
			)}
		</details>
	);
}

export function SystemPage() {
	const loaded = useLoaded(readHealth, []);
	useEffect(() => {
		const timer = setInterval(() => {
			if (!document.hidden)
				void loaded.reload();
		}, EVERY_MS);
		return () => clearInterval(timer);
	}, []);
	const samples = useSamples();
	const { kind } = useCell(connection);
	const health = loaded.value && isHealth(loaded.value) ? loaded.value : undefined;
	return (
		<Page title="System" aside={health && kind === "live" && <Badge state={health.status} />}>
			<ProblemText problem={loaded.problem} />
			{loaded.value === undefined && loaded.problem === undefined && <Loading />}
			{health && (
				<>
					<dl class="facts">
						<div><dt>Version</dt><dd>{health.version}</dd></div>
						<div><dt>Uptime</dt><dd>{durationText(health.uptime_seconds * 1000)}</dd></div>
						<div><dt>Connection</dt><dd>{kind}</dd></div>
					</dl>
					<section aria-labelledby="components-title">
						<h2 id="components-title">Components</h2>
						<table aria-labelledby="components-title">
							<thead><tr><th scope="col">State</th><th scope="col">Component</th><th scope="col">Measurements</th></tr></thead>
							<tbody>
								{health.components.map((component) => (
									<tr key={component.component} data-component={component.component}>
										<td><Badge state={component.status} /></td>
										<td class="name">{component.component}</td>
										<td>{metricsText(component.metrics)}</td>
									</tr>
								))}
							</tbody>
						</table>
					</section>
				</>
			)}
			<section aria-labelledby="figures-title">
				<h2 id="figures-title">Metrics</h2>
				<ProblemText problem={samples.problem} />
				{samples.now && <Figures before={samples.before} now={samples.now} health={health} />}
				{samples.now && <AllFigures now={samples.now} />}
			</section>
		</Page>
	);
}
