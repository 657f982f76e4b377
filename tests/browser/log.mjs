// web/src/log.ts under disorder: a store that grows, a socket that repeats, loses and mixes up, a
// reader that is slow or fails.  Whatever happens, the log ends as the store is.  Prints a list of
// complaints as JSON: log.mjs WEB_FOLDER SEEDS
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [web, seeds] = process.argv.slice(2);
const { transformSync } = createRequire(join(web, "package.json"))("esbuild");
const { code } = transformSync(readFileSync(join(web, "src", "log.ts"), "utf8"), { loader: "ts", format: "esm" });
const { RunLog } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

// A small generator of our own, so that a seed gives the same disorder everywhere.
function chance(seed) {
	let state = seed * 2654435761 + 1;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

async function play(seed) {
	const random = chance(seed);
	const store = [];
	const onTheWay = [];
	let failures = 0;
	const read = async (after) => {
		for (let turns = random(4); turns > 0; turns--)
			await null;
		if (random(5) === 0) {
			failures++;
			throw new Error("the server does not answer");
		}
		// A page ends anywhere, also inside the events that one stored event became.
		const limit = 1 + random(4);
		const [sequence, part] = after.split(".");
		const rest = store.filter((event) => event.sequence > sequence || (event.sequence === Number(sequence) && part !== undefined && event.data.part > Number(part)));
		const items = rest.slice(0, limit);
		const last = items.at(-1);
		const whole = last === undefined || last.data.part + 1 === last.data.parts;
		const cursor = rest.length <= limit ? null : whole ? String(last.sequence) : `${last.sequence}.${last.data.part}`;
		for (let turns = random(4); turns > 0; turns--)
			await null;
		return { items, cursor };
	};
	const log = new RunLog(read, () => {}, () => {});
	void log.fill();
	let next = 0;
	for (let turn = 0; turn < 60; turn++) {
		if (random(2) === 0) {
			// Some numbers are left out: the vocabulary has no word for those events.
			next += random(6) === 0 ? 2 : 1;
			const parts = random(4) === 0 ? 2 + random(3) : 1;
			for (let part = 0; part < parts; part++) {
				const event = { sequence: next, data: { part, parts } };
				store.push(event);
				if (random(4) > 0)
					onTheWay.push(event);
			}
		}
		if (onTheWay.length > 0 && random(2) === 0) {
			const at = random(onTheWay.length);
			log.take(onTheWay[at]);
			if (random(3) > 0)
				onTheWay.splice(at, 1); // otherwise it comes once more
		}
		await null;
	}
	// A connection is made and nothing is lost any more.
	for (let tries = 0; tries < 100; tries++) {
		await log.fill();
		for (let turns = 0; turns < 40; turns++)
			await null;
	}
	const name = (event) => `${event.sequence}.${event.data.part}`;
	const wanted = store.map(name).join();
	const got = log.events.map(name).join();
	return wanted === got ? [] : [`seed ${seed}, ${failures} failures: the store has ${wanted}, the log ${got}`];
}

// A run whose beginning is gone: it is asked for once, and what comes is shown all the same.
async function playGone() {
	let asked = 0;
	const failed = [];
	const gone = new Error("compacted");
	const log = new RunLog(
		async () => {
			asked++;
			await null;
			throw gone;
		},
		() => {},
		(cause) => failed.push(cause),
		(cause) => cause === gone,
	);
	const first = log.fill();
	log.take({ sequence: 9 });
	log.take({ sequence: 8 });
	await first;
	for (let sequence = 10; sequence < 13; sequence++) {
		log.take({ sequence });
		log.take({ sequence });
		await log.fill();
	}
	const got = log.events.map((event) => event.sequence).join();
	const good = asked === 1 && failed.length === 1 && log.loaded && log.gone && got === "8,9,10,11,12";
	return good ? [] : [`gone: asked ${asked} times, failed ${failed.length} times, shows ${got}`];
}

const complaints = await playGone();
for (let seed = 1; seed <= Number(seeds); seed++)
	complaints.push(...(await play(seed)));
console.log(JSON.stringify(complaints));
