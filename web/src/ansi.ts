// Text of a terminal as lines of styled pieces.
//
// Of the control sequences of a terminal only colors and attributes (SGR) are kept; all others (cursor,
// title, links, …) are removed, and a carriage return starts the line again, as a progress bar wants it.
// Characters that a reader cannot see, or that change the direction of text, are made visible.  The
// result is data: pieces become text nodes, never markup.

export interface Style {
	/** 0 to 15 of the palette, or a color of its own, "rgb(…)". */
	color?: number | string;
	back?: number | string;
	bold?: boolean;
	dim?: boolean;
	italic?: boolean;
	underline?: boolean;
	strike?: boolean;
	inverse?: boolean;
}

export interface Piece {
	text: string;
	style: Style;
}

export type Line = Piece[];

/** No terminal sends longer ones; a sequence that never ends must not swallow a whole log. */
const LONGEST_SEQUENCE = 512;
const MOST_PARAMETERS = 32;

const CSI = /^\x1b\[([0-9:;<=>?]*)[ -/]*([@-~])/;
const STRING = /^\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)/;
const SHORT = /^\x1b[ -/]*[0-Z\\^-~]/;
// Every control character but tab, and the marks that turn or isolate the direction of text.
// eslint-disable-next-line no-control-regex
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(character: string): string {
	const code = character.charCodeAt(0);
	if (code < 0x20)
		return String.fromCharCode(0x2400 + code);
	if (code === 0x7f)
		return "\u2421";
	return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

const seen = (text: string): string => text.replace(HIDDEN, visible);

/** A color of the 256: the palette, a cube of 6 × 6 × 6, a scale of 24 greys. */
function indexed(index: number): number | string | undefined {
	if (index < 16)
		return index;
	if (index > 255)
		return undefined;
	if (index >= 232) {
		const grey = 8 + 10 * (index - 232);
		return `rgb(${grey}, ${grey}, ${grey})`;
	}
	const level = (part: number) => (part === 0 ? 0 : 55 + 40 * part);
	const cube = index - 16;
	return `rgb(${level(Math.floor(cube / 36))}, ${level(Math.floor(cube / 6) % 6)}, ${level(cube % 6)})`;
}

/** Reads what follows 38 or 48: 5;INDEX or 2;R;G;B.  Gives the color and how many parameters it took. */
function extended(list: number[], at: number): [color: number | string | undefined, took: number] {
	if (list[at] === 5)
		return [indexed(list[at + 1] ?? 0), 2];
	if (list[at] !== 2)
		return [undefined, 0];
	const part = (index: number) => Math.min(255, list[at + index] ?? 0);
	return [`rgb(${part(1)}, ${part(2)}, ${part(3)})`, 4];
}

const OFF: Record<number, (keyof Style)[]> = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strike"], 39: ["color"], 49: ["back"] };
const ON: Record<number, keyof Style> = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };

function changed(style: Style, text: string): Style {
	// 38:2::R:G:B has an empty color space in between; the form with semicolons has not.
	const plain = text.replaceAll(/([34]8):2:[0-9]*:([0-9]+:[0-9]+:[0-9]+)/g, "$1:2:$2").replaceAll(":", ";");
	const list = plain.split(";").slice(0, MOST_PARAMETERS).map(Number);
	let now: Style = { ...style };
	for (let at = 0; at < list.length; at++) {
		const code = list[at] ?? 0;
		const on = ON[code];
		if (code === 0)
			now = {};
		else if (on !== undefined)
			now = { ...now, [on]: true };
		else if (OFF[code] !== undefined)
			for (const name of OFF[code])
				delete now[name];
		else if (code === 38 || code === 48) {
			const [color, took] = extended(list, at + 1);
			if (color !== undefined)
				now[code === 38 ? "color" : "back"] = color;
			at += took;
		} else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97))
			now.color = code >= 90 ? code - 82 : code - 30;
		else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107))
			now.back = code >= 100 ? code - 92 : code - 40;
	}
	return now;
}

/** Text as it arrives: what is incomplete at the end waits for the rest.  A line is opened when its first
 * character arrives, so that several terminals can write into one list in the order of arrival. */
export class Terminal {
	private line: Line | null = null;
	private style: Style = {};
	private rest = "";
	/** A carriage return was seen: the next text replaces the line, a line feed ends it. */
	private returned = false;

	constructor(private readonly open: () => Line) {}

	write(text: string): void {
		const all = this.rest + text;
		this.rest = "";
		let at = 0;
		while (at < all.length) {
			const next = all.indexOf("\x1b", at);
			const end = next < 0 ? all.length : next;
			this.plain(all.slice(at, end));
			if (next < 0)
				return;
			const took = this.sequence(all.slice(next, next + LONGEST_SEQUENCE), all.length - next);
			if (took === 0) {
				this.rest = all.slice(next);
				return;
			}
			at = next + took;
		}
	}

	/** Handles the sequence at the beginning; gives its length, 0 when the rest of it is missing. */
	private sequence(text: string, available: number): number {
		const csi = CSI.exec(text);
		if (csi !== null) {
			if (csi[2] === "m" && !/[<=>?]/.test(csi[1] ?? ""))
				this.style = changed(this.style, csi[1] ?? "");
			return csi[0].length;
		}
		const other = STRING.exec(text) ?? (/^\x1b[[\]PX^_]/.test(text) ? null : SHORT.exec(text));
		if (other !== null)
			return other[0].length;
		if (available < LONGEST_SEQUENCE)
			return 0;
		this.add(visible("\x1b"));
		return 1;
	}

	private plain(text: string): void {
		for (const part of text.split(/(\r|\n)/)) {
			if (part === "\n") {
				this.returned = false;
				this.line ??= this.open();
				this.line = null;
			} else if (part === "\r") {
				this.returned = true;
			} else if (part !== "") {
				if (this.returned)
					this.line?.splice(0);
				this.returned = false;
				this.add(seen(part));
			}
		}
	}

	private add(text: string): void {
		this.line ??= this.open();
		const last = this.line[this.line.length - 1];
		if (last !== undefined && last.style === this.style)
			last.text += text;
		else
			this.line.push({ text, style: this.style });
	}
}

export function linesOf(text: string): Line[] {
	const lines: Line[] = [];
	const terminal = new Terminal(() => {
		const line: Line = [];
		lines.push(line);
		return line;
	});
	terminal.write(text);
	return lines;
}

/** The text without colors, for where one line must do. */
export const plainText = (text: string): string =>
	linesOf(text).map((line) => line.map((piece) => piece.text).join("")).join("\n");
