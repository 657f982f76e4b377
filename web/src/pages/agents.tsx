// The agents of the registry; one agent with its settings, and a box that lets it work or talk.
import type { run, runtime } from "contract";
import { useState } from "preact/hooks";
import { ask, get } from "../api";
import { useDoing, useLoaded } from "../data";
import { keepDraft, readDraft } from "../draft";
import { listKeys, useKeys } from "../keys";
import { Action, Empty, Loading, Page, ProblemText } from "../parts/basic";
import { MessageBox } from "../parts/message_box";
import { ProfilePicker } from "../parts/profile_picker";
import { go, href, Link, usePlace } from "../route";

const LONGEST_VALUE = 400;

export function AgentsPage() {
	const { value, problem } = useLoaded((signal) => get<run.AgentPage>("/api/agents?view=run&limit=1000", signal), []);
	useKeys(listKeys("agent"));
	const create = <Link class="action" href={href("settings", "new-agent")}>New agent</Link>;
	return (
		<Page title="Agents" aside={create}>
			<ProblemText problem={problem} />
			{value === undefined && problem === undefined && <Loading />}
			{value?.items.length === 0 && <Empty title="No agent yet."><p>An agent is a model with a system prompt and tools. Create one, and let it work on a task here.</p></Empty>}
			<ul class="agents">
				{value?.items.map((agent) => (
					<li key={agent.name} data-agent={agent.name}>
						<Link href={href("agents", agent.name)} data-row>{agent.name}</Link>
						<span>{agent.role}</span>
						<span class="muted">{agent.driver} <code>{agent.llm_config.model}</code></span>
					</li>
				))}
			</ul>
		</Page>
	);
}

/** Starts a run of the agent and opens it. */
function WorkBox({ name, goal, profile, setProfile }: { name: string; goal: string; profile: string; setProfile: (profile: string) => void }) {
	const draft = `agent.${name}`;
	const [text, setText] = useState(goal || (readDraft<string>(draft) ?? ""));
	const change = (to: string) => {
		setText(to);
		keepDraft(draft, to === "" ? undefined : to);
	};
	const start = async (chat: boolean) => {
		const body = { agent: name, goal: text.trim(), chat, ...(profile === "" ? {} : { profile }) };
		const { body: begun } = await ask<runtime.WorkflowRunResponse>("/api/agentic", { method: "POST", body });
		change("");
		go(href("runs", begun.run_id));
	};
	const chatting = useDoing(() => start(true));
	const working = useDoing(() => start(false));
	const nothing = text.trim() === "";
	return (
		<MessageBox label={`Message to ${name}`} text={text} change={change} send={() => void chatting.start()}>
			<Action doing={chatting} tone="main" busy="Starting …" submit disabled={nothing}>Chat</Action>
			<Action doing={working} busy="Starting …" disabled={nothing}>Run as a task</Action>
			<ProfilePicker name={profile} change={setProfile} />
			<ProblemText problem={chatting.problem ?? working.problem} />
		</MessageBox>
	);
}

function Settings({ agent }: { agent: run.Agent }) {
	const facts: [string, string][] = [
		["Role", agent.role], ["Driver", agent.driver], ["Model", agent.llm_config.model],
		["Tools", (agent.tools ?? []).join(", ") || "none"], ["Most turns", String(agent.max_iterations)],
		["Temperature", String(agent.temperature)],
	];
	return (
		<>
			<dl class="facts">{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
			{agent.description && <p>{agent.description}</p>}
			<details class="system" open={agent.system_prompt.length < 400}>
				<summary>System prompt</summary>
				<p class="plain">{agent.system_prompt}</p>
			</details>
		</>
	);
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** What a run that starts now would have, each value with the place that it comes from, and what would refuse the start. */
function Resolved({ name, profile }: { name: string; profile: string }) {
	const query = profile === "" ? "" : `?profile=${encodeURIComponent(profile)}`;
	const { value, problem } = useLoaded((signal) => get<run.ResolvedAgent>(`/api/agents/${encodeURIComponent(name)}/resolved${query}`, signal), [name, profile]);
	return (
		<section aria-label="Configuration of a run">
			<h2>Configuration of a run</h2>
			<ProblemText problem={problem} />
			{value?.problems.map((text) => <p key={text} class="problem" role="status" data-refusal>A run would be refused: {text}</p>)}
			{value !== undefined && (
				<div class="scroll">
					<table aria-label="Configuration of a run" data-resolved>
						<thead><tr><th scope="col">Value</th><th scope="col">From</th><th scope="col">Is</th></tr></thead>
						<tbody>
							{value.values.map((one) => (
								<tr key={one.name} data-value={one.name}>
									<td>{one.name}</td>
									<td data-origin={one.origin}>{one.origin === "profile" && value.profile !== null ? `profile ${value.profile}` : one.origin}</td>
									<td><code>{valueText(one.value).slice(0, LONGEST_VALUE)}</code></td>
								</tr>
							))}
						</tbody>
					</table>
				</div>
			)}
		</section>
	);
}

export function AgentPage({ name }: { name: string }) {
	const { query } = usePlace();
	const [profile, setProfile] = useState("");
	const { value, problem } = useLoaded((signal) => get<run.Agent>(`/api/agents/${encodeURIComponent(name)}`, signal), [name]);
	const edit = <Link class="action" href={href("settings", "agents", name)}>Edit</Link>;
	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={href("agents")}>Agents</Link></nav>
			<Page title={name} aside={value !== undefined && edit}>
				<ProblemText problem={problem} />
				{value === undefined && problem === undefined && <Loading />}
				{value !== undefined && (
					<>
						<WorkBox name={name} goal={query.get("goal") ?? ""} profile={profile} setProfile={setProfile} />
						<Settings agent={value} />
						<Resolved name={name} profile={profile} />
						<p><Link href={href("runs", { label: `agent=${name}` })}>Runs of this agent</Link></p>
					</>
				)}
			</Page>
		</>
	);
}
