// The parts of a pipeline's run: plan, tasks and files beside its steps.  Which part is shown is in the
// address.
import type { run } from "contract";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { get } from "../api";
import { isSettled, useLoaded } from "../data";
import { Loading, ProblemText } from "../parts/basic";
import { Question } from "../parts/question";
import { Link, usePlace, withQuery } from "../route";
import { Files } from "./files";
import { PlanTab } from "./plan";
import { TaskList } from "./task_list";
import { milestoneReader, tasksOf } from "./tasks";

export interface SectionsProps {
	id: string;
	outline: run.Outline;
	outputs: ReadonlyMap<string, unknown>;
	/** The open questions about a plan. */
	questions: run.InboxItem[];
	/** Calls back after each event of the run, until the result is called. */
	onEvent: (heard: () => void) => () => void;
	/** Everything else of the page. */
	children: ComponentChildren;
}

const WORDS = { plan: "Plan", tasks: "Tasks", files: "Files", steps: "Steps" } as const;
type Tab = keyof typeof WORDS;

/** The parts that the run has; the first one is shown unless the address names another. */
function tabOf(tabs: Tab[], query: URLSearchParams): Tab {
	const named = tabs.find((tab) => tab === query.get("tab"));
	return named ?? (query.get("failed") !== null ? "steps" : (tabs[0] ?? "steps"));
}

function Tabs({ tabs, chosen, notes }: { tabs: Tab[]; chosen: Tab; notes: Partial<Record<Tab, string>> }) {
	return (
		<nav class="tabs" aria-label="Parts of the run">
			{tabs.map((tab) => (
				<Link key={tab} href={withQuery({ tab, failed: null })} aria-current={tab === chosen ? "page" : undefined}>
					{WORDS[tab]}{notes[tab] !== undefined && <span class="count"> {notes[tab]}</span>}
				</Link>
			))}
		</nav>
	);
}

export function Sections({ id, outline, outputs, questions, onEvent, children }: SectionsProps) {
	const { query } = usePlace();
	const of = `/api/runs/${encodeURIComponent(id)}`;
	const plan = useLoaded((signal) => get<run.Plan>(`${of}/plan?diff`, signal), [id]);
	const files = useLoaded((signal) => get<run.Changes>(`${of}/files`, signal), [id]);
	const reader = useMemo(() => milestoneReader(id), [id]);
	const milestones = useLoaded(reader, [id]);
	useEffect(() => onEvent(() => {
		plan.soon();
		files.soon();
		milestones.soon();
	}), [id]);
	const tasks = useMemo(() => tasksOf(plan.value, milestones.value ?? [], outline.steps, outputs), [plan.value, milestones.value, outline.steps, outputs]);
	if (![plan, files, milestones].every(isSettled))
		return <Loading />;
	const planned = plan.problem?.status !== 404;
	const tabs: Tab[] = [...(planned ? ["plan", "tasks"] as const : tasks.length > 0 ? ["tasks"] as const : []), "files", "steps"];
	const chosen = planned || tasks.length > 0 ? tabOf(tabs, query) : tabOf(["steps", "files"], query);
	const done = tasks.filter((task) => task.state === "succeeded").length;
	const asks = plan.value?.question !== undefined;
	const notes = { ...(asks ? { plan: "waits for approval" } : {}), ...(tasks.length > 0 ? { tasks: `${done}/${tasks.length}` } : {}), ...(files.value === undefined ? {} : { files: String(files.value.files.length) }) };
	return (
		<>
			{!planned && questions.map((item) => <div class="waiting" key={item.id}><Question item={item} withRun={false} /></div>)}
			<Tabs tabs={tabs} chosen={chosen} notes={notes} />
			<div class="tab" data-tab={chosen}>
				{chosen === "plan" && <PlanTab id={id} plan={plan} questions={questions} />}
				{chosen === "tasks" && <><ProblemText problem={milestones.problem} /><TaskList tasks={tasks} /></>}
				{chosen === "files" && <Files id={id} all={files.value} problem={files.value === undefined ? files.problem : undefined} tasks={tasks} />}
				{chosen === "steps" && children}
			</div>
		</>
	);
}
