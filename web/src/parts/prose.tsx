// Text of a model as paragraphs, headings, lists and code.  It becomes elements with text in them, never
// markup: a tag stays a text, and an address is not followed.
import type { ComponentChildren } from "preact";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/;
const ORDERED = /^\s*\d/;

/** `code` and **bold** within a line. */
function inline(line: string): ComponentChildren[] {
	return line.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece, at) => {
		if (at % 2 === 0)
			return piece;
		return piece.startsWith("`") ? <code key={at}>{piece.slice(1, -1)}</code> : <strong key={at}>{piece.slice(2, -2)}</strong>;
	});
}

interface Block {
	kind: "paragraph" | "heading" | "code" | "list" | "numbers";
	lines: string[];
}

const kindOf = (line: string): Block["kind"] =>
	HEADING.test(line) ? "heading" : !ITEM.test(line) ? "paragraph" : ORDERED.test(line) ? "numbers" : "list";

export function blocksOf(text: string): Block[] {
	const blocks: Block[] = [];
	let open: Block | undefined;
	let fence = "";
	for (const line of text.split("\n")) {
		const mark = FENCE.exec(line)?.[1] ?? "";
		if (fence !== "" && mark === fence) {
			fence = "";
			open = undefined;
		} else if (fence !== "") {
			open?.lines.push(line);
		} else if (mark !== "") {
			fence = mark;
			blocks.push((open = { kind: "code", lines: [] }));
		} else if (line.trim() === "") {
			open = undefined;
		} else {
			const kind = kindOf(line);
			const continues = open !== undefined && (open.kind === kind || (kind === "paragraph" && /^\s/.test(line))) && kind !== "heading";
			if (!continues)
				blocks.push((open = { kind, lines: [] }));
			open?.lines.push(line);
		}
	}
	return blocks;
}

const itemText = (line: string): string => ITEM.exec(line)?.[1] ?? line.trim();

/** A heading; in a document (`under` is the level around it) it is one for assistive technology, too. */
function Heading({ line, under }: { line: string; under: number | undefined }) {
	const [, marks = "", text = ""] = HEADING.exec(line) ?? [];
	if (under === undefined)
		return <p class="heading">{inline(text)}</p>;
	return <p class="heading" data-level={marks.length} role="heading" aria-level={Math.min(6, under + marks.length)}>{inline(text)}</p>;
}

function Piece({ block: { kind, lines }, under }: { block: Block; under: number | undefined }) {
	if (kind === "code")
		return <pre tabIndex={0} role="group" aria-label="Code">{lines.join("\n")}</pre>;
	if (kind === "heading")
		return <Heading line={lines[0] ?? ""} under={under} />;
	if (kind === "list")
		return <ul>{lines.map((line, at) => <li key={at}>{inline(itemText(line))}</li>)}</ul>;
	if (kind === "numbers")
		return <ol>{lines.map((line, at) => <li key={at}>{inline(itemText(line))}</li>)}</ol>;
	return <p>{inline(lines.join("\n"))}</p>;
}

export function Prose({ text, under }: { text: string; under?: number }) {
	return <div class="prose">{blocksOf(text).map((block, at) => <Piece key={at} block={block} under={under} />)}</div>;
}
