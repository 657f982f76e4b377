// Colors of program text, line by line: comments, strings, numbers and keywords.  It knows enough of a
// language to read a diff by, and nothing more; a language that it does not know stays plain.

export type Kind = "comment" | "string" | "number" | "keyword" | "name";

export interface Piece {
	text: string;
	kind?: Kind;
}

/** What is open at the end of a line: the text that ends it. */
export interface Open {
	end: string;
	kind: Kind;
}

export interface Language {
	/** Beginnings of comments that end with the line. */
	line: string[];
	/** Pairs that may span lines. */
	spans: [begin: string, end: string, kind: Kind][];
	quotes: string;
	words: ReadonlySet<string>;
	/** A word before a colon is a name: keys of YAML, JSON and the like. */
	keys?: boolean;
}

/** Longer lines stay plain: no person reads them. */
const LONGEST_LINE = 2000;

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_WORDS = "auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL";
const C: Language = { line: ["//"], spans: [["/*", "*/", "comment"]], quotes: "\"'", words: words(C_WORDS) };
const CPP: Language = { ...C, words: words(`${C_WORDS} catch class constexpr delete explicit final friend mutable namespace new noexcept nullptr operator override private protected public template this throw try typename using virtual`) };
const JAVA: Language = { ...C, words: words("abstract assert boolean break byte case catch char class const continue data default do double else enum extends final finally float for fun if implements import in instanceof int interface is long native new null object override package private protected public return sealed short static super switch this throw throws true false try val var void volatile when while") };
const SCRIPT: Language = {
	line: ["//"], spans: [["/*", "*/", "comment"], ["`", "`", "string"]], quotes: "\"'",
	words: words("abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function if implements import in instanceof interface keyof let never new null number of readonly return static string super switch this throw true try type typeof undefined unknown var void while yield"),
};
const GO: Language = { ...SCRIPT, words: words("break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var string int bool error byte") };
const RUST: Language = { ...C, quotes: "\"", words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while") };
const PYTHON: Language = {
	line: ["#"], spans: [["\"\"\"", "\"\"\"", "string"], ["'''", "'''", "string"]], quotes: "\"'",
	words: words("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield"),
};
const RUBY: Language = { line: ["#"], spans: [], quotes: "\"'", words: words("and begin break case class def do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true unless until when while yield") };
const SHELL: Language = { line: ["#"], spans: [], quotes: "\"'", words: words("case do done elif else esac export fi for function if in local return set then until while") };
const SQL: Language = { line: ["--"], spans: [["/*", "*/", "comment"]], quotes: "'", words: words("add alter and as begin by case commit create delete desc distinct drop else end exists from group having in index insert into is join key left like limit not null on or order primary references rollback select set table then union unique update values view when where with") };
const YAML: Language = { line: ["#"], spans: [], quotes: "\"'", words: words("true false null yes no"), keys: true };
const JSON_: Language = { line: ["//"], spans: [["/*", "*/", "comment"]], quotes: "\"", words: words("true false null"), keys: true };
const TOML: Language = { line: ["#", ";"], spans: [["\"\"\"", "\"\"\"", "string"]], quotes: "\"'", words: words("true false"), keys: true };
const CSS: Language = { line: [], spans: [["/*", "*/", "comment"]], quotes: "\"'", words: words("important media supports import"), keys: true };
const MARKUP: Language = { line: [], spans: [["<!--", "-->", "comment"]], quotes: "\"", words: words("") };
const MARKDOWN: Language = { line: [], spans: [["`", "`", "string"]], quotes: "", words: words("") };

const LANGUAGES: [endings: string, language: Language][] = [
	["c h", C], ["cc cpp cxx hh hpp", CPP], ["java kt kts cs scala swift dart", JAVA], ["js jsx mjs cjs ts tsx mts", SCRIPT], ["go", GO], ["rs", RUST],
	["py pyi", PYTHON], ["rb", RUBY], ["sh bash zsh mk makefile dockerfile", SHELL], ["sql", SQL], ["yaml yml", YAML], ["json jsonc", JSON_],
	["toml ini cfg conf env", TOML], ["css scss less", CSS], ["html xml svg vue", MARKUP], ["md markdown", MARKDOWN],
];

const byEnding = new Map(LANGUAGES.flatMap(([endings, language]) => endings.split(" ").map((ending) => [ending, language] as const)));

export function languageOf(path: string): Language | undefined {
	const file = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
	return byEnding.get(file.slice(file.lastIndexOf(".") + 1));
}

const WORD = /[A-Za-z_$@][\w$-]*/y;
const NUMBER = /\d[\w.]*/y;

function matchAt(pattern: RegExp, line: string, at: number): string {
	pattern.lastIndex = at;
	return pattern.exec(line)?.[0] ?? "";
}

/** The end of a quoted text, behind the quote; -1 = it is not closed on this line. */
function closing(line: string, from: number, quote: string): number {
	for (let at = from; at < line.length; at++) {
		if (line[at] === "\\")
			at++;
		else if (line[at] === quote)
			return at + 1;
	}
	return -1;
}

const isKey = (line: string, behind: number): boolean => /^\s*[:=]/.test(line.slice(behind, behind + 8));

class Line {
	readonly pieces: Piece[] = [];
	open: Open | undefined;

	constructor(private readonly language: Language, private readonly text: string) {}

	private push(text: string, kind?: Kind): number {
		const last = this.pieces[this.pieces.length - 1];
		if (last !== undefined && last.kind === kind)
			last.text += text;
		else if (text !== "")
			this.pieces.push(kind === undefined ? { text } : { text, kind });
		return text.length;
	}

	/** Goes on with what is open; the place behind it. */
	private through(at: number, from: number, open: Open): number {
		const found = this.text.indexOf(open.end, from);
		const end = found < 0 ? this.text.length : found + open.end.length;
		this.open = found < 0 ? open : undefined;
		return at + this.push(this.text.slice(at, end), open.kind);
	}

	private beginsComment(at: number): boolean {
		const mark = this.language.line.find((one) => this.text.startsWith(one, at));
		return mark !== undefined && (mark.length > 1 || at === 0 || /\s/.test(this.text[at - 1] ?? ""));
	}

	private word(at: number, word: string): number {
		const key = this.language.keys === true && isKey(this.text, at + word.length);
		return at + this.push(word, key ? "name" : this.language.words.has(word) || this.language.words.has(word.toLowerCase()) ? "keyword" : undefined);
	}

	private next(at: number): number {
		const { language, text } = this;
		if (this.beginsComment(at))
			return at + this.push(text.slice(at), "comment");
		const span = language.spans.find(([begin]) => text.startsWith(begin, at));
		if (span !== undefined)
			return this.through(at, at + span[0].length, { end: span[1], kind: span[2] });
		const quote = text[at] ?? "";
		if (language.quotes.includes(quote)) {
			const end = closing(text, at + 1, quote);
			if (end > 0)
				return at + this.push(text.slice(at, end), language.keys === true && isKey(text, end) ? "name" : "string");
		}
		const word = matchAt(WORD, text, at);
		if (word !== "")
			return this.word(at, word);
		const number = matchAt(NUMBER, text, at);
		return at + (number === "" ? this.push(quote) : this.push(number, "number"));
	}

	read(open: Open | undefined): this {
		let at = open === undefined ? 0 : this.through(0, 0, open);
		while (at < this.text.length)
			at = this.next(at);
		return this;
	}
}

/** The pieces of a line, and what is open behind it. */
export function highlight(language: Language | undefined, text: string, open: Open | undefined): { pieces: Piece[]; open: Open | undefined } {
	if (language === undefined || text.length > LONGEST_LINE)
		return { pieces: text === "" ? [] : [{ text }], open: undefined };
	if (language === MARKDOWN && /^#{1,6}\s/.test(text))
		return { pieces: [{ text, kind: "keyword" }], open: undefined };
	const line = new Line(language, text).read(open);
	return { pieces: line.pieces, open: language === MARKDOWN ? undefined : line.open };
}
