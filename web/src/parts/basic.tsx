// Components that all pages use.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { useNow, type Doing } from "../data";
import { usePlace } from "../route";
import { durationText, elapsedText, pretty, timeText } from "../words";

// ---- states --------------------------------------------------------------------------------

/** Shape and tone of each state; an unknown state is shown without a tone. */
const STATES: Record<string, [shape: string, tone: string]> = {
	pending: ["○", "idle"],
	paused: ["‖", "wait"],
	retrying: ["↻", "wait"],
	queued: ["○", "idle"],
	running: ["◐", "busy"],
	with_issues: ["◆", "wait"],
	waiting_human: ["◆", "wait"],
	succeeded: ["✓", "good"],
	ok: ["✓", "good"],
	healthy: ["✓", "good"],
	failed: ["✗", "bad"],
	down: ["✗", "bad"],
	unhealthy: ["✗", "bad"],
	degraded: ["◆", "wait"],
	skipped: ["–", "idle"],
	cancelled: ["⊘", "idle"],
	active: ["●", "good"],
	revoked: ["⊘", "idle"],
	debug: ["·", "idle"],
	info: ["i", "idle"],
	warning: ["!", "wait"],
	error: ["✗", "bad"],
};

export const shapeOf = (state: string): [shape: string, tone: string] => STATES[state] ?? ["?", "raw"];

/** Color is never the only sign: every state has a shape and a word. */
export function Badge({ state }: { state: string }) {
	const [shape, tone] = shapeOf(state);
	return (
		<span class="badge" data-tone={tone} data-state={state}>
			<span class="shape" aria-hidden="true">{shape}</span> {state}
		</span>
	);
}

// ---- values --------------------------------------------------------------------------------

export function Time({ at }: { at: string | null | undefined }) {
	const date = new Date(at ?? NaN);
	if (Number.isNaN(date.getTime()))
		return <span>{at ?? ""}</span>;
	return <time dateTime={at ?? ""} title={date.toString()}>{timeText(date)}</time>;
}

interface Spanned {
	started_at: string | null;
	completed_at: string | null;
	duration_ms: number | null;
}

/** The duration, or the time since the start. */
export function Duration({ of }: { of: Spanned }) {
	const growing = of.duration_ms === null && of.started_at !== null && of.completed_at === null;
	const now = useNow(growing ? 1000 : null);
	if (growing)
		return <>{elapsedText(of.started_at ?? "", now)}</>;
	return <>{of.duration_ms === null ? "" : durationText(of.duration_ms)}</>;
}

/** A value as text, never as markup. */
export function Json({ value, label }: { value: unknown; label: string }) {
	return <pre tabIndex={0} role="group" aria-label={label}>{pretty(value)}</pre>;
}

// ---- messages ------------------------------------------------------------------------------

export function ProblemText({ problem, withPlaces = true }: { problem: Problem | undefined; withPlaces?: boolean }) {
	if (problem === undefined)
		return null;
	return (
		<div class="problem" role="alert">
			<p>{problem.message} <code class="code">{problem.code}</code></p>
			{withPlaces && problem.places.length > 0 && (
				<ul>
					{problem.places.map((place, at) => (
						<li key={at}>
							<code>{place.pointer || "/"}</code>
							{place.line !== undefined && <span class="muted"> line {place.line}:{place.column}</span>} {place.text}
						</li>
					))}
				</ul>
			)}
		</div>
	);
}

/** An empty state: says that there is nothing, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<p class="empty-title">{title}</p>
			{children}
		</div>
	);
}

export const Loading = () => <p class="muted" role="status">Loading …</p>;

// ---- actions -------------------------------------------------------------------------------

interface ActionProps {
	doing: Doing;
	children: ComponentChildren;
	/** Label while the action is running. */
	busy?: string;
	tone?: "main" | "good" | "bad";
	disabled?: boolean;
	submit?: boolean;
	label?: string;
}

/** A button with its pending state; the owner of `doing` shows the problem. */
export function Action({ doing, children, busy = "Working …", tone, disabled = false, submit = false, label }: ActionProps) {
	return (
		<button
			type={submit ? "submit" : "button"}
			class="action"
			data-tone={tone}
			disabled={disabled || doing.pending}
			aria-busy={doing.pending}
			aria-label={label}
			onClick={submit ? undefined : () => void doing.start()}
		>
			{doing.pending ? busy : children}
		</button>
	);
}

// ---- pages ---------------------------------------------------------------------------------

interface PageProps {
	title: string;
	/** Next to the heading. */
	aside?: ComponentChildren;
	children?: ComponentChildren;
}

/** A page with its heading, which takes the focus after a navigation, as in a new document. */
export function Page({ title, aside, children }: PageProps) {
	const heading = useRef<HTMLHeadingElement>(null);
	const { path, moves } = usePlace();
	const where = path.join("/");
	useEffect(() => {
		if (moves > 0)
			heading.current?.focus();
	}, [where]);
	return (
		<>
			<div class="headline">
				<h1 tabIndex={-1} ref={heading}>{title}</h1>
				{aside}
			</div>
			{children}
		</>
	);
}
