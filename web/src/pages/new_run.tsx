// Starts a run.  The browser generates the run's id, so that a start whose response was lost can be
// repeated without starting a second run.
import type { run, runtime } from "contract";
import { useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing } from "../data";
import { Action, Page, ProblemText } from "../parts/basic";
import { Places, textPlaces } from "../parts/places";
import { go, href, usePlace } from "../route";

interface Inputs {
	value: { [key: string]: unknown } | undefined;
	wrong: string | undefined;
}

function readInputs(text: string): Inputs {
	try {
		const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
		if (typeof value === "object" && value !== null && !Array.isArray(value))
			return { value: value as { [key: string]: unknown }, wrong: undefined };
		return { value: undefined, wrong: "must be an object: inputs by name" };
	} catch (cause) {
		return { value: undefined, wrong: `is not JSON: ${(cause as Error).message}` };
	}
}

/** True when the problem is about the inputs: its detail or pointer says so. */
function isAboutInputs(problem: Problem): boolean {
	return problem.message.startsWith("inputs") || problem.message.startsWith("/inputs");
}

export function NewRunPage() {
	const { query } = usePlace();
	const [workflow, setWorkflow] = useState(query.get("workflow") ?? "");
	const [text, setText] = useState(query.get("inputs") ?? "{}");
	const [wrong, setWrong] = useState<string | undefined>();
	const id = useRef(crypto.randomUUID() as string);

	const starting = useDoing(async () => {
		const inputs = readInputs(text);
		setWrong(inputs.wrong);
		if (inputs.value === undefined)
			return;
		const body: runtime.WorkflowRunRequest_Input = { workflow: workflow.trim(), inputs: inputs.value, run_id: id.current };
		try {
			await ask("/api/run", { method: "POST", body });
		} catch (cause) {
			// A conflict on our own id means that an earlier attempt has started the run.
			const there = cause instanceof Problem && cause.status === 409;
			if (!there || !(await get(`/api/runs/${id.current}`).then(() => true, () => false)))
				throw cause;
		}
		go(href("runs", id.current));
	});

	const problem = starting.problem;
	const places = problem?.places ?? [];
	const inInputs: run.ProblemPlace[] = problem && isAboutInputs(problem) ? places : [];
	const inWorkflow = problem && inInputs.length === 0 ? places : [];
	return (
		<Page title="Start a run">
			<form
				class="form"
				onSubmit={(event) => {
					event.preventDefault();
					void starting.start();
				}}
			>
				<div class="field">
					<label class="label" for="workflow">Workflow</label>
					<input
						id="workflow"
						name="workflow"
						value={workflow}
						required
						maxLength={128}
						autoComplete="off"
						spellcheck={false}
						aria-describedby="workflow-help workflow-places"
						aria-invalid={inWorkflow.length > 0}
						onInput={(event) => setWorkflow(event.currentTarget.value)}
					/>
					<span class="muted" id="workflow-help">Name of a definition in the data folder, such as <code>two-steps</code>.</span>
				</div>
				<Places id="workflow-places" places={inWorkflow} />
				<div class="field">
					<label class="label" for="inputs">Inputs</label>
					<textarea
						id="inputs"
						name="inputs"
						class="mono"
						rows={8}
						value={text}
						spellcheck={false}
						aria-describedby="inputs-help inputs-places"
						aria-invalid={wrong !== undefined || inInputs.length > 0}
						onInput={(event) => setText(event.currentTarget.value)}
					/>
					<span class="muted" id="inputs-help">A JSON object: the workflow's inputs by name.</span>
				</div>
				<Places id="inputs-places" places={wrong === undefined ? inInputs : textPlaces(wrong)} />
				<ProblemText problem={problem} withPlaces={false} />
				<Action doing={starting} tone="main" busy="Starting …" submit>Start</Action>
			</form>
		</Page>
	);
}
