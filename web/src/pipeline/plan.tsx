// The plan of a run: its revisions and what each changed, and while the run asks for its approval the
// answers.  An answer belongs to the question about the revision that is shown: after an edit by another
// person it is refused, and the page shows the new revision.
import type { run } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing, useLoaded, type Loaded } from "../data";
import { keepDraft, readDraft } from "../draft";
import { inbox } from "../inbox";
import { Action, Badge, Empty, Loading, ProblemText, Time } from "../parts/basic";
import { Diff } from "../parts/diff";
import { Prose } from "../parts/prose";
import { About } from "../parts/question";
import { goQuery, Link, usePlace, withQuery } from "../route";
import { dropPlanDraft, PlanEditor, readPlanDraft, type PlanDraft } from "./plan_editor";

type Plan = run.Plan;

const CHANGED = new Set([404, 409, 412]);

/** Answers the question about a plan; the problem of an answer outlives its question. */
function useGate(id: string, plan: Plan | undefined, item: run.InboxItem | undefined, reload: () => Promise<void>) {
	const name = `gate.${id}`;
	const [comment, keep] = useState(() => readDraft<string>(name) ?? "");
	const setComment = (text: string) => {
		keep(text);
		keepDraft(name, text === "" ? undefined : text);
	};
	const answer = (decision: run.Decision, final?: boolean) => async () => {
		const question = plan?.question;
		if (question === undefined)
			return;
		const body: run.InboxAnswer = { decision };
		if (item !== undefined)
			body.revision = item.revision;
		if (comment !== "")
			body.comment = comment;
		if (final === true)
			body.final = true;
		try {
			await ask(`/api/inbox/${question}/respond`, { method: "POST", body });
		} catch (cause) {
			if (!(cause instanceof Problem) || !CHANGED.has(cause.status))
				throw cause;
			await reload();
			throw new Problem(cause.status, cause.code, `The plan has changed since it was shown here, and your answer was not sent: ${cause.message}`, []);
		}
		setComment("");
		inbox.answered(question);
		await reload();
	};
	const approve = useDoing(answer("approve"));
	const again = useDoing(answer("reject"));
	const end = useDoing(answer("reject", true));
	return { comment, setComment, approve, again, end, pending: approve.pending || again.pending || end.pending, problem: approve.problem ?? again.problem ?? end.problem };
}

function Answers({ gate, plan, item, edit }: { gate: ReturnType<typeof useGate>; plan: Plan; item: run.InboxItem | undefined; edit: () => void }) {
	return (
		<section class="waiting gate" aria-labelledby="gate-title" data-gate={plan.revision}>
			<h2 id="gate-title">{item?.question ?? `Approve revision ${plan.revision} of the plan?`}</h2>
			{item !== undefined && <About item={item} withRun={false} />}
			<label>
				Comment <span class="muted">(what the architect shall do differently)</span>
				<textarea rows={2} maxLength={8192} value={gate.comment} onInput={(event) => gate.setComment(event.currentTarget.value)} />
			</label>
			<p class="actions">
				<Action doing={gate.approve} tone="good" busy="Approving …" disabled={gate.pending}>Approve revision {plan.revision}</Action>
				<Action doing={gate.again} busy="Sending …" disabled={gate.pending}>{gate.comment.trim() === "" ? "Plan again" : "Reject with this comment"}</Action>
				<button type="button" class="action" disabled={gate.pending} onClick={edit}>Edit</button>
				<Action doing={gate.end} tone="bad" busy="Rejecting …" disabled={gate.pending}>Reject for good</Action>
			</p>
		</section>
	);
}

/** The revision that the address names: the newest one, or an older one. */
function useShown(id: string, newest: Plan | undefined) {
	const { query } = usePlace();
	const wanted = Number(query.get("revision") ?? 0);
	const older = newest !== undefined && wanted > 0 && wanted !== newest.revision;
	const read = useLoaded((signal) => (older ? get<Plan>(`/api/runs/${encodeURIComponent(id)}/plan?diff&revision=${wanted}`, signal) : Promise.resolve(undefined)), [id, older, wanted]);
	return older ? { plan: read.value, problem: read.problem, newest: false } : { plan: newest, problem: undefined, newest: true };
}

function Revisions({ plan, newest }: { plan: Plan; newest: Plan }) {
	const { query } = usePlace();
	const changes = query.get("changes") !== null;
	return (
		<p class="files-line">
			<label>
				Revision{" "}
				<select value={String(plan.revision)} onChange={(event) => goQuery({ revision: Number(event.currentTarget.value) === newest.revision ? null : event.currentTarget.value })}>
					{Array.from({ length: newest.revisions }, (_, at) => newest.revisions - at).map((number) => (
						<option key={number} value={String(number)}>{number}{number === newest.revision && " (newest)"}</option>
					))}
				</select>
			</label>
			<span class="muted">checked <Time at={plan.checked_at} />{plan.path !== null && <> · <code>{plan.path}</code></>}</span>
			{plan.diff_from !== undefined && (
				<button type="button" class="action quiet" aria-pressed={changes} onClick={() => goQuery({ changes: changes ? null : "1" })}>
					{changes ? "Show the plan" : `Show what changed since revision ${plan.diff_from}`}
				</button>
			)}
		</p>
	);
}

function Text({ plan }: { plan: Plan }) {
	const { query } = usePlace();
	const { validation } = plan;
	return (
		<>
			{!validation.valid && (
				<div class="problem" data-invalid={validation.severity}>
					<p>This plan is not valid ({validation.severity}):</p>
					<ul>{validation.issues.map((issue) => <li key={issue}>{issue}</li>)}</ul>
				</div>
			)}
			{query.get("changes") !== null && plan.diff !== undefined
				? <Diff text={plan.diff} />
				: plan.markdown === "" ? <p class="muted">There is no text.</p> : <div class="plan-text"><Prose text={plan.markdown} under={2} /></div>}
		</>
	);
}

/** Says so when the plan becomes another one while a person reads it. */
function useChange(newest: Plan | undefined): string {
	const seen = useRef<number | undefined>();
	const [text, setText] = useState("");
	const revision = newest?.revision;
	useEffect(() => {
		if (seen.current !== undefined && revision !== undefined && revision !== seen.current)
			setText(`The plan has changed: revision ${revision} has replaced revision ${seen.current}.`);
		seen.current = revision ?? seen.current;
	}, [revision]);
	return text;
}

interface Props {
	id: string;
	plan: Loaded<Plan>;
	/** The open questions of the run. */
	questions: run.InboxItem[];
}

export function PlanTab({ id, plan: { value: newest, problem, reload }, questions }: Props) {
	const shown = useShown(id, newest);
	const item = questions.find((one) => one.id === newest?.question);
	const gate = useGate(id, newest, item, reload);
	const changed = useChange(newest);
	const [draft, setDraft] = useState<PlanDraft | undefined>(() => readPlanDraft(id));
	const planning = problem?.status === 409;
	if (newest === undefined)
		return planning ? <Empty title="There is no plan yet."><p>{problem?.message}</p></Empty> : problem === undefined ? <Loading /> : <ProblemText problem={problem} />;
	const asks = newest.question !== undefined && shown.newest && !planning;
	const { plan } = shown;
	return (
		<section aria-labelledby="plan-title" data-plan={newest.revision}>
			<h2 id="plan-title">Plan <span class="count">{newest.total_tasks} tasks</span> {newest.approved_by !== undefined && <><Badge state="ok" /> <span class="muted" data-approved>approved by {newest.approved_by}</span></>}</h2>
			{planning ? <p class="banner" data-tone="wait" role="status">{problem?.message}</p> : <ProblemText problem={problem} />}
			{changed !== "" && <p class="banner" data-tone="wait" role="status" data-changed>{changed} <Link href={withQuery({ revision: null, changes: "1" })}>Show what changed</Link></p>}
			<ProblemText problem={gate.problem} />
			{draft !== undefined ? (
				<PlanEditor id={id} first={draft} close={() => {
					setDraft(undefined);
					void reload();
				}} />
			) : (
				<>
					{asks && <Answers gate={gate} plan={newest} item={item} edit={() => {
						dropPlanDraft(id);
						setDraft({ text: newest.markdown, revision: newest.revision });
					}} />}
					{newest.question !== undefined && !shown.newest && <p class="banner" data-tone="wait">This is not the revision that waits for approval. <Link href={withQuery({ revision: null })}>Show revision {newest.revision}</Link></p>}
					<ProblemText problem={shown.problem} />
					{plan === undefined && shown.problem === undefined && <Loading />}
					{plan !== undefined && <Revisions plan={plan} newest={newest} />}
					{plan !== undefined && <Text plan={plan} />}
				</>
			)}
		</section>
	);
}
