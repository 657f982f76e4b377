// The form of a document: edit, and save against the revision that was read.
import type { run } from "contract";
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Problem } from "../api";
import { useDoing } from "../data";
import type { Document } from "../documents";
import { inputSchema, type Schemas } from "../schema";
import { pretty } from "../words";
import { Action, ProblemText } from "./basic";
import { Fields, placesElsewhere } from "./form";
import { Places, textPlaces } from "./places";

type Members = { [name: string]: unknown };

interface Props {
	all: Schemas;
	/** Name of the entity, such as run.Agent. */
	entity: string;
	start: Document<Members>;
	/** Pointers of read-only members. */
	fixed?: string[];
	save: (body: Members, etag: string | null) => Promise<void>;
	/** Reads the stored document again, after a conflict. */
	again: () => void;
	saveWord: string;
	children?: ComponentChildren;
}

/** 412 and 409: somebody else changed the document after it was read. */
const isConflict = (problem: Problem | undefined): boolean => problem?.status === 412 || problem?.status === 409;

export function DocumentForm({ all, entity, start, fixed = [], save, again, saveWord, children }: Props) {
	const schema = inputSchema(all, entity);
	const [value, setValue] = useState<Members>(start.body);
	const [text, setText] = useState<string | null>(null); // not null: the document as JSON text
	const [wrong, setWrong] = useState<string | undefined>();
	const broken = useRef(new Map<string, string>());
	const [saved, setSaved] = useState(false);

	const saving = useDoing(async () => {
		setSaved(false);
		let body = value;
		if (text !== null) {
			try {
				body = JSON.parse(text) as Members;
				setWrong(undefined);
			} catch (cause) {
				setWrong(`is not JSON: ${(cause as Error).message}`);
				return;
			}
		} else if (broken.current.size > 0) {
			setValue({ ...value }); // shows the errors
			return;
		}
		await save(body, start.etag);
		setSaved(true);
	});

	const places: run.ProblemPlace[] = saving.problem?.places ?? [];
	const asJson = text !== null || schema === undefined;
	const edit = (now: Members) => {
		setSaved(false);
		setValue(now);
	};
	const toggle = () => {
		if (text === null) {
			setText(pretty(value));
			return;
		}
		try {
			setValue(JSON.parse(text) as Members);
			broken.current.clear();
			setText(null);
			setWrong(undefined);
		} catch (cause) {
			setWrong(`is not JSON: ${(cause as Error).message}`);
		}
	};
	return (
		<form
			class="form"
			aria-label={entity}
			noValidate
			onSubmit={(event) => {
				event.preventDefault();
				void saving.start();
			}}
		>
			{schema !== undefined && (
				<button type="button" class="action quiet" onClick={toggle}>{asJson ? "Edit as a form" : "Edit as JSON"}</button>
			)}
			{asJson ? (
				<div class="field">
					<label class="label" for="document-text">{entity}</label>
					<textarea id="document-text" class="mono" rows={20} spellcheck={false} value={text ?? pretty(value)}
						aria-describedby="document-places" aria-invalid={wrong !== undefined || places.length > 0}
						onInput={(event) => setText(event.currentTarget.value)} />
					<Places id="document-places" places={wrong === undefined ? places : textPlaces(wrong)} />
				</div>
			) : (
				<>
					<Fields all={all} schema={schema} pointer="" value={value} onChange={edit} broken={broken.current} places={places} fixed={fixed} />
					<Places places={placesElsewhere(places, schema)} />
				</>
			)}
			<ProblemText problem={saving.problem} withPlaces={false} />
			{isConflict(saving.problem) && start.etag !== null && (
				<p class="problem">
					Somebody else changed this document after you opened it. <button type="button" class="action" onClick={again}>Load the stored version</button>
				</p>
			)}
			<div class="buttons">
				<Action doing={saving} tone="main" busy="Saving …" submit>{saveWord}</Action>
				{saved && !saving.pending && <span class="saved" role="status">✓ saved</span>}
				{children}
			</div>
		</form>
	);
}
