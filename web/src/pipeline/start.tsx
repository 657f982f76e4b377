// Starts the implementation of an issue: one of the profile's tracker, or one that is written here.  The
// server is asked in advance whether the profile can start it, so that a missing agent is named before
// anything is typed.
import type { pipeline, run, runtime } from "contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, get, Problem } from "../api";
import { useDoing, useLoaded } from "../data";
import { keepDraft, readDraft } from "../draft";
import { Action, Empty, Loading, Page, ProblemText } from "../parts/basic";
import { startRun } from "../pages/new_run";
import { go, href, Link } from "../route";

const WORKFLOW = "implementation";
const DRAFT = "start-issue";
const SEARCH_AFTER_MS = 250;

interface Draft {
	/** "" = the active profile. */
	profile: string;
	written: boolean;
	issue: string;
	title: string;
	description: string;
	plan: string;
	personas: string;
	branch: string;
	auto_approve: boolean;
	allow_dirty: boolean;
}

const EMPTY: Draft = { profile: "", written: false, issue: "", title: "", description: "", plan: "", personas: "", branch: "", auto_approve: false, allow_dirty: false };

/** Only what was filled in; the rest has the defaults of the workflow. */
function inputsOf(draft: Draft, written: boolean): { [name: string]: unknown } {
	const personas = draft.personas.split(/[,\n]/).map((one) => one.trim()).filter((one) => one !== "");
	return {
		...(written ? { title: draft.title.trim(), description: draft.description } : { issue: draft.issue }),
		...(draft.plan.trim() === "" ? {} : { plan: draft.plan }),
		...(personas.length === 0 ? {} : { personas }),
		...(draft.branch.trim() === "" ? {} : { branch: draft.branch.trim() }),
		...(draft.auto_approve ? { auto_approve: true } : {}),
		...(draft.allow_dirty ? { allow_dirty: true } : {}),
	};
}

const agentsIn = (problem: Problem): string[] =>
	problem.places.map((place) => /^\/agents\/([^/]+)\//.exec(place.pointer)?.[1] ?? "").filter((name, at, all) => name !== "" && all.indexOf(name) === at);

/** What is missing before the profile can start the workflow; undefined = nothing. */
async function missing(profile: string, signal: AbortSignal): Promise<Problem | null> {
	const body: runtime.WorkflowRunRequest_Input = { workflow: WORKFLOW, profile, inputs: { title: "-" } };
	try {
		await ask("/api/run/plan", { method: "POST", body, signal });
		return null;
	} catch (cause) {
		if (cause instanceof Problem && cause.status === 422)
			return cause;
		return null; // the start itself says what is wrong
	}
}

function Missing({ profile, problem }: { profile: string; problem: Problem }) {
	const agents = agentsIn(problem);
	return (
		<div class="problem" role="alert" data-missing={agents.join(" ")}>
			{agents.length > 0
				? <p>Profile {profile} cannot work on an issue: it has no {agents.join(", ")}. Give {agents.length === 1 ? "it" : "each"} a driver and a model in <Link href={href("settings", "profiles", profile)}>the profile</Link>, or run <code>baton init</code> in the repository.</p>
				: <p>Profile {profile} cannot work on an issue: {problem.message}</p>}
		</div>
	);
}

function NoProfile({ page }: { page: run.ProfilePage }) {
	return (
		<Empty title={page.items.length === 0 ? "There is no profile yet." : "No profile has a repository."}>
			<p>Run <code>baton init</code> in your repository, or <Link href={href("settings", page.items.length === 0 ? "new-profile" : "profiles")}>{page.items.length === 0 ? "create a profile" : "open the profiles"}</Link> and set repo_root and the agents architect, developer, task_reviewer and reviewer.</p>
		</Empty>
	);
}

function IssueRow({ issue, chosen, choose }: { issue: run.Issue; chosen: boolean; choose: () => void }) {
	return (
		<li data-issue={issue.id}>
			<label>
				<input type="radio" name="issue" checked={chosen} onChange={choose} />
				<span><b>{issue.id}</b> {issue.title} <span class="muted">{[issue.status, ...issue.labels].join(" · ")}</span></span>
			</label>
			{chosen && issue.description !== "" && <p class="issue-text">{issue.description}</p>}
		</li>
	);
}

/** The open issues of the profile's tracker, searched by the tracker. */
function IssueList({ profile, issue, choose }: { profile: string; issue: string; choose: (issue: string) => void }) {
	const [typed, setTyped] = useState("");
	const [search, setSearch] = useState("");
	useEffect(() => {
		const timer = setTimeout(() => setSearch(typed.trim()), SEARCH_AFTER_MS);
		return () => clearTimeout(timer);
	}, [typed]);
	const query = new URLSearchParams({ profile, limit: "50", ...(search === "" ? {} : { search }) }).toString();
	const { value, problem } = useLoaded((signal) => get<run.IssuePage>(`/api/tracker/issues?${query}`, signal), [query]);
	const items = value?.items ?? [];
	const other = search !== "" && !/\s/.test(search) && !items.some((item) => item.id === search);
	return (
		<div class="field">
			<label class="label" for="issue-search">Search</label>
			<input id="issue-search" type="search" value={typed} placeholder="words, or the id of an issue" spellcheck={false} onInput={(event) => setTyped(event.currentTarget.value)} />
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value !== undefined && items.length === 0 && <p class="muted" data-no-issues>{search === "" ? `The tracker of this profile (${value.tracker}) has no open issues.` : "No open issue has these words."}</p>}
			<ul class="issues" aria-label="Issues">
				{items.map((item) => <IssueRow key={item.id} issue={item} chosen={item.id === issue} choose={() => choose(item.id)} />)}
				{other && <li><label><input type="radio" name="issue" checked={issue === search} onChange={() => choose(search)} /> <span>the issue with the id <b>{search}</b></span></label></li>}
			</ul>
		</div>
	);
}

type Change = (change: Partial<Draft>) => void;

function Written({ draft, change }: { draft: Draft; change: Change }) {
	return (
		<>
			<div class="field">
				<label class="label" for="title">Title</label>
				<input id="title" value={draft.title} maxLength={1024} onInput={(event) => change({ title: event.currentTarget.value })} />
			</div>
			<div class="field">
				<label class="label" for="description">Description</label>
				<textarea id="description" rows={6} value={draft.description} onInput={(event) => change({ description: event.currentTarget.value })} />
			</div>
		</>
	);
}

function Options({ draft, change }: { draft: Draft; change: Change }) {
	return (
		<details class="group">
			<summary>Options</summary>
			<div class="field"><label><input type="checkbox" checked={draft.auto_approve} onChange={(event) => change({ auto_approve: event.currentTarget.checked })} /> Approve a valid plan without asking</label></div>
			<div class="field"><label><input type="checkbox" checked={draft.allow_dirty} onChange={(event) => change({ allow_dirty: event.currentTarget.checked })} /> Start from the last commit although the repository has uncommitted changes</label></div>
			<div class="field">
				<label class="label" for="personas">Reviewers of a task</label>
				<input id="personas" value={draft.personas} placeholder="general" spellcheck={false} aria-describedby="personas-help" onInput={(event) => change({ personas: event.currentTarget.value })} />
				<span class="muted" id="personas-help">Personas, separated by commas: security, performance. All must approve.</span>
			</div>
			<div class="field">
				<label class="label" for="branch">Branch</label>
				<input id="branch" value={draft.branch} placeholder="baton/ISSUE" spellcheck={false} onInput={(event) => change({ branch: event.currentTarget.value })} />
			</div>
			<div class="field">
				<label class="label" for="plan">Plan</label>
				<textarea id="plan" class="mono" rows={6} value={draft.plan} spellcheck={false} aria-describedby="plan-help" onInput={(event) => change({ plan: event.currentTarget.value })} />
				<span class="muted" id="plan-help">A plan in Markdown that is used instead of the architect's.</span>
			</div>
		</details>
	);
}

function Source({ written, change, tracked }: { written: boolean; change: Change; tracked: boolean }) {
	return (
		<fieldset class="source">
			<legend class="label">Issue</legend>
			<label><input type="radio" name="source" checked={!written} disabled={!tracked} onChange={() => change({ written: false })} /> Choose one of the tracker{!tracked && <span class="muted"> (this profile has none)</span>}</label>
			<label><input type="radio" name="source" checked={written} onChange={() => change({ written: true })} /> Write one</label>
		</fieldset>
	);
}

function StartForm({ profiles, active }: { profiles: pipeline.Profile[]; active: string | null }) {
	const [draft, setDraft] = useState<Draft>(() => ({ ...EMPTY, ...readDraft<Draft>(DRAFT) }));
	const id = useRef(crypto.randomUUID() as string);
	const change: Change = (part) => {
		const now = { ...draft, ...part };
		setDraft(now);
		keepDraft(DRAFT, now);
	};
	const profile = profiles.find((one) => one.name === draft.profile) ?? profiles.find((one) => one.name === active) ?? profiles[0];
	const name = profile?.name ?? "";
	const tracked = profile?.tracker !== "noop";
	const written = draft.written || !tracked;
	const check = useLoaded((signal) => missing(name, signal), [name]);
	const starting = useDoing(async () => {
		await startRun({ workflow: WORKFLOW, profile: name, run_id: id.current, inputs: inputsOf(draft, written) });
		keepDraft(DRAFT, undefined);
		go(href("runs", id.current));
	});
	const ready = (written ? draft.title.trim() : draft.issue) !== "" && check.value == null;
	return (
		<form class="form" noValidate aria-label="Work on an issue" onSubmit={(event) => {
			event.preventDefault();
			void starting.start();
		}}>
			<div class="field">
				<label class="label" for="profile">Profile</label>
				<select id="profile" value={name} onChange={(event) => change({ profile: event.currentTarget.value, issue: "" })}>
					{profiles.map((one) => <option key={one.name} value={one.name}>{one.name}{one.name === active && " (active)"}</option>)}
				</select>
				<span class="muted">works in <code>{profile?.repo_root}</code>; your files and your branch are not touched</span>
			</div>
			{check.value != null && <Missing profile={name} problem={check.value} />}
			<Source written={written} change={change} tracked={tracked} />
			{written ? <Written draft={draft} change={change} /> : <IssueList key={name} profile={name} issue={draft.issue} choose={(issue) => change({ issue })} />}
			<Options draft={draft} change={change} />
			<ProblemText problem={starting.problem} />
			<Action doing={starting} tone="main" busy="Starting …" disabled={!ready} submit>Start</Action>
		</form>
	);
}

export function StartPage() {
	const { value, problem } = useLoaded((signal) => get<run.ProfilePage>("/api/profiles?limit=1000", signal), []);
	const usable = value?.items.filter((profile) => (profile.repo_root ?? "") !== "") ?? [];
	return (
		<Page title="Work on an issue">
			<p class="muted">An architect plans it, you approve the plan, developers and reviewers work on one task after the other, and each task ends as a commit on a branch of its own.</p>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value !== undefined && usable.length === 0 && <NoProfile page={value} />}
			{value !== undefined && usable.length > 0 && <StartForm profiles={usable} active={value.active_profile} />}
		</Page>
	);
}
