// The text editor: CodeMirror in a shadow root.  Loaded only by the pages that need it.
//
// The shadow root is for the content security policy: there CodeMirror uses adopted style sheets
// instead of style elements, which the policy forbids.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Proposal } from "./complete";
import { markdown } from "./markdown";

/** A range of the text; lines and columns count from 1, columns in characters. */
export interface Range {
	line: number;
	column: number;
	end_line: number;
	end_column: number;
}

export interface Fix extends Range {
	title: string;
	text: string;
}

export interface Mark {
	/** Absent = the whole text. */
	range?: Range;
	text: string;
	severity: "error" | "warning";
	fix?: Fix;
}

export interface Editor {
	text: () => string;
	setText: (text: string) => void;
	/** The marks of this text. */
	setMarks: (marks: Mark[], text: string) => void;
	goTo: (mark: Mark) => void;
	apply: (fix: Fix) => void;
	focus: () => void;
	close: () => void;
}

interface Wishes {
	text: string;
	label: string;
	changed: (text: string) => void;
	save: () => void;
	/** Absent = YAML. */
	language?: "markdown";
	/** Absent = nothing is proposed. */
	propose?: (text: string, at: number) => Promise<{ from: number; proposals: Proposal[] } | null>;
}

const theme = EditorView.theme({
	"&": { height: "100%", color: "var(--text)", backgroundColor: "var(--back)", fontSize: "14px" },
	"&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-1px" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
	".cm-content": { caretColor: "var(--text)" },
	".cm-cursor": { borderLeftColor: "var(--text)" },
	".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
	".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
	"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--chosen)" },
	".cm-tooltip, .cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)" },
	".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--text)" },
	".cm-panel input, .cm-panel button": { color: "var(--text)", backgroundColor: "var(--back)", backgroundImage: "none", border: "1px solid var(--line)" },
	".cm-diagnostic": { whiteSpace: "pre-wrap" },
});

const colors = HighlightStyle.define([
	{ tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
	{ tag: tags.string, color: "var(--good)" },
	{ tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--wait)" },
	{ tag: tags.strong, fontWeight: "600" },
	{ tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
	{ tag: tags.invalid, color: "var(--bad)" },
]);

/** The offset of a character, which may be two code units. */
function offsetOf(state: EditorState, number: number, column: number): number {
	const line = state.doc.line(Math.min(Math.max(number, 1), state.doc.lines));
	let [left, at] = [column - 1, 0];
	for (const character of line.text) {
		if (left-- <= 0)
			break;
		at += character.length;
	}
	return line.from + at;
}

function placeOf(state: EditorState, range: Range | undefined): { from: number; to: number } {
	if (range === undefined)
		return { from: 0, to: 0 };
	const from = offsetOf(state, range.line, range.column);
	return { from, to: Math.max(from, offsetOf(state, range.end_line, range.end_column)) };
}

/** The edit was made for the text that the server has checked; an edit of another text could hit the wrong place. */
function applyFix(view: EditorView, checked: string, fix: Fix): void {
	if (view.state.doc.toString() !== checked)
		return;
	view.dispatch({ changes: { ...placeOf(view.state, fix), insert: fix.text }, userEvent: "input.fix" });
	view.focus();
}

export function openEditor(parent: HTMLElement, wishes: Wishes): Editor {
	const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
	const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
		const found = wishes.propose === undefined ? null : await wishes.propose(context.state.doc.toString(), context.pos);
		if (found === null || (found.proposals.length === 0) || (found.from === context.pos && !context.explicit))
			return null;
		return {
			from: found.from,
			options: found.proposals.map(({ label, detail, info, apply }) => ({ label, ...(detail ? { detail } : {}), ...(info ? { info } : {}), ...(apply ? { apply } : {}) })),
			validFor: /^[\w.-]*$/,
		};
	};
	const save = { key: "Mod-s", preventDefault: true, run: () => (wishes.save(), true) };
	const view = new EditorView({
		root,
		parent: root,
		state: EditorState.create({
			doc: wishes.text,
			extensions: [
				lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), history(), foldGutter(), drawSelection(), indentOnInput(), indentUnit.of("  "),
				bracketMatching(), closeBrackets(), highlightSelectionMatches(), lintGutter(), ...(wishes.language === "markdown" ? [markdown(), EditorView.lineWrapping] : [yaml()]), syntaxHighlighting(colors), theme,
				autocompletion({ override: [complete] }),
				keymap.of([save, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
				EditorView.contentAttributes.of({ "aria-label": wishes.label, spellcheck: "false", tabindex: "0" }),
				EditorView.updateListener.of((update) => {
					if (update.docChanged)
						wishes.changed(update.state.doc.toString());
				}),
			],
		}),
	});
	let checked = "";
	const actionOf = (fix: Fix) => ({ name: fix.title, apply: (): void => applyFix(view, checked, fix) });
	return {
		text: () => view.state.doc.toString(),
		setText: (text) => {
			if (text !== view.state.doc.toString())
				view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
		},
		setMarks: (marks, text) => {
			checked = text;
			const all: Diagnostic[] = marks.map((mark) => ({
				...placeOf(view.state, mark.range), severity: mark.severity, message: mark.text,
				...(mark.fix === undefined ? {} : { actions: [actionOf(mark.fix)] }),
			}));
			view.dispatch(setDiagnostics(view.state, all));
		},
		apply: (fix) => applyFix(view, checked, fix),
		goTo: (mark) => {
			const { from } = placeOf(view.state, mark.range);
			view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
			view.focus();
		},
		focus: () => view.focus(),
		close: () => view.destroy(),
	};
}
