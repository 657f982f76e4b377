// The steps of a run: paths, states, order.
import type { run } from "contract";

export type Step = run.OutlineStep;

/** The activation whose body contains the step; null = root.  The item of a map has no row. */
export const parentOf = (step: Step): string | null => step.within ?? null;

/** The name in a row: the last piece of the path, with the item of a map. */
export function nameOf(path: string): string {
	const cut = path.lastIndexOf("/");
	const item = cut < 0 ? null : /\[\d+\]$/.exec(path.slice(0, cut));
	return `${item === null ? "" : `${item[0]} `}${path.slice(cut + 1)}`;
}

/** The path of the step's node in the definition: without rounds and items. */
export const nodeOf = (path: string): string => path.replaceAll(/\[\d+\]|#\d+/g, "");

const FINAL = new Set(["succeeded", "failed", "skipped", "cancelled"]);

export const isFinal = (step: Step): boolean => FINAL.has(step.state);

/** The step without its round: what a retry or another round makes again. */
const placeOf = (path: string): string => path.replace(/#\d+$/, "");

/** For each step that ran again, in a retry or another round, the newest time; "" = this is it. */
export function newestOf(steps: Step[], path: string): string {
	const same = steps.filter((step) => placeOf(step.step) === placeOf(path));
	const newest = same[same.length - 1]?.step ?? path;
	return newest === path ? "" : newest;
}

/** The steps without those that ran again later, and without what was inside of those. */
export function currentOf(steps: Step[]): Step[] {
	const newest = new Map(steps.map((step) => [placeOf(step.step), step.step]));
	const old = new Set<string>();
	for (const step of steps)
		if (newest.get(placeOf(step.step)) !== step.step || old.has(parentOf(step) ?? ""))
			old.add(step.step);
	return old.size === 0 ? steps : steps.filter((step) => !old.has(step.step));
}

/** The steps that failed by themselves, not a body whose step failed, and did not run again. */
export function failuresOf(steps: Step[]): Step[] {
	const failed = currentOf(steps).filter((step) => step.state === "failed");
	const around = new Set(failed.map(parentOf));
	return failed.filter((step) => !around.has(step.step));
}

export interface Progress {
	/** Succeeded, or skipped by its condition. */
	done: number;
	failed: number;
	all: number;
}

/** Counts the steps that do something: not those that only contain others.  A step that failed is not
 * done, nor is one that was left out because of it. */
export function progressOf(steps: Step[]): Progress {
	const around = new Set(steps.map(parentOf));
	const all = currentOf(steps).filter((step) => !around.has(step.step));
	const done = all.filter((step) => step.state === "succeeded" || (step.state === "skipped" && step.error === "condition"));
	return { done: done.length, failed: failuresOf(steps).length, all: all.length };
}

/** How much an activation says about its node: a failure most, then what is open, then the newest. */
function weightOf(step: Step): number {
	return step.state === "failed" ? 3 : step.state === "waiting_human" ? 2 : isFinal(step) || step.state === "pending" ? 0 : 1;
}

/** For each node of the definition the activation that answers "what about it". */
export function activationsOf(steps: Step[]): Map<string, Step> {
	const best = new Map<string, Step>();
	for (const step of currentOf(steps)) {
		const node = nodeOf(step.step);
		const known = best.get(node);
		if (known === undefined || weightOf(step) > weightOf(known) || (weightOf(step) === 0 && weightOf(known) === 0))
			best.set(node, step);
	}
	return best;
}

export const durationOf = (step: Step): { started_at: string | null; completed_at: string | null; duration_ms: number | null } => {
	const [from, to] = [step.started_at ?? null, step.ended_at ?? null];
	return { started_at: from, completed_at: to, duration_ms: from === null || to === null ? null : Date.parse(to) - Date.parse(from) };
};
