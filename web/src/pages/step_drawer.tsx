// One step beside the page: what it got, what it gave, why it failed, its attempts.  The address names
// the step (?step=), so that it can be shared.
import type { run } from "contract";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../api";
import { useLoaded } from "../data";
import { useKeys } from "../keys";
import { Badge, Duration, Json, Loading, ProblemText, Time } from "../parts/basic";
import { LogSection } from "../parts/log_pane";
import { Members } from "../parts/members";
import { go, goQuery, href, Link, withQuery } from "../route";
import { durationOf, isFinal, newestOf, nodeOf, type Step } from "../steps";
import { bytesText, durationText, shortId } from "../words";

type Details = run.StepDetails;
type Attempt = run.StepAttempt;

export const pathOf = (step: string): string => step.split("/").map(encodeURIComponent).join("/");

const close = (): void => goQuery({ step: null });

/** "exit status 0 · 1.2 s of processor time · 12 MB of memory · 3 MB written" */
const figuresText = ({ exit_code, cpu_us, memory_bytes, written_bytes }: run.CallFigures): string => [
	exit_code !== undefined && `exit status ${exit_code}`,
	cpu_us !== undefined && `${durationText(cpu_us / 1000)} of processor time`,
	memory_bytes !== undefined && `${bytesText(memory_bytes)} of memory`,
	written_bytes !== undefined && `${bytesText(written_bytes)} written`,
].filter(Boolean).join(" · ");

/** The result of an attempt in words: an error, an answer, a time. */
function AttemptText({ attempt }: { attempt: Attempt }) {
	return (
		<>
			{attempt.question !== undefined && <p>{attempt.question}</p>}
			{attempt.decision !== undefined && <p>{attempt.decision} by {attempt.by}{attempt.comment !== undefined && <>: {attempt.comment}</>}</p>}
			{attempt.error !== undefined && <p class="error">{attempt.error}</p>}
			{attempt.signal !== undefined && <p class="muted">waits for the signal {attempt.signal}</p>}
			{attempt.ended_at === undefined && attempt.due_at !== undefined && <p class="muted">due <Time at={attempt.due_at} /></p>}
			{attempt.retry_at !== undefined && <p class="muted">next attempt <Time at={attempt.retry_at} /></p>}
			{attempt.figures !== undefined && <p class="muted" data-figures>{figuresText(attempt.figures)}</p>}
			{attempt.model !== undefined && <p class="muted">model {attempt.model}{attempt.usage !== undefined && <> · {JSON.stringify(attempt.usage)}</>}</p>}
		</>
	);
}

function Attempts({ details }: { details: Details }) {
	if (details.attempts.length === 0)
		return <p class="muted">not started</p>;
	return (
		<>
			{details.attempts_left_out > 0 && <p class="muted">{details.attempts_left_out} older attempts are not listed.</p>}
			<table class="attempts" aria-label="Attempts">
				<thead>
					<tr><th scope="col" class="number">#</th><th scope="col">State</th><th scope="col">Started</th><th scope="col" class="number">Duration</th><th scope="col">Result</th></tr>
				</thead>
				<tbody>
					{details.attempts.map((attempt, at) => (
						<tr key={at} data-attempt={attempt.attempt}>
							<td class="number">{attempt.attempt}</td>
							<td><Badge state={attempt.state} /></td>
							<td><Time at={attempt.started_at} /></td>
							<td class="number"><Duration of={durationOf({ ...details.summary, started_at: attempt.started_at, ended_at: attempt.ended_at } as Step)} /></td>
							<td><AttemptText attempt={attempt} /></td>
						</tr>
					))}
				</tbody>
			</table>
		</>
	);
}

/** Class and attributes of an error, for those who look it up or report it. */
function FailureFacts({ failure }: { failure: run.Failure }) {
	const { code, message: _, class: kind, ...rest } = failure;
	const facts = Object.entries(rest).filter(([name, value]) => name !== "step_id" && typeof value !== "object");
	return <p class="muted" data-failure-code={code}>{[kind, code, ...facts.map(([name, value]) => `${name} ${String(value)}`)].filter(Boolean).join(" · ")}</p>;
}

/** The templates that the prompts were rendered from, as they were when the run began. */
function Prompts({ prompts }: { prompts: run.StepPrompt[] }) {
	return (
		<>
			{prompts.map(({ part, files, reads }) => (
				<section key={part} data-prompt={part}>
					<h3>{part === "system" ? "Template of the system prompt" : "Template of the prompt"}</h3>
					{files.map(({ name, text }) => (
						<details key={name} data-prompt-file={name}>
							<summary><code>{name}</code></summary>
							<pre tabIndex={0} role="group" aria-label={`Template ${name}`}>{text}</pre>
						</details>
					))}
					<h4>What it reads</h4>
					<Members value={reads} label="What the template reads" />
				</section>
			))}
		</>
	);
}

function Body({ id, details }: { id: string; details: Details }) {
	const { summary, inputs, output } = details;
	return (
		<>
			<dl class="facts">
				<div><dt>By</dt><dd>{summary.agent}{summary.agent !== summary.kind && <span class="muted"> ({summary.kind})</span>}</dd></div>
				{summary.started_at !== undefined && <div><dt>Started</dt><dd><Time at={summary.started_at} /></dd></div>}
				<div><dt>Duration</dt><dd>{summary.started_at === undefined ? "not started" : <Duration of={durationOf(summary)} />}</dd></div>
				{summary.undoes !== undefined && <div><dt>Undoes</dt><dd>{summary.undoes}</dd></div>}
				{summary.limit_reached === true && <div><dt>Rounds</dt><dd>limit reached; the last result stands</dd></div>}
				{summary.due_at !== undefined && <div><dt>Due</dt><dd><Time at={summary.due_at} /></dd></div>}
				{summary.subrun !== undefined && <div><dt>Sub-run</dt><dd><Link href={href("runs", summary.subrun)}>run {shortId(summary.subrun)}</Link></dd></div>}
			</dl>
			{summary.error !== undefined && (
				<>
					<h3>{summary.state === "failed" ? "Error" : "Reason"}</h3>
					<pre class={summary.state === "failed" ? "error" : ""} tabIndex={0} role="group" aria-label="Error" data-error>{summary.error}</pre>
					{summary.failure !== undefined && <FailureFacts failure={summary.failure} />}
				</>
			)}
			{summary.warnings !== undefined && (
				<>
					<h3>Warnings</h3>
					<ul class="warnings" data-step-warnings={summary.warnings.length}>{summary.warnings.map((warning) => <li key={warning.text}>{warning.text}</li>)}</ul>
				</>
			)}
			{summary.kind === "tool" && summary.attempts > 0 && <LogSection path={`/api/runs/${encodeURIComponent(id)}/steps/${pathOf(summary.step)}/log`} final={isFinal(summary)} />}
			<h3>Output</h3>
			{output === null ? <p class="muted">none</p> : <Members value={output} label="Output" />}
			<h3>Inputs</h3>
			{Object.keys(inputs).length === 0 && summary.kind === "tool" && summary.attempts > 0
				? <p class="muted">not recorded: this step is computed from its definition</p>
				: <Members value={inputs} label="Inputs" />}
			{details.prompts !== undefined && <Prompts prompts={details.prompts} />}
			<h3>Attempts</h3>
			<Attempts details={details} />
			<details>
				<summary>As JSON</summary>
				<Json value={details} label="The step as JSON" />
			</details>
		</>
	);
}

/** Other activations of the same node: rounds and items. */
function Activations({ steps, path }: { steps: Step[]; path: string }) {
	const same = steps.filter((step) => nodeOf(step.step) === nodeOf(path));
	if (same.length < 2)
		return null;
	return (
		<label class="activations">
			Activation{" "}
			<select value={path} onChange={(event) => goQuery({ step: event.currentTarget.value })}>
				{same.map((step) => <option key={step.step} value={step.step}>{step.step} · {step.state}</option>)}
			</select>
		</label>
	);
}

interface DrawerProps {
	id: string;
	path: string;
	steps: Step[];
	/** Changes with every event of the run: then the step is read again. */
	seq: number;
}

export function StepDrawer({ id, path, steps, seq }: DrawerProps) {
	const heading = useRef<HTMLHeadingElement>(null);
	const step = useLoaded((signal) => get<Details>(`/api/runs/${encodeURIComponent(id)}/steps/${pathOf(path)}/details`, signal), [id, path]);
	useEffect(() => step.soon(), [seq]);
	// The drawer takes the focus, and gives it back to where it was opened.
	useEffect(() => heading.current?.focus(), [path]);
	useEffect(() => () => document.querySelector<HTMLElement>(`[data-opens="${CSS.escape(path)}"]`)?.focus(), [path]);
	const at = steps.findIndex((other) => other.step === path);
	const move = (by: number) => {
		const next = steps[at + by];
		if (next !== undefined)
			go(withQuery({ step: next.step }), "replace");
	};
	useKeys([
		{ keys: "]", text: "Next step", run: () => move(1) },
		{ keys: "[", text: "Previous step", run: () => move(-1) },
		{ keys: "Escape", text: "Close the step", run: close },
	]);
	const details = step.value;
	const newer = newestOf(steps, path);
	const state = details?.summary.state ?? steps[at]?.state;
	return (
		<div class="drawer" role="dialog" aria-labelledby="step-title" data-drawer={path}>
			<div class="headline">
				<h2 id="step-title" tabIndex={-1} ref={heading}>{path}</h2>
				{state !== undefined && <Badge state={state} />}
				<span class="drawer-buttons">
					<button type="button" class="action quiet" aria-label="Previous step" disabled={at <= 0} onClick={() => move(-1)}>↑</button>
					<button type="button" class="action quiet" aria-label="Next step" disabled={at < 0 || at + 1 >= steps.length} onClick={() => move(1)}>↓</button>
					<button type="button" class="action" onClick={close}>Close</button>
				</span>
			</div>
			<Activations steps={steps} path={path} />
			{newer !== "" && <p class="muted" data-newer={newer}>This step ran again: <Link href={withQuery({ step: newer })}>{newer}</Link></p>}
			<ProblemText problem={step.problem} />
			{details === undefined && step.problem === undefined && <Loading />}
			{details !== undefined && <Body id={id} details={details} />}
		</div>
	);
}
