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

export interface Mark {
	/** From 1; absent = the whole text. */
	line?: number;
	/** From 1, in bytes of UTF-8. */
	column?: number;
	text: string;
	severity: "error" | "warning";
}

export interface Editor {
	text: () => string;
	setText: (text: string) => void;
	setMarks: (marks: Mark[]) => void;
	goTo: (mark: Mark) => void;
	focus: () => void;
	close: () => void;
}

interface Wishes {
	text: string;
	label: string;
	changed: (text: string) => void;
	save: () => void;
	propose: (text: string, at: number) => Promise<{ from: number; proposals: Proposal[] } | null>;
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
	{ tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
	{ tag: tags.invalid, color: "var(--bad)" },
]);

/** The offset of a byte within a line. */
function offsetOf(line: string, bytes: number): number {
	let [left, at] = [bytes, 0];
	for (const character of line) {
		const code = character.codePointAt(0) ?? 0;
		left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		if (left < 0)
			break;
		at += character.length;
	}
	return at;
}

function placeOf(state: EditorState, mark: Mark): { from: number; to: number } {
	const line = state.doc.line(Math.min(Math.max(mark.line ?? 1, 1), state.doc.lines));
	const from = line.from + offsetOf(line.text, (mark.column ?? 1) - 1);
	const word = /^[^\s,:\]}]+/.exec(line.text.slice(from - line.from))?.[0] ?? "";
	return { from, to: Math.min(from + Math.max(word.length, 1), line.to) };
}

export function openEditor(parent: HTMLElement, wishes: Wishes): Editor {
	const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
	const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
		const found = await wishes.propose(context.state.doc.toString(), context.pos);
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
				bracketMatching(), closeBrackets(), highlightSelectionMatches(), lintGutter(), yaml(), syntaxHighlighting(colors), theme,
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
	return {
		text: () => view.state.doc.toString(),
		setText: (text) => {
			if (text !== view.state.doc.toString())
				view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
		},
		setMarks: (marks) => {
			const all: Diagnostic[] = marks.map((mark) => ({ ...placeOf(view.state, mark), severity: mark.severity, message: mark.text }));
			view.dispatch(setDiagnostics(view.state, all));
		},
		goTo: (mark) => {
			const { from } = placeOf(view.state, mark);
			view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
			view.focus();
		},
		focus: () => view.focus(),
		close: () => view.destroy(),
	};
}
