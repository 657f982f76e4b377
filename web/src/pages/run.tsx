// The page of one run: state, open questions, graph, steps, time, result, events.
import type { run, runtime } from "contract";
import { useMemo } from "preact/hooks";
import { get } from "../api";
import { useCell } from "../cell";
import { useLoaded } from "../data";
import { inbox } from "../inbox";
import type { LiveEvent } from "../live";
import { Badge, Duration, Json, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Question } from "../parts/question";
import { href, Link } from "../route";
import { useRunStream } from "../run_stream";
import { ownState } from "../words";
import { Commands } from "./run_commands";
import { EventsSection, useRunLog } from "./run_events";
import { GraphSection } from "./run_graph";
import { Steps } from "./run_steps";
import { TimeSection } from "./run_time";

type Run = runtime.WorkflowResultModel;
const ENDED = new Set(["success", "failed", "skipped", "cancelled"]);

/** Attempts of each step: a call that a crash interrupted is restarted. */
function attemptsOf(events: LiveEvent[]): Map<string, number> {
	const attempts = new Map<string, number>();
	for (const { data } of events)
		if (data?.["event"] === "tool.restarted") {
			const step = String(data["step"]);
			attempts.set(step, (attempts.get(step) ?? 1) + 1);
		}
	return attempts;
}

/** Baton's own word for the run's state. */
const stateOf = (run: Run): string => ownState(String(run.metadata["state"] ?? run.status));

function Facts({ run }: { run: Run }) {
	const ended = run.steps.filter((step) => ENDED.has(step.status)).length;
	return (
		<dl class="facts">
			<div><dt>Run</dt><dd><code>{run.run_id}</code></dd></div>
			<div><dt>Started</dt><dd><Time at={run.started_at} /></dd></div>
			{run.completed_at !== null && <div><dt>Ended</dt><dd><Time at={run.completed_at} /></dd></div>}
			<div><dt>Duration</dt><dd><Duration of={run} /></dd></div>
			<div>
				<dt>Progress</dt>
				<dd>
					<progress max={Math.max(1, run.steps.length)} value={ended} aria-label="Ended steps" /> {ended} of {run.steps.length} steps
				</dd>
			</div>
			<div><dt>State</dt><dd>{stateOf(run)}</dd></div>
		</dl>
	);
}

/** The run's documents, read again soon after each of its events. */
function useRun(id: string) {
	const of = `/api/runs/${encodeURIComponent(id)}`;
	const result = useLoaded((signal) => get<Run>(of, signal), [id]);
	const picture = useLoaded((signal) => get<run.Picture>(`${of}/graph`, signal), [id]);
	const time = useLoaded((signal) => get<run.Time>(`${of}/time`, signal), [id]);
	useRunStream(id, picture.value?.seq, () => {
		result.soon();
		picture.soon();
		time.soon();
	});
	return { result, picture, time };
}

export function RunPage({ id }: { id: string }) {
	const { result: { value: run, problem }, picture, time } = useRun(id);
	const log = useRunLog(id);
	const questions = useCell(inbox.cell).items.filter((item) => item.run_id === id);
	const open = inbox.open(inbox.cell.value).filter((item) => item.run_id === id);
	const asked = new Set(open.map((item) => item.step));
	const attempts = useMemo(() => attemptsOf(log.events), [log.events]);
	const state = run === undefined ? null : stateOf(run);

	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={href("runs")}>Runs</Link></nav>
			<Page title={run?.workflow ?? "Run"} aside={state !== null && <Badge state={state} />}>
				<ProblemText problem={problem} />
				{problem?.status === 404 && <p><Link href={href("runs")}>Show all runs</Link></p>}
				{run === undefined && problem === undefined && <Loading />}
				{run !== undefined && (
					<>
						{run.error !== null && <p class="error run-error">{run.error}</p>}
						<Facts run={run} />
						<Commands id={id} state={stateOf(run)} />
						{questions.length > 0 && (
							<section class="waiting" aria-labelledby="waiting-title">
								<h2 id="waiting-title">Open questions</h2>
								{questions.map((item) => <Question key={item.id} item={item} withRun={false} />)}
							</section>
						)}
						<GraphSection value={picture.value} problem={picture.problem} asked={asked} />
						<Steps steps={run.steps} attempts={attempts} asked={asked} />
						<TimeSection time={time.value} problem={time.problem} steps={run.steps} reload={() => void time.reload()} />
						{Object.keys(run.outputs).length > 0 && (
							<section aria-labelledby="outputs-title">
								<h2 id="outputs-title">Result</h2>
								<Json value={run.outputs} label="Result" />
							</section>
						)}
						<EventsSection id={id} log={log} />
					</>
				)}
			</Page>
		</>
	);
}
