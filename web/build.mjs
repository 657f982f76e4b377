// Bundles the dashboard: node web/build.mjs LIST DEPFILE FOLDER
//
// The files go into FOLDER under names that carry a hash of their content, each also as .gz; LIST
// gets a line NAME=PATH for every one of them (tools/pack reads it), DEPFILE what was read.
// index.html keeps its name: it is the one that says which of the others are the current ones.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [list, depfile, folder] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));

if (!existsSync(join(here, "node_modules", "esbuild"))) {
	console.error("web/node_modules is missing: run tools/install-deps");
	process.exit(1);
}
const { build } = await import("esbuild");

const out = resolve(folder);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const { metafile } = await build({
	absWorkingDir: here,
	entryPoints: { app: "src/main.tsx", style: "src/app.css" },
	entryNames: "[name]-[hash]",
	outdir: out,
	bundle: true,
	minify: true,
	format: "esm",
	splitting: true,
	chunkNames: "[name]-[hash]",
	target: "es2022",
	charset: "utf8",
	legalComments: "none",
	metafile: true,
	logLevel: "warning",
});

const made = readdirSync(out);
const named = (begin, end) => made.find((name) => name.startsWith(begin) && name.endsWith(end));
const page = readFileSync(join(here, "index.html"), "utf8")
	.replace("{{app.js}}", named("app-", ".js"))
	.replace("{{app.css}}", named("style-", ".css"));
writeFileSync(join(out, "index.html"), page);

for (const name of readdirSync(out))
	writeFileSync(join(out, `${name}.gz`), gzipSync(readFileSync(join(out, name)), { level: 9 }));

const files = readdirSync(out).sort();
writeFileSync(list, files.map((name) => `${name}=${join(out, name)}\n`).join(""));

const read = [...Object.keys(metafile.inputs), "index.html", "build.mjs", "tsconfig.json", "package-lock.json"];
const escaped = (path) => path.replaceAll(" ", "\\ ");
writeFileSync(depfile, `${escaped(list)}: ${read.map((path) => escaped(resolve(here, path))).join(" ")}\n`);
