// The files that the commits of a run have changed, with the diff of each; all of them, or those of one commit.
import type { run } from "contract";
import { get, type Problem } from "../api";
import { useLoaded } from "../data";
import { Empty, Loading, ProblemText } from "../parts/basic";
import { goQuery, usePlace } from "../route";
import { CodeDiff } from "./code_diff";
import type { Task } from "./tasks";

const pathOf = (id: string, what: string, query: Record<string, string>): string => {
	const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
	return `/api/runs/${encodeURIComponent(id)}/${what}${text && `?${text}`}`;
};

interface Range {
	/** "" = the beginning of the run's branch. */
	base: string;
	commit: string;
}

function FileDiff({ id, file, range }: { id: string; file: run.ChangedFile; range: Range }) {
	const { value, problem } = useLoaded((signal) => get<run.Changes>(pathOf(id, "diff", { path: file.path, ...range }), signal), [id, file.path, range.base, range.commit]);
	return (
		<>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value !== undefined && <CodeDiff text={value.diff ?? ""} path={file.path} />}
			{value?.truncated === true && <p class="muted">The diff is longer than the server sends; the rest is in the branch {value.branch}.</p>}
		</>
	);
}

function FileRow({ id, file, range, open }: { id: string; file: run.ChangedFile; range: Range; open: boolean }) {
	return (
		<li data-file={file.path}>
			<button type="button" class="file-line" aria-expanded={open} onClick={() => goQuery({ file: open ? "-" : file.path })}>
				<span class="fold" aria-hidden="true">{open ? "▾" : "▸"}</span>
				<code>{file.old_path === undefined ? file.path : `${file.old_path} → ${file.path}`}</code>
				<span class="muted">{file.status}</span>
				{file.added === undefined ? <span class="muted">binary</span> : <span><span class="added">+{file.added}</span> <span class="removed">−{file.deleted ?? 0}</span></span>}
			</button>
			{open && <FileDiff id={id} file={file} range={range} />}
		</li>
	);
}

interface Props {
	id: string;
	/** All changes of the run. */
	all: run.Changes | undefined;
	problem: Problem | undefined;
	tasks: Task[];
}

/** Chooses between all changes and those of one task's commit. */
function CommitPicker({ tasks, chosen }: { tasks: Task[]; chosen: string }) {
	return (
		<label>
			Commit{" "}
			<select value={chosen} onChange={(event) => goQuery({ commit: event.currentTarget.value, file: null })}>
				<option value="">all commits</option>
				{tasks.map((task) => task.commit !== undefined && (
					<option key={task.commit.commit} value={task.commit.commit}>{task.commit.commit.slice(0, 7)} · task {task.number}: {task.title}</option>
				))}
			</select>
		</label>
	);
}

export function Files({ id, all, problem, tasks }: Props) {
	const { query } = usePlace();
	const chosen = tasks.find((task) => task.commit?.commit === query.get("commit"))?.commit;
	const part = useLoaded((signal) => (chosen === undefined ? Promise.resolve(undefined) : get<run.Changes>(pathOf(id, "files", { base: chosen.parent, commit: chosen.commit }), signal)),
		[id, chosen?.commit]);
	const changes = chosen === undefined ? all : part.value;
	const range = { base: chosen?.parent ?? "", commit: chosen?.commit ?? all?.commit ?? "" };
	const wanted = query.get("file") ?? changes?.files[0]?.path;
	const failure = chosen === undefined ? problem : part.problem;
	if (failure?.status === 404)
		return <Empty title="No changes yet."><p>The run has no branch: {failure.message}</p></Empty>;
	return (
		<section aria-labelledby="files-title">
			<h2 id="files-title">Files <span class="count">{changes?.files.length ?? 0}</span></h2>
			<ProblemText problem={failure} />
			{changes === undefined && failure === undefined && <Loading />}
			{changes !== undefined && (
				<>
					<p class="files-line">
						<CommitPicker tasks={tasks} chosen={chosen?.commit ?? ""} />
						<span class="muted">on <code>{changes.branch}</code>{changes.base_branch !== undefined && <>, which began at <code>{changes.base_branch}</code></>}</span>
					</p>
					{changes.files.length === 0 && <p class="muted">Nothing is committed yet.</p>}
					<ul class="files">
						{changes.files.map((file) => <FileRow key={file.path} id={id} file={file} range={range} open={file.path === wanted} />)}
					</ul>
					{changes.files_truncated && <p class="muted">There are more files than are listed here.</p>}
				</>
			)}
		</section>
	);
}
