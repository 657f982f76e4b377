// The workflows, and one of them: its graph, versions, newest runs, and the links that start and edit it.
import type { runtime } from "contract";
import { useState } from "preact/hooks";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { listKeys, useKeys } from "../keys";
import { Action, Badge, Empty, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Diff } from "../parts/diff";
import { WorkflowGraph } from "../parts/graph";
import { go, goQuery, href, Link, usePlace } from "../route";
import { readWorkflows } from "../workflows";

const SOURCES: Record<string, string> = {
	stored: "saved",
	file: "file of the data folder",
	project: "trusted project",
	packed: "built in",
};

export const sourceText = (source: string | undefined): string => SOURCES[source ?? ""] ?? source ?? "";

const pathOf = (name: string, rest = ""): string => `/api/workflows/${encodeURIComponent(name)}${rest}`;

export function WorkflowsPage() {
	const { value, problem } = useLoaded(readWorkflows, [], (event) => event.event_type.startsWith("workflow_"));
	useKeys(listKeys("workflow"));
	return (
		<Page title="Workflows" aside={<Link class="action" href={href("editor")}>New workflow</Link>}>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No workflow yet."><p>A workflow is a YAML text that says which steps run in which order.</p></Empty>}
			<ul class="workflows">
				{value?.items.map((item) => (
					<li key={item.name} data-workflow={item.name}>
						<div class="workflow-name">
							<Link href={href("workflows", item.name)} data-row>{item.name}</Link>
							<span class="muted">{sourceText(item.source)}{item.version !== undefined && `, version ${item.version}`}</span>
						</div>
						<p>{item.problem === undefined ? item.description : <span class="wrong">✗ {item.problem}</span>}</p>
						<span class="workflow-runs">
							{item.recent_runs?.slice(0, 1).map((one) => <Link key={one.run_id} href={href("runs", one.run_id)} aria-label={`Run ${one.run_id}: ${one.state}`}><Badge state={one.state} /></Link>)}
						</span>
					</li>
				))}
			</ul>
			{value?.more && <p class="muted">There are more workflows than are listed here.</p>}
		</Page>
	);
}

// ---- one workflow --------------------------------------------------------------------------

function Versions({ name, current }: { name: string; current: number | undefined }) {
	const { query } = usePlace();
	const chosen = Number(query.get("version") ?? "0");
	const { value, problem } = useLoaded((signal) => get<runtime.WorkflowVersions>(pathOf(name, "/versions?limit=100"), signal), [name, current]);
	const at = value?.versions.findIndex((one) => one.version === chosen) ?? -1;
	const before = at < 0 ? undefined : value?.versions[at + 1]?.version;
	const shown = useLoaded(
		async (signal) => (at < 0 ? undefined : get<runtime.WorkflowVersion>(pathOf(name, `/versions/${chosen}${before === undefined ? "" : `?diff=${before}`}`), signal)),
		[name, chosen, before],
	);
	if (value?.versions.length === 0)
		return null;
	return (
		<section aria-labelledby="versions-title">
			<h2 id="versions-title">Versions</h2>
			<ProblemText problem={problem} />
			<ul class="versions">
				{value?.versions.map((one) => (
					<li key={one.version} data-version={one.version}>
						<button type="button" class="action quiet" aria-pressed={one.version === chosen} onClick={() => goQuery({ version: one.version === chosen ? null : String(one.version) })}>
							version {one.version}
						</button>
						<Time at={one.saved_at} /> <span>{one.saved_by}</span>
						<span class="muted">{one.current ? "current" : one.deleted ? "deleted" : ""}</span>
					</li>
				))}
			</ul>
			{value?.cursor != null && <p class="muted">Older versions are not listed here.</p>}
			<ProblemText problem={shown.problem} />
			{shown.value !== undefined && shown.value.version === chosen && (
				<div class="version-text">
					<p class="muted">{before === undefined ? `The text of version ${chosen}` : `What version ${chosen} changed since version ${before}`}</p>
					{shown.value.diff === undefined ? <pre tabIndex={0}>{shown.value.yaml_content}</pre> : <Diff text={shown.value.diff} />}
					{!shown.value.current && !shown.value.deleted && <Link class="action" href={href("editor", name, { version: String(chosen) })}>Edit a copy of version {chosen}</Link>}
				</div>
			)}
		</section>
	);
}

function Delete({ workflow }: { workflow: runtime.WorkflowDetail }) {
	const [sure, setSure] = useState(false);
	const deleting = useDoing(async () => {
		await ask(pathOf(workflow.name), { method: "DELETE", headers: { "If-Match": workflow.etag } });
		go(href("workflows"));
	});
	if (workflow.source !== "stored")
		return null;
	return (
		<p class="actions">
			{sure
				? <><Action doing={deleting} tone="bad" busy="Deleting …">Delete {workflow.name}</Action><button type="button" class="action" onClick={() => setSure(false)}>Keep it</button></>
				: <button type="button" class="action quiet" onClick={() => setSure(true)}>Delete …</button>}
			<ProblemText problem={deleting.problem} />
		</p>
	);
}

function Facts({ workflow }: { workflow: runtime.WorkflowDetail }) {
	const { source, version, saved_at, saved_by, path, shadows = [] } = workflow;
	return (
		<dl class="facts">
			<div><dt>Source</dt><dd>{sourceText(source)}{path !== undefined && <> <code>{path}</code></>}</dd></div>
			{version !== undefined && <div><dt>Version</dt><dd>{version}, <Time at={saved_at} /> by {saved_by}</dd></div>}
			{shadows.length > 0 && <div><dt>Shadows</dt><dd>{shadows.map(sourceText).join(", ")}</dd></div>}
			<div><dt>Inputs</dt><dd>{workflow.inputs.map((input) => input.name).join(", ") || "none"}</dd></div>
		</dl>
	);
}

type Criterion = { name?: unknown; definition?: unknown; weight?: unknown };

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));

/** What the author says about the workflow; nothing runs differently because of it. */
function Declared({ workflow }: { workflow: runtime.WorkflowDetail }) {
	const { capabilities, evaluation } = workflow;
	const criteria = listOf(evaluation?.criteria) as Criterion[];
	if (capabilities === undefined && evaluation === undefined)
		return null;
	return (
		<section aria-labelledby="declared-title">
			<h2 id="declared-title">Declared by its author</h2>
			<dl class="facts">
				{Object.entries(capabilities ?? {}).map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{Array.isArray(value) ? value.map(textOf).join(", ") : textOf(value)}</dd></div>)}
				{evaluation !== undefined && <div><dt>evaluation</dt><dd>{textOf(evaluation.rubric_id) || textOf(evaluation.scoring_profile) || `${criteria.length} criteria`}</dd></div>}
			</dl>
			<ul class="versions">
				{criteria.map((one, index) => <li key={index}>{textOf(one.name)}{one.weight !== undefined && `, weight ${textOf(one.weight)}`}{one.definition !== undefined && <>: {textOf(one.definition)}</>}</li>)}
			</ul>
		</section>
	);
}

export function WorkflowPage({ name }: { name: string }) {
	const { value, problem } = useLoaded((signal) => get<runtime.WorkflowDetail>(pathOf(name), signal), [name], (event) => event.event_type.startsWith("workflow_"));
	const graph = useLoaded((signal) => get<runtime.DAGResponse>(pathOf(name, "/dag"), signal), [name, value?.etag]);
	const aside = value !== undefined && (
		<span class="actions">
			{value.problem === undefined && <Link class="action" data-tone="main" href={href("runs", "new", { workflow: name })}>Start a run</Link>}
			<Link class="action" href={href("editor", name)}>Edit</Link>
		</span>
	);
	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={href("workflows")}>Workflows</Link></nav>
			<Page title={name} aside={aside}>
				<ProblemText problem={problem} />
				{value === undefined && problem === undefined && <Loading />}
				{value?.description !== undefined && <p>{value.description}</p>}
				{value?.problem !== undefined && <p class="problem" role="status">This workflow cannot be started: {value.problem}</p>}
				{value !== undefined && <Facts workflow={value} />}
				{value !== undefined && <Declared workflow={value} />}
				{graph.value !== undefined && (
					<section aria-labelledby="graph-title">
						<h2 id="graph-title">Graph</h2>
						<WorkflowGraph dag={graph.value} />
					</section>
				)}
				{value !== undefined && (
					<section aria-labelledby="runs-title">
						<h2 id="runs-title">Newest runs</h2>
						{value.recent_runs.length === 0 && <p class="muted">No run yet.</p>}
						<ul class="versions">
							{value.recent_runs.map((one) => (
								<li key={one.run_id} data-run={one.run_id}><Badge state={one.state} /> <Link href={href("runs", one.run_id)}>{one.run_id.slice(0, 8)}</Link> <Time at={one.started_at} /></li>
							))}
						</ul>
						{value.recent_runs.length > 0 && <p><Link href={href("runs", { workflow: name })}>All runs of this workflow</Link></p>}
					</section>
				)}
				{value !== undefined && <Versions name={name} current={value.version} />}
				{value !== undefined && (
					<details>
						<summary>Text</summary>
						<pre tabIndex={0} aria-label="The definition">{value.yaml_content}</pre>
					</details>
				)}
				{value !== undefined && <Delete workflow={value} />}
			</Page>
		</>
	);
}
