// The tasks of a pipeline, from its plan and its milestones: the events of the pipeline vocabulary.
import type { pipeline, run } from "contract";
import { get } from "../api";
import type { Step } from "../steps";

type Event = pipeline.WorkflowEvent;
type Values = { [name: string]: unknown };

const TYPES = "task_started,task_completed,task_failed,review_requested,review_completed";

export interface Review {
	step: string;
	/** Absent while the reviewers work. */
	approved?: boolean;
	severity: string;
	comments: string[];
}

export interface Commit {
	commit: string;
	/** "" = none. */
	parent: string;
}

export interface Task {
	number: string;
	title: string;
	phase: string;
	/** pending, running, succeeded, with_issues (not approved), or the state of its step. */
	state: string;
	/** The step of its first round; "" = it has not begun. */
	step: string;
	rounds: number;
	review: Review | undefined;
	commit: Commit | undefined;
}

interface EventList {
	items: Event[];
	cursor: string | null;
}

/** A reader of the run's milestones: each call returns all of them and asks only for those that are new. */
export function milestoneReader(id: string): (signal: AbortSignal) => Promise<Event[]> {
	let known: Event[] = [];
	return async (signal) => {
		const items = [...known];
		let after: string | null = String(known[known.length - 1]?.sequence ?? 0);
		while (after !== null) {
			const answer: EventList = await get<EventList>(`/api/runs/${encodeURIComponent(id)}/events?view=pipeline&limit=1000&type=${TYPES}&after=${after}`, signal);
			items.push(...answer.items);
			after = answer.cursor;
		}
		return (known = items);
	};
}

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The output of a review step is the review, or has it as its member verdict. */
function reviewOf(event: Event, data: Values): Review {
	const result = isValues(data["result"]) ? data["result"] : {};
	const verdict = isValues(result["verdict"]) ? result["verdict"] : result;
	const comments = Array.isArray(verdict["comments"]) ? verdict["comments"].filter((one): one is string => typeof one === "string") : [];
	return { step: textOf(data["step"]), severity: textOf(verdict["severity"]), comments, ...(event.event_type === "review_completed" ? { approved: data["passed"] === true } : {}) };
}

/** The steps around a task that make its commit are beside it. */
function commitOf(task: string, steps: Step[], outputs: ReadonlyMap<string, unknown>): Commit | undefined {
	const around = task.slice(0, Math.max(0, task.lastIndexOf("/")));
	const made = steps.filter((step) => around !== "" && step.agent === "git_commit" && step.step.startsWith(`${around}/`)).map((step) => outputs.get(step.step));
	const whole = outputs.get(around);
	const found = [...made, isValues(whole) ? whole["commit"] : undefined].find((output) => isValues(output) && typeof output["commit"] === "string");
	return isValues(found) ? { commit: textOf(found["commit"]), parent: textOf(found["parent"]) } : undefined;
}

function stateOf(task: Task, steps: Step[]): string {
	const own = steps.filter((step) => step.step.replace(/#\d+$/, "") === task.step.replace(/#\d+$/, ""));
	const newest = own[own.length - 1]?.state ?? "";
	if (task.state === "with_issues")
		return newest === "failed" || newest === "cancelled" ? newest : task.state;
	return task.state === "running" && (newest === "failed" || newest === "cancelled") ? newest : task.state;
}

/** Whether the step is in a round of the task whose first round this is. */
function isWithin(step: string, task: string): boolean {
	const base = task.replace(/#\d+$/, "");
	return base !== "" && step.startsWith(base) && /^[/#[]/.test(step.slice(base.length));
}

export function tasksOf(plan: run.Plan | undefined, events: Event[], steps: Step[], outputs: ReadonlyMap<string, unknown>): Task[] {
	const blank = (number: string, title: string, phase: string): Task => ({ number, title, phase, state: "pending", step: "", rounds: 0, review: undefined, commit: undefined });
	const tasks = (plan?.tasks ?? []).map((task) => blank(task.number, task.title, task.phase ?? ""));
	for (const event of events) {
		const data: Values = event.data ?? {};
		const index = Number(data["task_index"]);
		const current = event.event_type.startsWith("review_") ? tasks.find((task) => isWithin(textOf(data["step"]), task.step)) : tasks[index];
		if (event.event_type === "task_started" && Number.isInteger(index) && index >= 0) {
			const known = tasks[index];
			tasks[index] = { ...blank(known?.number ?? String(index + 1), textOf(data["task_title"]) || (known?.title ?? ""), known?.phase ?? ""), state: "running", step: textOf(data["step"]) };
		} else if (current !== undefined && event.event_type.startsWith("review_")) {
			current.review = reviewOf(event, data);
			current.rounds += event.event_type === "review_requested" ? 1 : 0;
		} else if (current !== undefined && event.event_type.startsWith("task_")) {
			// A task whose rounds were used up is over, but its last review did not approve it.
			current.state = data["passed"] === true && current.review?.approved !== false ? "succeeded" : "with_issues";
		}
	}
	return tasks.map((task) => (task.step === "" ? task : { ...task, state: stateOf(task, steps), commit: commitOf(task.step, steps, outputs) }));
}
