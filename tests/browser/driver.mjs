// A browser for the tests: reads a command a line, answers a line.  Tests are written in Python,
// where the server and its data folder are at hand; this end only moves the browser.
//
//   open {options, origin}         a new page in a context of its own; gives its number
//   chain {page, steps}            page[method](...arguments), and so on with what that gives
//   evaluate {page, text, given}   a JavaScript function or expression in the page
//   until {page, text}             the same in every frame until it is true
//   intercept {page, pattern, before} before the first such request is sent, makes another one
//   fulfill {page, pattern, json or text, status}  answers such requests itself
//   abort {page, pattern}          lets such requests fail as if nobody answered
//   key {page, key}                pressed wherever the focus is
//   download {page, label}         clicks on the link with this label; gives name and text of the file
//   axe {page}                     what axe-core has to complain about
//   report {page}                  what the page has complained about and asked for
//   close {page}
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const axe = createRequire(import.meta.url).resolve("axe-core");
const [executablePath, patienceMs] = process.argv.slice(2);
const browser = await chromium.launch({
	executablePath,
	headless: true,
	// Tests may run as root, where Chromium's own sandbox does not; nothing but our pages is loaded.
	args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
});
const pages = [];
const PATIENCE_MS = Number(patienceMs);

async function open({ options, origin }) {
	const context = await browser.newContext({ baseURL: origin, ...options });
	const page = await context.newPage();
	page.setDefaultTimeout(PATIENCE_MS);
	const state = { context, page, errors: [], requests: [], sockets: [] };
	page.on("console", (message) => {
		if (["error", "warning"].includes(message.type()))
			state.errors.push(message.text());
	});
	page.on("pageerror", (error) => state.errors.push(`uncaught: ${error.message}`));
	page.on("request", (request) => state.requests.push(`${request.method()} ${request.url()}`));
	page.on("websocket", (socket) => state.sockets.push(socket.url()));
	return pages.push(state) - 1;
}

async function chain({ page, steps }) {
	let target = pages[page].page;
	for (const [method, ...given] of steps)
		target = await target[method](...given);
	return target;
}

// Handed over by the debugger as code of its own: the page's policy does not let text be evaluated.
function made(text) {
	const value = (0, eval)(text.includes("=>") ? `(${text})` : `() => (${text})`);
	return typeof value === "function" ? value : (0, eval)(`() => (${text})`);
}

const evaluate = ({ page, text, given }) => pages[page].page.evaluate(made(text), given);

async function until({ page, text }) {
	const look = `() => new Promise((done) => {
		const look = () => ((${text}) ? done(true) : requestAnimationFrame(look));
		look();
	})`;
	let timer;
	const patience = new Promise((_, refuse) => (timer = setTimeout(refuse, PATIENCE_MS, new Error(`never true: ${text}`))));
	await Promise.race([pages[page].page.evaluate((0, eval)(look)), patience]);
	clearTimeout(timer);
}

async function intercept({ page, pattern, before }) {
	let first = true;
	await pages[page].page.route(pattern, async (route) => {
		if (first) {
			first = false;
			await fetch(before.url, {
				method: before.method,
				headers: { "Content-Type": "application/json", ...before.headers },
				body: before.body === undefined ? undefined : JSON.stringify(before.body),
			});
		}
		await route.continue();
	});
}

async function fulfill({ page, pattern, json, text, status }) {
	await pages[page].page.route(pattern, (route) => route.fulfill(text === null ? { json, status } : { body: text, status }));
}

async function runAxe({ page }) {
	// Evaluated by the debugger, so the page's policy need not allow it.
	const { readFileSync } = await import("node:fs");
	await pages[page].page.evaluate(readFileSync(axe, "utf8"));
	const { violations } = await pages[page].page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
	return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}

async function download({ page, label }) {
	const { readFileSync } = await import("node:fs");
	const started = pages[page].page.waitForEvent("download");
	await pages[page].page.getByLabel(label, { exact: true }).click();
	const file = await started;
	return [file.suggestedFilename(), readFileSync(await file.path(), "utf8")];
}

const commands = {
	open,
	chain,
	evaluate,
	until,
	intercept,
	fulfill,
	abort: ({ page, pattern }) => pages[page].page.route(pattern, (route) => route.abort()),
	key: ({ page, key }) => pages[page].page.keyboard.press(key),
	axe: runAxe,
	download,
	report: ({ page }) => ({ errors: pages[page].errors, requests: pages[page].requests, sockets: pages[page].sockets }),
	close: ({ page }) => pages[page].context.close(),
};

// What a chain ends with may be a part of the browser, which no line can carry.
function plain(value) {
	try {
		return JSON.parse(JSON.stringify(value ?? null));
	} catch {
		return null;
	}
}

for await (const line of createInterface({ input: process.stdin })) {
	const { command, ...rest } = JSON.parse(line);
	let answer;
	try {
		answer = { result: plain(await commands[command](rest)) };
	} catch (error) {
		answer = { error: error.message };
	}
	process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
