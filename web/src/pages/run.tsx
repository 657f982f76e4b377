// The page of one run: state, failures, open questions, graph, steps, time, result, events; and beside
// it one of its steps.
import type { run, runtime } from "contract";
import { useCallback, useMemo, useRef } from "preact/hooks";
import { get } from "../api";
import { useCell } from "../cell";
import { pipelinePages, useChunk } from "../chunk";
import { isSettled, useLoaded } from "../data";
import { inbox } from "../inbox";
import { Badge, Duration, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Labels } from "../parts/labels";
import { Members } from "../parts/members";
import { isAboutPlan, Question } from "../parts/question";
import { href, Link, usePlace, withQuery } from "../route";
import { useRunStream } from "../run_stream";
import { useReplies } from "../replies";
import { failuresOf, progressOf, type Step } from "../steps";
import { shortId } from "../words";
import { ArtifactsSection } from "./run_artifacts";
import { Commands } from "./run_commands";
import { ConversationSection } from "./run_conversation";
import { EventsSection, useRunLog } from "./run_events";
import { GraphSection } from "./run_graph";
import { Steps } from "./run_steps";
import { TimeSection } from "./run_time";
import { TimelineSection } from "./run_timeline";
import { StepDrawer } from "./step_drawer";

type Result = runtime.WorkflowResultModel;
type Outline = run.Outline;

const FAILURES_SHOWN = 5;
/** More are folded. */
const WARNINGS_SHOWN = 3;
/** Longer inputs do not go into an address. */
const LONGEST_INPUTS = 4000;

/** Failed steps do not count as done. */
function ProgressText({ outline }: { outline: Outline }) {
	const { done, failed, all } = progressOf(outline.steps);
	return (
		<>
			<progress max={Math.max(1, all)} value={done} aria-label="Steps that are done" /> {done} of {all} steps
			{failed > 0 && <>, <span class="error" data-failed={failed}>{failed} failed</span></>}
		</>
	);
}

function Facts({ outline }: { outline: Outline }) {
	const span = { started_at: outline.created_at, completed_at: outline.ended_at ?? null,
		duration_ms: outline.ended_at === undefined ? null : Date.parse(outline.ended_at) - Date.parse(outline.created_at) };
	return (
		<dl class="facts">
			<div><dt>Run</dt><dd><code>{outline.run_id}</code></dd></div>
			{outline.unwinding === true ? <div><dt>Command</dt><dd>unwinding: finally and undo steps run</dd></div>
				: outline.cancelling && <div><dt>Command</dt><dd>cancelling: open effects are being stopped</dd></div>}
			<div><dt>Started</dt><dd><Time at={outline.created_at} /></dd></div>
			{outline.ended_at !== undefined && <div><dt>Ended</dt><dd><Time at={outline.ended_at} /></dd></div>}
			<div><dt>Duration</dt><dd><Duration of={span} /></dd></div>
			<div><dt>Progress</dt><dd><ProgressText outline={outline} /></dd></div>
			{outline.labels !== undefined && Object.keys(outline.labels).length > 0 && <div><dt>Labels</dt><dd><Labels labels={outline.labels} /></dd></div>}
			{outline.profile !== undefined && <div><dt>Profile</dt><dd><Link href={href("settings", "profiles", outline.profile)}>{outline.profile}</Link></dd></div>}
			{outline.repository !== undefined && <div><dt>Repository</dt><dd><code>{outline.repository}</code></dd></div>}
			{outline.by !== undefined && <div><dt>By</dt><dd>{outline.by}</dd></div>}
			{outline.queue !== undefined && <div><dt>Queue</dt><dd>{outline.queue.position} of {outline.queue.length}</dd></div>}
		</dl>
	);
}

/** The address of the form that starts the same workflow with the same inputs. */
function againOf(outline: Outline, result: Result | undefined): string {
	const agent = outline.labels?.["agent"];
	if (agent !== undefined && (outline.workflow === "agent" || outline.workflow === "chat"))
		return href("agents", agent, { goal: String(result?.inputs?.["goal"] ?? "").slice(0, LONGEST_INPUTS) });
	const inputs = JSON.stringify(result?.inputs ?? {});
	return href("runs", "new", { workflow: outline.workflow, inputs: inputs === "{}" || inputs.length > LONGEST_INPUTS ? null : inputs });
}

/** What is open in a run whose steps have succeeded. */
function Issues({ outline }: { outline: Outline }) {
	const issues = outline.issues ?? [];
	if (issues.length === 0)
		return null;
	return (
		<section class="failures" data-issues={issues.length} data-continued={true} aria-labelledby="issues-title">
			<h2 id="issues-title">{issues.length === 1 ? "1 issue is open" : `${issues.length} issues are open`}</h2>
			<ul>{issues.map((issue) => <li key={issue}>{issue}</li>)}</ul>
		</section>
	);
}

/** The first thing that a person wants to know of a failed run. */
function Failures({ outline }: { outline: Outline }) {
	const failures = failuresOf(outline.steps);
	if (failures.length === 0)
		return outline.error === undefined || outline.issues !== undefined ? null : <p class="error run-error">{outline.error}</p>;
	const continued = outline.state === "succeeded" || outline.state === "with_issues"; // the definition lets it continue
	return (
		<section class="failures" data-continued={continued} aria-labelledby="failures-title">
			<h2 id="failures-title">{failures.length === 1 ? "1 step failed" : `${failures.length} steps failed`}{continued && ", and the run continued"}</h2>
			<ul>
				{failures.slice(0, FAILURES_SHOWN).map((step) => (
					<li key={step.step} data-failure={step.step}>
						<Link href={withQuery({ step: step.step })}>{step.step}</Link>
						{step.error !== undefined && <pre class="error clip">{step.error}</pre>}
					</li>
				))}
			</ul>
			{failures.length > FAILURES_SHOWN && <p><Link href={withQuery({ failed: "1" })}>Show all {failures.length} failed steps</Link></p>}
		</section>
	);
}

/** Lenient rules that the run has used. */
function Warnings({ outline }: { outline: Outline }) {
	const warnings = outline.warnings ?? [], dropped = outline.warnings_dropped ?? 0;
	if (warnings.length + dropped === 0)
		return null;
	return (
		<details class="warnings" data-warnings={warnings.length} open={warnings.length <= WARNINGS_SHOWN}>
			<summary>{warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`}{dropped > 0 && `, and ${dropped} more that were not recorded`}</summary>
			<ul>
				{warnings.map((warning) => (
					<li key={`${warning.step} ${warning.text}`}>
						{warning.step === undefined ? "outputs" : <Link href={withQuery({ step: warning.step })}>{warning.step}</Link>}: {warning.text}
					</li>
				))}
			</ul>
		</details>
	);
}

function Inputs({ result }: { result: Result | undefined }) {
	const inputs = result?.inputs ?? {};
	if (Object.keys(inputs).length === 0)
		return null;
	return (
		<section aria-labelledby="inputs-title">
			<h2 id="inputs-title">Inputs</h2>
			<Members value={inputs} label="Inputs of the run" />
		</section>
	);
}

function Metadata({ outline }: { outline: Outline }) {
	if (outline.metadata === undefined || Object.keys(outline.metadata).length === 0)
		return null;
	return (
		<section aria-labelledby="metadata-title">
			<h2 id="metadata-title">Metadata</h2>
			<Members value={outline.metadata} label="Metadata of the run" />
		</section>
	);
}

/** The run's documents, read again soon after each of its events. */
function useRun(id: string) {
	const of = `/api/runs/${encodeURIComponent(id)}`;
	const outline = useLoaded((signal) => get<Outline>(`${of}/steps`, signal), [id], (event) => event.workflow_id === id);
	const result = useLoaded((signal) => get<Result>(of, signal), [id]);
	const picture = useLoaded((signal) => get<run.Picture>(`${of}/graph`, signal), [id]);
	const time = useLoaded((signal) => get<run.Time>(`${of}/time`, signal), [id]);
	const artifacts = useLoaded((signal) => get<run.ArtifactPage>(`${of}/artifacts`, signal), [id]);
	const agents = outline.value?.steps.some((step) => step.kind === "agent" || step.kind === "session") ?? false;
	const talks = useLoaded((signal) => (agents ? get<run.Conversation>(`${of}/conversation`, signal) : Promise.resolve(null)), [id, agents]);
	const { replies, take } = useReplies();
	const hearers = useRef(new Set<() => void>());
	const onEvent = useCallback((heard: () => void) => {
		hearers.current.add(heard);
		return () => void hearers.current.delete(heard);
	}, []);
	useRunStream(id, picture.value?.seq, outline.value?.ended_at !== undefined, () => {
		outline.soon();
		result.soon();
		picture.soon();
		time.soon();
		artifacts.soon();
		talks.soon();
		hearers.current.forEach((heard) => heard());
	}, take);
	return { outline, result, picture, time, artifacts, talks, replies, onEvent, reload: outline.reload };
}

function Crumbs({ outline }: { outline: Outline | undefined }) {
	return (
		<nav class="crumbs" aria-label="Breadcrumb">
			<Link href={href("runs")}>Runs</Link>
			{outline?.parent !== undefined && <> / <Link href={href("runs", outline.parent)} data-parent>parent run {shortId(outline.parent)}</Link></>}
		</nav>
	);
}

/** Runs that check a plan or work in a clone of a repository have a plan, tasks and files. */
const isPipeline = (steps: Step[]): boolean => steps.some((step) => step.agent === "git_checkout" || step.agent === "plan_check");

export function RunPage({ id }: { id: string }) {
	const { query } = usePlace();
	const { outline: { value: outline, problem }, result, picture, time, artifacts, talks, replies, onEvent, reload } = useRun(id);
	const log = useRunLog(id);
	const asked = useCell(inbox.cell).items.filter((item) => item.run_id === id);
	const outputs = useMemo(() => new Map(result.value?.steps.map((step) => [step.step_id, step.output])), [result.value]);
	const chosen = query.get("step") ?? "";
	const steps: Step[] = outline?.steps ?? [];
	// All sections appear at once: none is pushed down by one that was slower.
	const piped = isPipeline(steps);
	const pages = useChunk(pipelinePages, piped);
	const questions = asked.filter((item) => !piped || !isAboutPlan(item));
	const ready = outline !== undefined && (!piped || pages !== undefined) && [result, picture, time, artifacts, talks].every(isSettled);

	const rest = ready && (
		<>
			<ConversationSection id={id} outline={outline} value={talks.value} problem={talks.problem} replies={replies} />
			<GraphSection value={picture.value} problem={picture.problem} steps={steps} chosen={chosen} />
			<Steps steps={steps} outputs={outputs} chosen={chosen} />
			<TimelineSection outline={outline} />
			<ArtifactsSection id={id} page={artifacts.value} problem={artifacts.problem} />
			<TimeSection time={time.value} problem={time.problem} reload={() => void time.reload()} />
			<Inputs result={result.value} />
			<Metadata outline={outline} />
			{result.value !== undefined && Object.keys(result.value.outputs).length > 0 && (
				<section aria-labelledby="outputs-title">
					<h2 id="outputs-title">Result</h2>
					<Members value={result.value.outputs} label="Result" />
				</section>
			)}
			<EventsSection id={id} log={log} />
		</>
	);

	return (
		<>
			<Crumbs outline={outline} />
			<Page title={outline?.workflow ?? "Run"} aside={outline !== undefined && <Badge state={outline.state} />}>
				<ProblemText problem={problem ?? result.problem} />
				{problem?.status === 404 && <p><Link href={href("runs")}>Show all runs</Link></p>}
				{!ready && problem === undefined && <Loading />}
				{ready && (
					<>
						<Facts outline={outline} />
						<Issues outline={outline} />
						<Failures outline={outline} />
						<Warnings outline={outline} />
						<Commands id={id} state={outline.state} within={outline.parent} again={againOf(outline, result.value)} done={() => void reload()} />
						{questions.length > 0 && (
							<section class="waiting" aria-labelledby="waiting-title">
								<h2 id="waiting-title">Open questions</h2>
								{questions.map((item) => <Question key={item.id} item={item} withRun={false} />)}
							</section>
						)}
						{pages === undefined || !piped ? rest : (
							<pages.Sections id={id} outline={outline} outputs={outputs} questions={asked.filter(isAboutPlan)} onEvent={onEvent}>{rest}</pages.Sections>
						)}
					</>
				)}
			</Page>
			{chosen !== "" && outline !== undefined && <StepDrawer id={id} path={chosen} steps={steps} seq={outline.seq} />}
		</>
	);
}
