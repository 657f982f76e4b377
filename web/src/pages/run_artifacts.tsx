// The artifacts of a run: the newest version of each, the older ones, preview and download.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { access } from "../access";
import { getBlob, getText, type Problem } from "../api";
import { useDoing, useLoaded } from "../data";
import { Loading, ProblemText, Time } from "../parts/basic";
import { bytesText } from "../words";

type Artifact = run.Artifact;

/** Longer texts are only for downloading. */
const PREVIEW_BYTES = 256 * 1024;

const isText = (type: string): boolean => /^text\/|[/+]json\b|[/+](?:xml|yaml)\b|javascript/.test(type);

const addressOf = (id: string, { name, version }: Artifact): string =>
	`/api/runs/${encodeURIComponent(id)}/artifacts/${name.split("/").map(encodeURIComponent).join("/")}?version=${version}`;

/** A browser sends no key with a link, so with a key the page reads the file itself. */
function Download({ id, artifact, text }: { id: string; artifact: Artifact; text: string }) {
	const address = addressOf(id, artifact);
	const file = artifact.name.slice(artifact.name.lastIndexOf("/") + 1);
	const reading = useDoing(async () => {
		const url = URL.createObjectURL(await getBlob(address));
		const link = document.createElement("a");
		link.href = url;
		link.download = file;
		link.click();
		URL.revokeObjectURL(url);
	});
	const click = (event: MouseEvent) => {
		if (access.value.key === null)
			return;
		event.preventDefault();
		void reading.start();
	};
	return (
		<>
			<a href={address} download={file} onClick={click} aria-label={`Download ${artifact.name}, version ${artifact.version}`}>{text}</a>
			<ProblemText problem={reading.problem} />
		</>
	);
}

function Preview({ id, artifact }: { id: string; artifact: Artifact }) {
	const text = useLoaded((signal) => getText(addressOf(id, artifact), signal), [id, artifact.name, artifact.version]);
	return (
		<>
			<ProblemText problem={text.problem} />
			{text.value === undefined && text.problem === undefined && <Loading />}
			{text.value !== undefined && <pre tabIndex={0} role="group" aria-label={`Text of ${artifact.name}`}>{text.value}</pre>}
		</>
	);
}

function Row({ id, versions }: { id: string; versions: Artifact[] }) {
	const [open, setOpen] = useState(false);
	const [newest, ...older] = versions;
	if (newest === undefined)
		return null;
	const shown = isText(newest.media_type) && newest.size <= PREVIEW_BYTES;
	return (
		<li class="artifact" data-artifact={newest.name}>
			<div class="artifact-line">
				<b>{newest.name}</b>
				<span class="muted">{newest.media_type} · {bytesText(newest.size)} · version {newest.version} · <Time at={newest.created_at} /></span>
				<span>
					{shown && <button type="button" class="action quiet" aria-expanded={open} aria-label={`${open ? "Hide" : "Show"} ${newest.name}`} onClick={() => setOpen(!open)}>{open ? "Hide" : "Show"}</button>}
					<Download id={id} artifact={newest} text="Download" />
				</span>
				{older.length > 0 && (
					<span class="muted">older: {older.map((artifact) => <span key={artifact.version}> <Download id={id} artifact={artifact} text={`version ${artifact.version}`} /></span>)}</span>
				)}
			</div>
			{open && <Preview id={id} artifact={newest} />}
		</li>
	);
}

/** Newest version first, in the order in which the names were first written. */
function byName(items: Artifact[]): Artifact[][] {
	const names = new Map<string, Artifact[]>();
	for (const item of items)
		names.set(item.name, [item, ...(names.get(item.name) ?? [])]);
	return [...names.values()];
}

export function ArtifactsSection({ id, page, problem }: { id: string; page: run.ArtifactPage | undefined; problem: Problem | undefined }) {
	const all = byName(page?.items ?? []);
	if (all.length === 0 && problem === undefined)
		return null;
	return (
		<section aria-labelledby="artifacts-title">
			<h2 id="artifacts-title">Artifacts <span class="count">{all.length}</span></h2>
			<ProblemText problem={problem} />
			<ul class="artifacts">
				{all.map((versions) => <Row key={versions[0]?.name} id={id} versions={versions} />)}
			</ul>
		</section>
	);
}
