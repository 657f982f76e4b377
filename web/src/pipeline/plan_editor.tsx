// Edits the plan whose approval a run asks for.  Saving makes a new revision; it names the revision that
// was edited, and if another one is the newest now, the person chooses.  Unsaved text stays in the tab.
import type { run } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing } from "../data";
import { keepDraft, readDraft } from "../draft";
import type { Editor } from "../editor/view";
import { Action, ProblemText } from "../parts/basic";

export interface PlanDraft {
	text: string;
	revision: number;
}

const nameOf = (id: string): string => `plan.${id}`;

export const readPlanDraft = (id: string): PlanDraft | undefined => readDraft<PlanDraft>(nameOf(id));
export const dropPlanDraft = (id: string): void => keepDraft(nameOf(id), undefined);

interface Props {
	id: string;
	first: PlanDraft;
	/** Saved or discarded. */
	close: () => void;
}

function Conflict({ text, overwrite, take, close }: { text: string; overwrite: () => void; take: () => void; close: () => void }) {
	return (
		<section class="conflict" role="alertdialog" aria-labelledby="plan-conflict" data-conflict>
			<h2 id="plan-conflict">The plan has changed since you began to edit it</h2>
			<p>{text} Nothing was saved, and your text is still here.</p>
			<p class="actions">
				<button type="button" class="action" data-tone="bad" onClick={overwrite}>Save my text as the next revision</button>
				<button type="button" class="action" onClick={take}>Discard my text</button>
				<button type="button" class="action quiet" onClick={close}>Continue editing</button>
			</p>
		</section>
	);
}

export function PlanEditor({ id, first, close }: Props) {
	const place = useRef<HTMLDivElement>(null);
	const editor = useRef<Editor | null>(null);
	const [ready, setReady] = useState(false);
	const [text, setText] = useState(first.text);
	const [conflict, setConflict] = useState("");
	const path = `/api/runs/${encodeURIComponent(id)}/plan`;
	const save = async (revision: number) => {
		try {
			const body: run.PlanEdit = { plan_markdown: text, revision };
			await ask(path, { method: "PUT", body });
		} catch (cause) {
			if (!(cause instanceof Problem) || cause.status !== 409)
				throw cause;
			setConflict(cause.message);
			return;
		}
		dropPlanDraft(id);
		close();
	};
	const saving = useDoing(() => save(first.revision));
	const overwriting = useDoing(async () => {
		setConflict("");
		await save((await get<run.Plan>(path)).revision);
	});
	const start = useRef(saving.start);
	start.current = saving.start;
	const discard = () => {
		dropPlanDraft(id);
		close();
	};
	useEffect(() => {
		let gone = false;
		void import("../editor/view").then(({ openEditor }) => {
			if (gone || place.current === null)
				return;
			editor.current = openEditor(place.current, {
				text: first.text,
				label: "Plan",
				language: "markdown",
				changed: (typed) => {
					setText(typed);
					keepDraft(nameOf(id), { text: typed, revision: first.revision });
				},
				save: () => void start.current(),
			});
			setReady(true);
			editor.current.focus();
		});
		return () => {
			gone = true;
			editor.current?.close();
			editor.current = null;
		};
	}, []);
	return (
		<div class="plan-editor" data-ready={ready}>
			{conflict !== "" && <Conflict text={conflict} overwrite={() => void overwriting.start()} take={discard} close={() => setConflict("")} />}
			<p class="muted">You are editing revision {first.revision}. Saving makes a new revision, which the run checks before it asks again.</p>
			<div class="editor-text" ref={place} />
			<ProblemText problem={saving.problem ?? overwriting.problem} />
			<p class="actions">
				<Action doing={saving} tone="main" busy="Saving …" disabled={!ready || text.trim() === ""}>Save as a new revision</Action>
				<button type="button" class="action quiet" onClick={discard}>Discard</button>
			</p>
		</div>
	);
}
