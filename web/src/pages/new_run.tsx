// Starts a run: the workflow, and a form of the inputs that it declares.  The browser generates the
// run's id, so that a start whose response was lost can be repeated without starting a second run.
import type { run, runtime } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing, useLoaded } from "../data";
import { keepDraft, readDraft } from "../draft";
import { Action, Loading, Page, ProblemText } from "../parts/basic";
import { Fields, placesElsewhere, placesIn } from "../parts/form";
import { Places, textPlaces } from "../parts/places";
import { ProfilePicker } from "../parts/profile_picker";
import { go, goQuery, href, usePlace } from "../route";
import { pretty, readJson } from "../words";
import { formOf, readWorkflows, type Workflow } from "../workflows";

type Inputs = { [name: string]: unknown };

/** What was typed for a workflow; `text` is not null while the inputs are edited as JSON. */
interface Draft {
	inputs: Inputs;
	text: string | null;
	/** name=value, separated by commas or lines. */
	labels?: string;
	/** "" or absent = the active one. */
	profile?: string;
}

/** A piece without "=" is a label without a value: the server says what is wrong with it. */
function readLabels(text: string): { [name: string]: string } {
	const pieces = text.split(/[,\n]/).map((piece) => piece.trim()).filter((piece) => piece !== "");
	return Object.fromEntries(pieces.map((piece) => {
		const at = piece.indexOf("=");
		return at < 0 ? [piece, ""] : [piece.slice(0, at).trim(), piece.slice(at + 1).trim()];
	}));
}

const isObject = (value: unknown): value is Inputs => typeof value === "object" && value !== null && !Array.isArray(value);

function readInputs(text: string): { value: Inputs; wrong: string | undefined } {
	const { value, wrong } = text.trim() === "" ? { value: {}, wrong: undefined } : readJson(text);
	if (wrong !== undefined || isObject(value))
		return { value: (value ?? {}) as Inputs, wrong };
	return { value: {}, wrong: "must be an object: inputs by name" };
}

/** What is in the address, what was typed before, or nothing. */
function firstDraft(name: string, given: string | null): Draft {
	if (given !== null) {
		const { value, wrong } = readInputs(given);
		return wrong === undefined ? { inputs: value, text: null } : { inputs: {}, text: given };
	}
	return readDraft<Draft>(name) ?? { inputs: {}, text: null };
}

/** True when the problem is about the inputs and not about the definition. */
const isAboutInputs = (problem: Problem): boolean => problem.message.startsWith("inputs") || problem.message.startsWith("/inputs");

/** Starts a run whose id the browser has made. */
export async function startRun(body: runtime.WorkflowRunRequest_Input): Promise<void> {
	try {
		await ask("/api/run", { method: "POST", body });
	} catch (cause) {
		// A conflict on our own id means that an earlier attempt has started the run.
		const there = cause instanceof Problem && cause.status === 409;
		if (!there || !(await get(`/api/runs/${body.run_id}`).then(() => true, () => false)))
			throw cause;
	}
}

interface PickerProps {
	items: Workflow[];
	name: string;
	/** Problems of the definition. */
	places: run.ProblemPlace[];
}

function Picker({ items, name, places }: PickerProps) {
	const chosen = items.find((item) => item.name === name);
	const good = items.filter((item) => item.problem === undefined);
	const broken = items.filter((item) => item.problem !== undefined);
	const option = (item: Workflow) => <option key={item.name} value={item.name}>{item.name}</option>;
	const shown = places.length > 0 ? places : chosen?.problem === undefined ? [] : textPlaces(chosen.problem);
	return (
		<div class="field">
			<label class="label" for="workflow">Workflow</label>
			<select
				id="workflow"
				name="workflow"
				value={name}
				required
				aria-describedby="workflow-help workflow-places"
				aria-invalid={shown.length > 0}
				onChange={(event) => goQuery({ workflow: event.currentTarget.value, inputs: null })}
			>
				<option value="">choose a workflow</option>
				{name !== "" && chosen === undefined && <option value={name}>{name}</option>}
				{good.map(option)}
				{broken.length > 0 && <optgroup label="With problems">{broken.map(option)}</optgroup>}
			</select>
			<span class="muted" id="workflow-help">{chosen?.description ?? "A definition of the data folder (definitions/NAME.yaml), or an example."}</span>
			<Places id="workflow-places" places={shown} />
		</div>
	);
}

interface InputsProps {
	workflow: Workflow | undefined;
	draft: Draft;
	setDraft: (draft: Draft) => void;
	broken: Map<string, string>;
	places: run.ProblemPlace[];
	wrong: string | undefined;
}

/** A field for each declared input, or all of them as JSON. */
function InputFields({ workflow, draft, setDraft, broken, places, wrong }: InputsProps) {
	const schema = workflow === undefined ? undefined : formOf(workflow);
	const asText = draft.text !== null || schema === undefined;
	const toggle = () => {
		if (draft.text === null) {
			setDraft({ ...draft, text: pretty(draft.inputs) });
			return;
		}
		const read = readInputs(draft.text);
		broken.clear();
		if (read.wrong === undefined)
			setDraft({ ...draft, inputs: read.value, text: null });
	};
	if (schema !== undefined && workflow?.inputs.length === 0 && draft.text === null)
		return workflow.problem === undefined ? <p class="muted" data-no-inputs>This workflow takes no inputs.</p> : null;
	return (
		<fieldset class="inputs">
			<legend class="label">Inputs</legend>
			{schema !== undefined && (
				<button type="button" class="action quiet" onClick={toggle} disabled={draft.text !== null && readInputs(draft.text).wrong !== undefined}>
					{asText ? "Edit as a form" : "Edit as JSON"}
				</button>
			)}
			{asText ? (
				<div class="field">
					<textarea
						id="inputs"
						class="mono"
						rows={8}
						value={draft.text ?? pretty(draft.inputs)}
						spellcheck={false}
						aria-label="Inputs as JSON"
						aria-describedby="inputs-places"
						aria-invalid={wrong !== undefined || places.length > 0}
						onInput={(event) => setDraft({ ...draft, text: event.currentTarget.value })}
					/>
					<Places id="inputs-places" places={wrong === undefined ? places : textPlaces(wrong)} />
				</div>
			) : (
				<>
					<Fields all={{}} schema={schema} pointer="" value={draft.inputs} onChange={(inputs) => setDraft({ ...draft, inputs })} broken={broken} places={places} />
					<Places places={placesElsewhere(places, schema)} />
				</>
			)}
		</fieldset>
	);
}

function StartForm({ items, name, given }: { items: Workflow[]; name: string; given: string | null }) {
	const [draft, setDraft] = useState(() => firstDraft(name, given));
	const [wrong, setWrong] = useState<string | undefined>();
	const broken = useRef(new Map<string, string>());
	const form = useRef<HTMLFormElement>(null);
	const id = useRef(crypto.randomUUID() as string);
	const change = (now: Draft) => {
		setWrong(undefined);
		setDraft(now);
		keepDraft(name, now);
	};
	const starting = useDoing(async () => {
		const read = draft.text === null ? { value: draft.inputs, wrong: undefined } : readInputs(draft.text);
		setWrong(read.wrong);
		if (read.wrong !== undefined || (draft.text === null && broken.current.size > 0))
			return;
		const labels = readLabels(draft.labels ?? "");
		await startRun({ workflow: name, inputs: read.value, run_id: id.current, ...(Object.keys(labels).length > 0 ? { labels } : {}),
			...(draft.profile ? { profile: draft.profile } : {}) });
		keepDraft(name, undefined);
		go(href("runs", id.current));
	});

	const problem = starting.problem;
	// The first field that the server objects to takes the focus.
	useEffect(() => {
		if (problem !== undefined)
			form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
	}, [problem]);
	const inInputs = problem !== undefined && isAboutInputs(problem);
	const inLabels = problem !== undefined && !inInputs ? placesIn(problem.places, "/labels") : [];
	const inProfile = problem !== undefined && !inInputs ? placesIn(problem.places, "/profile") : [];
	return (
		<form
			class="form"
			ref={form}
			noValidate
			aria-label="Start a run"
			onSubmit={(event) => {
				event.preventDefault();
				void starting.start();
			}}
		>
			<Picker items={items} name={name} places={problem !== undefined && !inInputs ? problem.places.filter((place) => !inLabels.includes(place) && !inProfile.includes(place)) : []} />
			{name !== "" && (
				<InputFields workflow={items.find((item) => item.name === name)} draft={draft} setDraft={change} broken={broken.current}
					places={inInputs ? problem.places : []} wrong={wrong} />
			)}
			{name !== "" && <ProfilePicker name={draft.profile ?? ""} change={(profile) => change({ ...draft, profile })} places={inProfile} />}
			{name !== "" && (
				<div class="field">
					<label class="label" for="labels">Labels</label>
					<input id="labels" value={draft.labels ?? ""} placeholder="env=prod, team=core" spellcheck={false} autoComplete="off"
						aria-describedby="labels-help labels-places" aria-invalid={inLabels.length > 0} onInput={(event) => change({ ...draft, labels: event.currentTarget.value })} />
					<span class="muted" id="labels-help">For finding the run in lists.</span>
					<Places id="labels-places" places={inLabels} />
				</div>
			)}
			{inInputs && problem.places.length > 0
				? <p class="problem" role="status">Not started: {problem.places.length === 1 ? "one problem" : `${problem.places.length} problems`} in the inputs.</p>
				: <ProblemText problem={problem} withPlaces={false} />}
			<Action doing={starting} tone="main" busy="Starting …" disabled={name === ""} submit>Start</Action>
		</form>
	);
}

export function NewRunPage() {
	const { query } = usePlace();
	const name = query.get("workflow") ?? "";
	const list = useLoaded(readWorkflows, []);
	// A person who edits a definition in another window comes back to its new state.
	useEffect(() => {
		addEventListener("focus", list.soon);
		return () => removeEventListener("focus", list.soon);
	}, [list.soon]);
	return (
		<Page title="Start a run">
			<ProblemText problem={list.problem} />
			{list.value === undefined && list.problem === undefined && <Loading />}
			{(list.value !== undefined || list.problem !== undefined) && <StartForm key={name} items={list.value?.items ?? []} name={name} given={query.get("inputs")} />}
			{list.value?.more && <p class="muted">There are more workflows than are listed here; name one in the address: ?workflow=NAME.</p>}
		</Page>
	);
}
