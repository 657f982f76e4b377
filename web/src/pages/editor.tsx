// The editor of a workflow: text, problems, and the graph beside it.
//
// A change is checked by the server, one request at a time: while one is under way, further changes
// wait for its answer.  Unsaved text is kept in localStorage and offered when the page is opened
// again.  A save names the text that was edited; if another one is current, the person chooses.
import type { run, runtime } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing } from "../data";
import { propose, type Names } from "../editor/complete";
import type { Editor, Fix, Mark } from "../editor/view";
import { Action, Loading, Page, ProblemText, Time } from "../parts/basic";
import { Diff } from "../parts/diff";
import { WorkflowGraph } from "../parts/graph";
import { go, href, Link, usePlace } from "../route";
import { schemas } from "../schema";
import { keepWorkflowDraft, readWorkflowDraft, type WorkflowDraft } from "../workflow_draft";

const FIRST = `name: my-workflow
description: What it does, in one sentence.
inputs:
  who: {type: string, default: world}
steps:
  - name: greet
    tool: echo
    inputs: {text: "Hello, \${inputs.who}!"}
outputs:
  text: {from: "\${steps.greet.outputs.text}"}
`;

const pathOf = (name: string): string => `/api/workflows/${encodeURIComponent(name)}`;
const nameIn = (text: string): string => /^name: *["']?([^"'\s#]+)/m.exec(text)?.[1] ?? "";

/** What the server knows by name; read once per page. */
async function readNames(): Promise<Names> {
	const nothing = () => undefined;
	const [tools, agents, workflows] = await Promise.all([
		get<run.ToolList>("/api/tools").catch(nothing),
		get<run.AgentPage>("/api/agents?view=run&limit=1000").catch(nothing),
		get<runtime.ListWorkflowsResponse>("/api/workflows").catch(nothing),
	]);
	return {
		tools: (tools?.items ?? []).map((tool) => ({ label: tool.name, info: tool.text, ...(tool.trusted ? {} : { detail: "not trusted" }) })),
		agents: (agents?.items ?? []).map((agent) => ({ label: agent.name, detail: agent.role })),
		workflows: (workflows?.workflows ?? []).map((label) => ({ label })),
	};
}

interface Checked {
	/** The text that was checked. */
	text: string;
	marks: Mark[];
	dag: runtime.DAGResponse | undefined;
	valid: boolean;
}

const markOf = (severity: Mark["severity"]) => ({ line, column, end_line, end_column, message, text, fix }: runtime.WorkflowProblem): Mark => ({
	text: message ?? text, severity,
	...(line === undefined || column === undefined ? {} : { range: { line, column, end_line: end_line ?? line, end_column: end_column ?? column } }),
	...(fix === undefined ? {} : { fix }),
});

const marksOf = (answer: runtime.WorkflowValidationResponse): Mark[] =>
	[...(answer.problems ?? []).map(markOf("error")), ...(answer.warning_problems ?? []).map(markOf("warning"))];

/** The problems and the graph of the newest text that the server has seen. */
function useCheck(name: string): { checked: Checked | undefined; problem: Problem | undefined; check: (text: string) => void; busy: boolean } {
	const [state, setState] = useState<{ checked?: Checked; problem?: Problem; busy: boolean }>({ busy: false });
	const running = useRef(false);
	const waiting = useRef<string | null>(null);
	const check = (text: string): void => {
		if (running.current) {
			waiting.current = text;
			return;
		}
		running.current = true;
		setState((old) => ({ ...old, busy: true }));
		const body = { name: name === "" ? nameIn(text) : name, yaml_content: text };
		ask<runtime.WorkflowValidationResponse>("/api/workflows/validate?dag", { method: "POST", body }).then(
			// The last graph stays while the text has an error.
			({ body: answer }) => setState((old) => ({ busy: waiting.current !== null, checked: { text, marks: marksOf(answer), valid: answer.is_valid, dag: answer.dag ?? old.checked?.dag } })),
			(cause: unknown) => cause instanceof Problem && setState((old) => ({ ...old, busy: false, problem: cause })),
		).finally(() => {
			running.current = false;
			const next = waiting.current;
			waiting.current = null;
			if (next !== null)
				check(next);
		});
	};
	return { checked: state.checked, problem: state.problem, check, busy: state.busy };
}

interface Conflict {
	diff: string;
	etag: string;
}

interface Source {
	text: string;
	/** "" = a new workflow. */
	etag: string;
}

/** A message with its choices, above the text. */
function Offer({ draft, take, drop }: { draft: WorkflowDraft; take: () => void; drop: () => void }) {
	return (
		<div class="banner" data-tone="wait" data-offer role="status">
			<span>You have unsaved text of <Time at={draft.at} />.</span>
			<span class="actions"><button type="button" class="action" onClick={take}>Continue with it</button><button type="button" class="action quiet" onClick={drop}>Discard it</button></span>
		</div>
	);
}

function ConflictBox({ conflict, overwrite, take, close }: { conflict: Conflict; overwrite: () => void; take: () => void; close: () => void }) {
	return (
		<section class="conflict" role="alertdialog" aria-labelledby="conflict-title" data-conflict>
			<h2 id="conflict-title">Another person has saved this workflow</h2>
			<p>This is what your text would change in the text that is current now.</p>
			<Diff text={conflict.diff} />
			<p class="actions">
				<button type="button" class="action" data-tone="bad" onClick={overwrite}>Save my text anyway</button>
				<button type="button" class="action" onClick={take}>Discard my text and take theirs</button>
				<button type="button" class="action quiet" onClick={close}>Continue editing</button>
			</p>
		</section>
	);
}

function Problems({ marks, goTo, apply }: { marks: Mark[]; goTo: (mark: Mark) => void; apply: (fix: Fix) => void }) {
	return (
		<ul class="editor-problems" aria-label="Problems">
			{marks.map((mark, at) => (
				<li key={at} data-severity={mark.severity}>
					<button type="button" class="action quiet" onClick={() => goTo(mark)}>
						{mark.severity === "error" ? "✗" : "! warning:"} {mark.range === undefined ? "" : `line ${mark.range.line}: `}{mark.text}
					</button>
					{mark.fix !== undefined && <button type="button" class="action" data-fix onClick={() => mark.fix !== undefined && apply(mark.fix)}>Fix: {mark.fix.title}</button>}
				</li>
			))}
		</ul>
	);
}

function EditorForm({ name, source }: { name: string; source: Source }) {
	const place = useRef<HTMLDivElement>(null);
	const editor = useRef<Editor | null>(null);
	const [base, setBase] = useState(source);
	const [text, setText] = useState(source.text);
	const [offer, setOffer] = useState(() => readWorkflowDraft(name));
	const [conflict, setConflict] = useState<Conflict | undefined>();
	const [saved, setSaved] = useState<number | undefined>();
	const [ready, setReady] = useState(false);
	const { checked, problem: checkProblem, check, busy } = useCheck(name);
	const now = useRef({ base, name });
	now.current = { base, name };

	const changed = (typed: string) => {
		setText(typed);
		setSaved(undefined);
		check(typed);
		const dirty = typed !== now.current.base.text;
		keepWorkflowDraft(name, dirty ? { text: typed, etag: now.current.base.etag, at: new Date().toISOString() } : undefined);
	};
	const save = async (etag: string) => {
		const target = name === "" ? nameIn(text) : name;
		if (target === "")
			throw new Problem(0, "invalid", "Give the workflow a name: its first line is name: NAME.", []);
		const headers: Record<string, string> = etag === "" ? { "If-None-Match": "*" } : { "If-Match": etag };
		try {
			const { body } = await ask<runtime.WorkflowEditorResponse>(pathOf(target), { method: "PUT", headers, body: { name: target, yaml_content: text } });
			keepWorkflowDraft(name, undefined);
			setOffer(undefined);
			setConflict(undefined);
			setBase({ text, etag: body.etag ?? "" });
			setSaved(body.version ?? 0);
			if (name === "")
				go(href("workflows", target));
		} catch (cause) {
			if (!(cause instanceof Problem) || cause.status !== 412 || cause.diff === undefined)
				throw cause;
			setConflict({ diff: cause.diff, etag: cause.etag ?? "" });
		}
	};
	const saving = useDoing(() => save(base.etag));
	const start = useRef(saving.start);
	start.current = saving.start;
	useEffect(() => {
		let gone = false;
		const names = readNames();
		void Promise.all([import("../editor/view"), schemas()]).then(([{ openEditor }, all]) => {
			if (gone || place.current === null)
				return;
			editor.current = openEditor(place.current, {
				text: source.text,
				label: "Definition",
				changed,
				save: () => void start.current(),
				propose: async (typed, at) => propose(all, await names, typed, at),
			});
			setReady(true);
			check(source.text);
		});
		return () => {
			gone = true;
			editor.current?.close();
			editor.current = null;
		};
	}, []);
	useEffect(() => editor.current?.setMarks(checked?.marks ?? [], checked?.text ?? ""), [checked]);
	const replace = (to: string) => editor.current?.setText(to);
	const drop = () => {
		keepWorkflowDraft(name, undefined);
		setOffer(undefined);
	};
	const takeTheirs = async () => {
		const theirs = await get<runtime.WorkflowEditorResponse>(`${pathOf(name)}/editor`);
		setBase({ text: theirs.yaml_content, etag: theirs.etag ?? "" });
		now.current.base = { text: theirs.yaml_content, etag: theirs.etag ?? "" };
		setConflict(undefined);
		replace(theirs.yaml_content);
		drop();
	};
	const dirty = text !== base.text;
	const errors = checked?.marks.filter((mark) => mark.severity === "error").length ?? 0;
	const warnings = (checked?.marks.length ?? 0) - errors;
	return (
		<div class="editor" data-ready={ready} data-dirty={dirty} data-checked={!busy && checked !== undefined} data-errors={errors}>
			{offer !== undefined && offer.text !== text && (
				<Offer draft={offer} drop={drop} take={() => {
					setBase((old) => ({ text: old.text, etag: offer.etag }));
					now.current.base = { text: base.text, etag: offer.etag };
					replace(offer.text);
					setOffer(undefined);
				}} />
			)}
			{conflict !== undefined && (
				<ConflictBox conflict={conflict} close={() => setConflict(undefined)} take={() => void takeTheirs()}
					overwrite={() => void save(conflict.etag)} />
			)}
			<div class="editor-panes">
				<div class="editor-text" ref={place} />
				<div class="editor-side">
					{checked?.dag !== undefined && <WorkflowGraph dag={checked.dag} />}
					{checked !== undefined && !checked.valid && checked.dag !== undefined && <p class="muted">The graph is that of the last text without errors.</p>}
				</div>
			</div>
			<p class="editor-state" role="status">
				{checked === undefined ? "" : errors === 0 ? "✓ no errors" : `✗ ${errors === 1 ? "one error" : `${errors} errors`}`}
				{warnings > 0 && ` · ${warnings === 1 ? "one warning" : `${warnings} warnings`}`}
				{saved !== undefined && saved > 0 && ` · saved as version ${saved}`}
				{dirty && " · not saved"}
			</p>
			<Problems marks={checked?.marks ?? []} goTo={(mark) => editor.current?.goTo(mark)} apply={(fix) => editor.current?.apply(fix)} />
			<ProblemText problem={checkProblem} />
			<ProblemText problem={saving.problem} />
			<p class="actions">
				<Action doing={saving} tone="main" busy="Saving …" disabled={!dirty && name !== ""}>Save</Action>
				{name !== "" && <Link class="action" href={href("workflows", name)}>Back to {name}</Link>}
			</p>
		</div>
	);
}

async function readSource(name: string, version: string | null): Promise<Source> {
	if (name === "")
		return { text: FIRST, etag: "" };
	const current = await get<runtime.WorkflowEditorResponse>(`${pathOf(name)}/editor`);
	if (version === null)
		return { text: current.yaml_content, etag: current.etag ?? "" };
	const old = await get<runtime.WorkflowVersion>(`${pathOf(name)}/versions/${encodeURIComponent(version)}`);
	return { text: old.yaml_content ?? "", etag: current.etag ?? "" };
}

export function EditorPage({ name }: { name: string }) {
	const { query } = usePlace();
	const [state, setState] = useState<{ source?: Source; problem?: Problem }>({});
	const version = query.get("version");
	useEffect(() => {
		// Read once: a reconnect must not discard what was typed.
		readSource(name, version).then((source) => setState({ source }), (cause: unknown) => cause instanceof Problem && setState({ problem: cause }));
	}, [name, version]);
	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={href("workflows")}>Workflows</Link></nav>
			<Page title={name === "" ? "New workflow" : `Edit ${name}`}>
				<ProblemText problem={state.problem} />
				{state.source === undefined && state.problem === undefined && <Loading />}
				{state.source !== undefined && <EditorForm key={`${name} ${version}`} name={name} source={state.source} />}
			</Page>
		</>
	);
}
