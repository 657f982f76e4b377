// What is this run doing, and what does it need?
import type { runtime } from "contract";
import { useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { useCell } from "../cell";
import { useLoaded } from "../data";
import { inbox } from "../inbox";
import type { LiveEvent } from "../live";
import { Badge, Duration, Json, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Question } from "../parts/question";
import { href, Link } from "../route";
import { EventsSection, useRunLog } from "./run_events";

type Run = runtime.WorkflowResultModel;
type Step = runtime.StepResultModel;

/** A table of thousands would make every event slow; more are shown when asked for. */
const STEPS_AT_FIRST = 100;
const ENDED = new Set(["success", "failed", "skipped", "cancelled"]);

/** An output on one line: its only value, or all of it. */
function lineOf(output: { [key: string]: unknown }): string {
	const [only, more] = Object.values(output);
	return (typeof only === "string" && more === undefined ? only : JSON.stringify(output)).slice(0, 300);
}

/** How often each step was begun: a call that a crash left open is begun again. */
function attemptsOf(events: LiveEvent[]): Map<string, number> {
	const attempts = new Map<string, number>();
	for (const { data } of events)
		if (data?.["event"] === "tool.restarted") {
			const step = String(data["step"]);
			attempts.set(step, (attempts.get(step) ?? 1) + 1);
		}
	return attempts;
}

function Steps({ steps, attempts, asked }: { steps: Step[]; attempts: Map<string, number>; asked: Set<string> }) {
	const [all, setAll] = useState(false);
	return (
		<section aria-labelledby="steps-title">
			<h2 id="steps-title">Steps</h2>
			<table class="steps" aria-labelledby="steps-title">
				<thead>
					<tr>
						<th scope="col">State</th>
						<th scope="col">Step</th>
						<th scope="col">By</th>
						<th scope="col" class="number">Attempts</th>
						<th scope="col" class="number">Duration</th>
						<th scope="col" class="result">Result</th>
					</tr>
				</thead>
				<tbody>
					{(all ? steps : steps.slice(0, STEPS_AT_FIRST)).map((step) => (
						<tr key={step.step_id} data-step={step.step_id}>
							<td><Badge state={asked.has(step.step_id) && step.status === "running" ? "needs you" : step.status} /></td>
							<td class="name">{step.step_id}</td>
							<td>{step.agent}</td>
							<td class="number">{step.started_at === null ? "" : (attempts.get(step.step_id) ?? 1)}</td>
							<td class="number"><Duration of={step} /></td>
							<td class="result">
								{step.error !== null && <span class="error clip">{step.error}</span>}
								{step.output !== null && (
									<details>
										<summary><span class="line">{lineOf(step.output)}</span></summary>
										<Json value={step.output} label={`Output of ${step.step_id}`} />
									</details>
								)}
							</td>
						</tr>
					))}
				</tbody>
			</table>
			{!all && steps.length > STEPS_AT_FIRST && (
				<p><button type="button" class="action" onClick={() => setAll(true)}>Show all {steps.length} steps</button></p>
			)}
		</section>
	);
}

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
					<progress max={Math.max(1, run.steps.length)} value={ended} aria-label="Steps that have ended" /> {ended} of {run.steps.length} steps
				</dd>
			</div>
			<div><dt>State</dt><dd>{String(run.metadata["state"] ?? run.status)}</dd></div>
		</dl>
	);
}

export function RunPage({ id }: { id: string }) {
	const { value: run, problem } = useLoaded((signal) => get<Run>(`/api/runs/${encodeURIComponent(id)}`, signal), [id], (event) => event.workflow_id === id);
	const log = useRunLog(id);
	const questions = useCell(inbox.cell).items.filter((item) => item.run_id === id);
	const open = inbox.open(inbox.cell.value).filter((item) => item.run_id === id);
	const asked = new Set(open.map((item) => item.step));
	const attempts = useMemo(() => attemptsOf(log.events), [log.events]);
	const state = run === undefined ? null : run.status === "running" && open.length > 0 ? "needs you" : run.status;

	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={href("runs")}>Runs</Link></nav>
			<Page title={run?.workflow ?? "Run"} aside={state !== null && <Badge state={state} />}>
				<ProblemText problem={problem} />
				{problem?.status === 404 && <p><Link href={href("runs")}>See the runs there are</Link></p>}
				{run === undefined && problem === undefined && <Loading />}
				{run !== undefined && (
					<>
						{run.error !== null && <p class="error run-error">{run.error}</p>}
						<Facts run={run} />
						{questions.length > 0 && (
							<section class="waiting" aria-labelledby="waiting-title">
								<h2 id="waiting-title">Needs you</h2>
								{questions.map((item) => <Question key={item.id} item={item} withRun={false} />)}
							</section>
						)}
						<Steps steps={run.steps} attempts={attempts} asked={asked} />
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
