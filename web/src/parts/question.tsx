// A question to a person, and the form to answer it.  The answer names the revision that was shown.
import type { run } from "contract";
import { useEffect, useState } from "preact/hooks";
import { ask, Problem } from "../api";
import { useDoing, useNow, type Doing } from "../data";
import { inbox, outcomeOf } from "../inbox";
import { href, Link } from "../route";
import { durationText, pretty, readJson, shortId } from "../words";
import { Action, Json, ProblemText, Time } from "./basic";
import { FindingList, findingsOf, useChosen } from "./findings";

/** The kinds of questions. */
const KINDS: Record<run.RequestKind, string> = {
	approval: "approval",
	feedback: "feedback",
	escalation: "escalation",
	sanitization: "blocked content",
	outcome_unknown: "outcome unknown",
};

/** Replaces a conflict by who answered the question and how. */
async function explained(item: run.InboxItem, problem: Problem): Promise<Problem> {
	if (problem.status !== 409 && problem.status !== 404)
		return problem;
	const outcome = await outcomeOf(item).catch(() => null);
	return outcome === null ? problem : new Problem(problem.status, problem.code, outcome, []);
}

async function respond(item: run.InboxItem, body: run.InboxAnswer): Promise<void> {
	try {
		await ask(`/api/inbox/${item.id}/respond`, { method: "POST", body });
	} catch (cause) {
		if (!(cause instanceof Problem))
			throw cause;
		const problem = await explained(item, cause);
		if (problem !== cause)
			inbox.keep(item, problem.message);
		throw problem;
	}
	inbox.answered(item.id);
}

/** The due time, after which the question is escalated or closed, with a countdown. */
function Due({ at }: { at: string }) {
	const now = useNow(1000);
	const left = Date.parse(at) - now;
	return <>due <Time at={at} /> {left > 0 ? `(in ${durationText(Math.ceil(left / 1000) * 1000)})` : "(now)"}</>;
}

/** Where the question comes from, and until when. */
export function About({ item, withRun }: { item: run.InboxItem; withRun: boolean }) {
	return (
		<p class="muted">
			{withRun && <><Link href={href("runs", item.run_id)} data-row>run {shortId(item.run_id)}</Link> · </>}
			<span data-kind={item.kind}>{KINDS[item.kind] ?? item.kind}</span> · {item.step} · asked <Time at={item.asked_at} />
			{item.to !== undefined && <> · <span data-to={item.to}>for {item.to}</span></>}
			{item.due_at !== undefined && <> · <span data-due={item.due_at}><Due at={item.due_at} /></span></>}
			{item.four_eyes && <> · <span data-four-eyes>four-eyes rule: not by the person who started the run</span></>}
		</p>
	);
}

interface Answering {
	doing: (decision: run.Decision, value?: () => unknown) => () => Promise<void>;
	item: run.InboxItem;
	/** The user has typed something that must be kept. */
	touched: (touched: boolean) => void;
}

/** A value edited as JSON text. */
function useValues(first: unknown) {
	const [text, setText] = useState(pretty(typeof first === "string" ? JSON.stringify(first) : first));
	const { value, wrong } = readJson(text);
	return { text, setText, wrong, read: () => value };
}

function Values({ label, values, touched }: { label: string; values: ReturnType<typeof useValues>; touched: (touched: boolean) => void }) {
	return (
		<label>
			{label} <span class="muted">(JSON)</span>
			<textarea
				class="mono"
				rows={6}
				value={values.text}
				spellcheck={false}
				aria-invalid={values.wrong !== undefined}
				onInput={(event) => {
					values.setText(event.currentTarget.value);
					touched(true);
				}}
			/>
			{values.wrong !== undefined && <span class="error" role="status">{values.wrong}</span>}
		</label>
	);
}

function firstProblem(...all: Doing[]): Problem | undefined {
	return all.find((one) => one.problem !== undefined)?.problem;
}

/** Approve, reject, or approve with changed values. */
function Verdict({ doing, item, touched }: Answering) {
	const values = useValues(item.inputs ?? {});
	const approve = useDoing(doing("approve"));
	const reject = useDoing(doing("reject"));
	const modify = useDoing(doing("modify", values.read));
	const pending = approve.pending || reject.pending || modify.pending;
	return (
		<>
			<Action doing={approve} tone="good" busy="Approving …" disabled={pending}>Approve</Action>
			<Action doing={reject} tone="bad" busy="Rejecting …" disabled={pending}>Reject</Action>
			<details class="modify">
				<summary>Approve with changes</summary>
				<Values label="Continue with" values={values} touched={touched} />
				<Action doing={modify} tone="good" busy="Sending …" disabled={pending || values.wrong !== undefined}>Approve with these values</Action>
			</details>
			<ProblemText problem={firstProblem(approve, reject, modify)} />
		</>
	);
}

/** Which findings of a review to repair. */
function Choice({ doing, item, touched }: Answering) {
	const { items = [], proposed = [] } = findingsOf(item) ?? {};
	const { chosen, set } = useChosen(proposed);
	const numbers = items.map((one) => one.number).filter((number) => chosen.has(number));
	const repair = useDoing(doing("modify", () => ({ approved_items: numbers })));
	const none = useDoing(doing("reject"));
	const pending = repair.pending || none.pending;
	return (
		<>
			<FindingList items={items} chosen={chosen} set={(number, on) => {
				set(number, on);
				touched(true);
			}} />
			<Action doing={repair} tone="good" busy="Sending …" disabled={pending || numbers.length === 0}>Repair {numbers.length} of {items.length}</Action>
			<Action doing={none} tone="bad" busy="Sending …" disabled={pending}>Repair none</Action>
			<ProblemText problem={firstProblem(repair, none)} />
		</>
	);
}

/** Whether the question is about a plan, which the page of its run shows. */
export const isAboutPlan = ({ inputs }: run.InboxItem): boolean =>
	typeof inputs === "object" && inputs !== null && typeof (inputs as { plan_markdown?: unknown }).plan_markdown === "string";

/** Settles an effect whose outcome is unknown. */
function Settlement({ doing, touched }: Answering) {
	const values = useValues({});
	const happened = useDoing(doing("happened", values.read));
	const not = useDoing(doing("not_happened"));
	const again = useDoing(doing("retry"));
	const pending = happened.pending || not.pending || again.pending;
	return (
		<>
			<Action doing={not} tone="bad" busy="Sending …" disabled={pending}>It did not happen</Action>
			<Action doing={again} busy="Sending …" disabled={pending}>Retry</Action>
			<details class="modify">
				<summary>It happened …</summary>
				<Values label="Output" values={values} touched={touched} />
				<Action doing={happened} tone="good" busy="Sending …" disabled={pending || values.wrong !== undefined}>It happened</Action>
			</details>
			<ProblemText problem={firstProblem(happened, not, again)} />
		</>
	);
}

/** A question that somebody else answered stays until the user has read the outcome. */
export function Question({ item, withRun }: { item: run.InboxItem; withRun: boolean }) {
	const [comment, setComment] = useState("");
	const [touched, setTouched] = useState(false);
	const doing = (decision: run.Decision, value?: () => unknown) => () =>
		inbox.whileAnswering(item.id, () => {
			const body: run.InboxAnswer = { decision, revision: item.revision };
			if (comment !== "")
				body.comment = comment;
			if (value !== undefined)
				body.value = value();
			return respond(item, body);
		});
	// Text that was typed must not vanish because somebody else answered first.
	const written = comment !== "" || touched;
	useEffect(() => {
		inbox.hold(item.id, written);
		return () => inbox.hold(item.id, false);
	}, [item.id, written]);
	const over = inbox.outcome(item.id);
	const findings = findingsOf(item) !== undefined;
	const Answer = item.kind === "outcome_unknown" ? Settlement : findings ? Choice : Verdict;
	return (
		<article class="question" aria-label={item.question} data-question={item.id}>
			<p class="question-text">{item.question}</p>
			<About item={item} withRun={withRun} />
			{isAboutPlan(item) && <p><Link href={href("runs", item.run_id, { tab: "plan" })}>Read the plan, edit it, or plan again</Link></p>}
			{item.inputs !== null && item.inputs !== undefined && !findings && (
				<details>
					<summary>Inputs</summary>
					<Json value={item.inputs} label="Inputs of the question" />
				</details>
			)}
			{over !== undefined ? (
				<div class="problem" role="alert">
					<p>{over}</p>
					<button type="button" class="action" onClick={() => inbox.answered(item.id)}>Dismiss</button>
				</div>
			) : (
				<fieldset>
					<legend class="hidden">Your answer</legend>
					<label>
						Comment <span class="muted">(optional)</span>
						<textarea rows={2} maxLength={8192} value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
					</label>
					<Answer item={item} doing={doing} touched={setTouched} />
				</fieldset>
			)}
		</article>
	);
}
