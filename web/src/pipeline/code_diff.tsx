// A unified diff of one file: line numbers, added and removed lines, and the colors of its language.
// Color is never the only sign: every line keeps its + or -.
import { useMemo, useState } from "preact/hooks";
import { highlight, languageOf, type Open, type Piece } from "./highlight";

/** More lines are shown when asked for. */
const LINES_SHOWN = 2000;

export interface DiffLine {
	kind: "added" | "removed" | "same" | "place" | "note";
	before?: number;
	after?: number;
	pieces: Piece[];
}

const PLACE = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const SIGNS: Record<DiffLine["kind"], string> = { added: "+", removed: "-", same: " ", place: "", note: "" };

/** Reads the lines of a diff.  A hunk says how many lines it has, so a removed line "-- x" is no header. */
export function readDiff(text: string, path: string): DiffLine[] {
	const language = languageOf(path);
	const lines: DiffLine[] = [];
	let [before, after, leftBefore, leftAfter] = [0, 0, 0, 0];
	let [openBefore, openAfter]: [Open | undefined, Open | undefined] = [undefined, undefined];
	for (const line of text.replace(/\n$/, "").split("\n")) {
		const place = leftBefore + leftAfter > 0 ? null : PLACE.exec(line);
		const [sign = "", rest] = [line[0], line.slice(1)];
		if (place !== null) {
			[before, leftBefore, after, leftAfter] = [Number(place[1]), Number(place[2] ?? 1), Number(place[3]), Number(place[4] ?? 1)];
			openBefore = openAfter = undefined;
			lines.push({ kind: "place", pieces: [{ text: line }] });
		} else if (sign === "\\") {
			lines.push({ kind: "note", pieces: [{ text: "no newline at the end of the file" }] });
		} else if (leftBefore + leftAfter === 0) {
			if (/^(Binary files|rename |old mode|new mode|GIT binary)/.test(line))
				lines.push({ kind: "note", pieces: [{ text: line }] });
		} else if (sign === "+") {
			const read = highlight(language, rest, openAfter);
			openAfter = read.open;
			leftAfter--;
			lines.push({ kind: "added", after: after++, pieces: read.pieces });
		} else if (sign === "-") {
			const read = highlight(language, rest, openBefore);
			openBefore = read.open;
			leftBefore--;
			lines.push({ kind: "removed", before: before++, pieces: read.pieces });
		} else {
			const read = highlight(language, rest, openAfter);
			openBefore = openAfter = read.open;
			leftBefore--;
			leftAfter--;
			lines.push({ kind: "same", before: before++, after: after++, pieces: read.pieces });
		}
	}
	return lines;
}

function Row({ line }: { line: DiffLine }) {
	return (
		<tr data-kind={line.kind}>
			<td class="line-number">{line.before ?? ""}</td>
			<td class="line-number">{line.after ?? ""}</td>
			<td class="line-text">
				<span class="sign">{SIGNS[line.kind]}</span>
				{line.pieces.map((piece, at) => (piece.kind === undefined ? piece.text : <span key={at} data-token={piece.kind}>{piece.text}</span>))}
			</td>
		</tr>
	);
}

export function CodeDiff({ text, path }: { text: string; path: string }) {
	const lines = useMemo(() => readDiff(text, path), [text, path]);
	const [all, setAll] = useState(false);
	if (lines.length === 0)
		return <p class="muted">No line of it has changed.</p>;
	const shown = all ? lines : lines.slice(0, LINES_SHOWN);
	return (
		<>
			<div class="code-diff" tabIndex={0} role="group" aria-label={`Changes of ${path}`}>
				<table>
					<tbody>{shown.map((line, number) => <Row key={number} line={line} />)}</tbody>
				</table>
			</div>
			{shown.length < lines.length && <button type="button" class="action quiet" onClick={() => setAll(true)}>Show all {lines.length} lines</button>}
		</>
	);
}
