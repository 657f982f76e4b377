// The tasks of a pipeline: state, rounds, the last review, and the commit.
import { Badge, Empty } from "../parts/basic";
import { Link, withQuery } from "../route";
import type { Review, Task } from "./tasks";

function ReviewText({ review }: { review: Review | undefined }) {
	if (review === undefined)
		return <span class="muted">none yet</span>;
	if (review.approved === undefined)
		return <Link href={withQuery({ step: review.step })}>under way</Link>;
	return (
		<>
			<Link href={withQuery({ step: review.step })}>{review.approved ? "✓ approved" : "✗ changes wanted"}</Link>
			{review.severity !== "" && review.severity !== "none" && <span class="muted"> · {review.severity}</span>}
			{review.comments.length > 0 && <ul class="comments">{review.comments.map((comment, at) => <li key={at}>{comment}</li>)}</ul>}
		</>
	);
}

function Row({ task, phase }: { task: Task; phase: boolean }) {
	return (
		<>
			{phase && <tr class="phase"><th scope="rowgroup" colSpan={6}>{task.phase}</th></tr>}
			<tr data-task={task.number}>
				<td class="number">{task.number}</td>
				<th scope="row">{task.step === "" ? task.title : <Link href={withQuery({ step: task.step })}>{task.title}</Link>}</th>
				<td><Badge state={task.state} /></td>
				<td class="number">{task.rounds}</td>
				<td>{task.step === "" ? "" : <ReviewText review={task.review} />}</td>
				<td>{task.commit !== undefined && <Link href={withQuery({ tab: "files", commit: task.commit.commit, step: null })}><code>{task.commit.commit.slice(0, 7)}</code></Link>}</td>
			</tr>
		</>
	);
}

export function TaskList({ tasks }: { tasks: Task[] }) {
	if (tasks.length === 0)
		return <Empty title="No tasks yet."><p>They appear when there is a plan.</p></Empty>;
	const done = tasks.filter((task) => task.state === "succeeded").length;
	return (
		<section aria-labelledby="tasks-title">
			<h2 id="tasks-title">Tasks <span class="count">{done} of {tasks.length} approved</span></h2>
			<div class="wide">
				<table class="tasks" aria-labelledby="tasks-title">
					<thead>
						<tr>
							<th scope="col" class="number">No.</th>
							<th scope="col">Task</th>
							<th scope="col">State</th>
							<th scope="col" class="number">Reviews</th>
							<th scope="col">Last review</th>
							<th scope="col">Commit</th>
						</tr>
					</thead>
					<tbody>{tasks.map((task, at) => <Row key={at} task={task} phase={task.phase !== "" && task.phase !== tasks[at - 1]?.phase} />)}</tbody>
				</table>
			</div>
		</section>
	);
}
