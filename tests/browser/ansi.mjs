// web/src/ansi.ts by itself: colors, what is removed, what is made visible, any way to cut the text.
// Prints the names of the cases as JSON: ansi.mjs WEB_FOLDER
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [web] = process.argv.slice(2);
const { transformSync } = createRequire(join(web, "package.json"))("esbuild");
const { code } = transformSync(readFileSync(join(web, "src", "ansi.ts"), "utf8"), { loader: "ts", format: "esm" });
const { linesOf, plainText, Terminal } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const cases = {
	"plain lines"() {
		assert.equal(plainText("a\nb\r\nc"), "a\nb\nc");
		assert.equal(plainText("\n\nx\n"), "\n\nx");
		assert.deepEqual(linesOf(""), []);
	},
	"colors and attributes"() {
		const [line] = linesOf("a\x1b[1;31mb\x1b[22mc\x1b[0md\x1b[94;103me\x1b[m");
		assert.deepEqual(line, [
			{ text: "a", style: {} },
			{ text: "b", style: { bold: true, color: 1 } },
			{ text: "c", style: { color: 1 } },
			{ text: "d", style: {} },
			{ text: "e", style: { color: 12, back: 11 } },
		]);
	},
	"256 colors and true colors, with semicolons and with colons"() {
		const styles = (text) => linesOf(text)[0].map((piece) => piece.style);
		assert.deepEqual(styles("\x1b[38;5;9mx"), [{ color: 9 }]);
		assert.deepEqual(styles("\x1b[38;5;196mx"), [{ color: "rgb(255, 0, 0)" }]);
		assert.deepEqual(styles("\x1b[48;5;244mx"), [{ back: "rgb(128, 128, 128)" }]);
		assert.deepEqual(styles("\x1b[38;2;1;2;3;4mx"), [{ color: "rgb(1, 2, 3)", underline: true }]);
		assert.deepEqual(styles("\x1b[38:2::1:2:300mx"), [{ color: "rgb(1, 2, 255)" }]);
		assert.deepEqual(styles("\x1b[38;5;999mx"), [{}]);
	},
	"a style goes on over lines"() {
		assert.deepEqual(linesOf("\x1b[32ma\nb").map((line) => line[0].style), [{ color: 2 }, { color: 2 }]);
	},
	"a carriage return starts the line again"() {
		assert.equal(plainText("10 %\r50 %\r100 %\ndone"), "100 %\ndone");
		assert.equal(plainText("kept\r\nnext"), "kept\nnext");
	},
	"everything else that controls a terminal is removed"() {
		assert.equal(plainText("a\x1b[2Kb\x1b[10;4Hc\x1b[?25ld\x1b7e\x1b(Bf"), "abcdef");
		assert.equal(plainText("\x1b]0;title\x07x\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\y\x1bPq\x1b\\z"), "xlinkyz");
		assert.equal(plainText("\x1b[>31mx"), "x");
	},
	"what cannot be seen is shown"() {
		assert.equal(plainText("a\x00b\x07c\x7fd\x85e"), "a\u2400b\u2407c\u2421d<U+0085>e");
		assert.equal(plainText("user\u202egnp.exe\u2066\u200b"), "user<U+202E>gnp.exe<U+2066><U+200B>");
		assert.equal(plainText("tab\tstays"), "tab\tstays");
	},
	"a sequence without an end swallows nothing"() {
		assert.equal(plainText(`\x1b]0;${"x".repeat(2000)}`).slice(1), `]0;${"x".repeat(2000)}`);
		assert.equal(plainText(`\x1b[${"1;".repeat(1000)}`).slice(1).length, 2001);
	},
	"any way to cut it gives the same"() {
		const text = "a\x1b[1;31mb\r\nc\x1b]0;t\x07d\x1b[38;2;9;8;7me\rf\x1b[0m\n\x1b(Bg\x1b[2Kh";
		const whole = linesOf(text).map((line) => line.map(({ text: piece, style }) => [piece, style]));
		const merged = (lines) => lines.map((line) => line.reduce((all, { text: piece, style }) => {
			const last = all[all.length - 1];
			if (last && JSON.stringify(last[1]) === JSON.stringify(style))
				last[0] += piece;
			else
				all.push([piece, style]);
			return all;
		}, []));
		for (let size = 1; size < text.length; size++) {
			const lines = [];
			const terminal = new Terminal(() => lines[lines.push([]) - 1]);
			for (let at = 0; at < text.length; at += size)
				terminal.write(text.slice(at, at + size));
			assert.deepEqual(merged(lines), whole, `pieces of ${size}`);
		}
	},
};

for (const run of Object.values(cases))
	run();
console.log(JSON.stringify(Object.keys(cases)));
