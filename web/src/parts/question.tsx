// A question to a person, and the answer.  The answer is bound to the revision that was shown.
import type { run } from "contract";
import { useEffect, useState } from "preact/hooks";
import { ask, Problem } from "../api";
import { useDoing } from "../data";
import { inbox, outcomeOf } from "../inbox";
import { href, Link } from "../route";
import { shortId } from "../words";
import { Action, Json, ProblemText, Time } from "./basic";

/** The refusal in words that help: who has answered what, where somebody has. */
async function explained(item: run.InboxItem, problem: Problem): Promise<Problem> {
	if (problem.status !== 409 && problem.status !== 404)
		return problem;
	const outcome = await outcomeOf(item).catch(() => null);
	return outcome === null ? problem : new Problem(problem.status, problem.code, outcome, []);
}

/** An item that somebody else has answered stays until the reader has seen the outcome. */
export function Question({ item, withRun }: { item: run.InboxItem; withRun: boolean }) {
	const [comment, setComment] = useState("");
	const answer = async (decision: run.Decision) => {
		const body: run.InboxAnswer = { decision, revision: item.revision };
		if (comment !== "")
			body.comment = comment;
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
	};
	// Half-written words must not vanish because somebody else was faster.
	useEffect(() => {
		inbox.hold(item.id, comment !== "");
		return () => inbox.hold(item.id, false);
	}, [item.id, comment !== ""]);
	const approve = useDoing(() => inbox.whileAnswering(item.id, () => answer("approve")));
	const reject = useDoing(() => inbox.whileAnswering(item.id, () => answer("reject")));
	const pending = approve.pending || reject.pending;
	const over = inbox.outcome(item.id);
	return (
		<article class="question" aria-label={item.question} data-question={item.id}>
			<p class="question-text">{item.question}</p>
			<p class="muted">
				{withRun && <><Link href={href("runs", item.run_id)} data-row>run {shortId(item.run_id)}</Link> · </>}
				{item.step} · asked <Time at={item.asked_at} />
			</p>
			{item.inputs !== null && item.inputs !== undefined && (
				<details>
					<summary>What it is about</summary>
					<Json value={item.inputs} label="What the question is about" />
				</details>
			)}
			{over !== undefined ? (
				<div class="problem" role="alert">
					<p>{over}</p>
					<button type="button" class="action" onClick={() => inbox.answered(item.id)}>Dismiss</button>
				</div>
			) : (
				<fieldset disabled={pending}>
					<legend class="hidden">Your answer</legend>
					<label>
						Comment <span class="muted">(optional)</span>
						<textarea rows={2} maxLength={8192} value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
					</label>
					<Action doing={approve} tone="good" busy="Approving …">Approve</Action>
					<Action doing={reject} tone="bad" busy="Rejecting …">Reject</Action>
					<ProblemText problem={approve.problem ?? reject.problem} />
				</fieldset>
			)}
		</article>
	);
}
