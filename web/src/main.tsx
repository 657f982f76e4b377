// The frame of the dashboard: navigation, connection banner, keyboard shortcuts, current page.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { access } from "./access";
import { get } from "./api";
import { useCell } from "./cell";
import { editorPage, pipelinePages, useChunk } from "./chunk";
import { useNow } from "./data";
import { inbox } from "./inbox";
import { begin as beginKeys, keysNow, keysOn, keysSwitch, useKeys, type Key } from "./keys";
import { begin as beginLive, connection, listen, retryNow } from "./live";
import { Loading, Page } from "./parts/basic";
import { AgentPage, AgentsPage } from "./pages/agents";
import { InboxPage } from "./pages/inbox";
import { NewRunPage } from "./pages/new_run";
import { RunPage } from "./pages/run";
import { RunsPage } from "./pages/runs";
import { SignInPage } from "./pages/sign_in";
import { SettingsPage } from "./pages/settings";
import { SystemPage } from "./pages/system";
import { UsagePage } from "./pages/usage";
import { WorkflowPage, WorkflowsPage } from "./pages/workflows";
import { go, href, Link, usePlace } from "./route";

const BACK_SHOWN_MS = 4000;

/** The page that starts the implementation of an issue. */
function StartPlace() {
	const pages = useChunk(pipelinePages, true);
	return pages === undefined ? <Page title="Work on an issue"><Loading /></Page> : <pages.StartPage />;
}

function EditorPlace({ name }: { name: string }) {
	const page = useChunk(editorPage, true);
	return page === undefined ? <Page title={name === "" ? "New workflow" : `Edit ${name}`}><Loading /></Page> : <page.EditorPage name={name} />;
}

function CurrentPage({ path }: { path: string[] }) {
	const [page = "runs", second] = path;
	if (page === "runs" && second === "new")
		return <NewRunPage />;
	if (page === "runs" && second !== undefined)
		return <RunPage key={second} id={second} />;
	if (page === "runs")
		return <RunsPage />;
	if (page === "start")
		return <StartPlace />;
	if (page === "workflows" && second !== undefined)
		return <WorkflowPage key={second} name={second} />;
	if (page === "workflows")
		return <WorkflowsPage />;
	if (page === "editor")
		return <EditorPlace key={second ?? ""} name={second ?? ""} />;
	if (page === "inbox")
		return <InboxPage />;
	if (page === "agents" && second !== undefined)
		return <AgentPage key={second} name={second} />;
	if (page === "agents")
		return <AgentsPage />;
	if (page === "settings")
		return <SettingsPage />;
	if (page === "usage")
		return <UsagePage />;
	if (page === "system")
		return <SystemPage />;
	return <Page title="Page not found"><p><Link href={href("runs")}>Go to runs</Link></p></Page>;
}

// ---- the connection ------------------------------------------------------------------------

/** Reports a lost connection and, for a moment, its return; the content of the page stays. */
function Banner() {
	const { kind, retryAt, recovered } = useCell(connection);
	const now = useNow(kind === "lost" ? 500 : null);
	const [back, setBack] = useState(false);
	useEffect(() => {
		if (kind !== "live" || !recovered)
			return undefined;
		setBack(true);
		const timer = setTimeout(() => setBack(false), BACK_SHOWN_MS);
		return () => clearTimeout(timer);
	}, [kind, recovered]);
	const seconds = Math.ceil((retryAt - now) / 1000);
	return (
		<div class="banner-place" role="status">
			{kind === "lost" && (
				<div class="banner" data-tone="wait" data-banner="lost">
					<span>◌ Connection to the server lost. The data shown may be outdated. {retryAt === 0 || seconds <= 0 ? "Reconnecting …" : <span aria-hidden="true">Next attempt in {seconds} s.</span>}</span>
					<button type="button" class="action" onClick={retryNow}>Reconnect now</button>
				</div>
			)}
			{kind === "live" && back && <div class="banner" data-tone="good" data-banner="back">● Connected again. Everything is up to date.</div>}
		</div>
	);
}

const CONNECTION_WORDS = { connecting: "○ connecting", live: "● live", lost: "◌ reconnecting" };

/** Reads the server's version at every connection: a restarted server may be a newer version. */
function useVersion(): { now: string; outdated: boolean } {
	const [version, setVersion] = useState({ first: "", now: "" });
	useEffect(() => {
		const ask = () => get<{ version: string }>("/api/health").then(
			({ version: now }) => setVersion((old) => ({ first: old.first || now, now })), () => {});
		void ask();
		return listen({ resync: () => void ask() });
	}, []);
	return { now: version.now, outdated: version.first !== version.now };
}

// ---- keys ----------------------------------------------------------------------------------

function KeyHelp({ close }: { close: () => void }) {
	const dialog = useRef<HTMLDialogElement>(null);
	const on = useCell(keysOn);
	useEffect(() => dialog.current?.showModal(), []);
	return (
		<dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
			<h2 id="keys-title">Keyboard shortcuts</h2>
			<table aria-labelledby="keys-title">
				<tbody>
					{keysNow().map((key) => (
						<tr key={key.keys}>
							<td>{key.keys.split(" ").map((part) => <kbd key={part}>{part}</kbd>)}</td>
							<td>{key.text}</td>
						</tr>
					))}
				</tbody>
			</table>
			<p><label><input type="checkbox" checked={on} onChange={(event) => keysSwitch(event.currentTarget.checked)} /> Enable single-key shortcuts</label></p>
			<button type="button" class="action" onClick={() => dialog.current?.close()}>Close</button>
		</dialog>
	);
}

// ---- the frame -----------------------------------------------------------------------------

const PLACES = [["runs", "Runs", "g r"], ["workflows", "Workflows", "g w"], ["agents", "Agents", "g a"], ["inbox", "Inbox", "g i"], ["usage", "Usage", "g u"], ["settings", "Settings", "g s"], ["system", "System", "g y"]] as const;

function useTitle(page: string, waiting: number): void {
	useEffect(() => {
		const name = PLACES.find(([place]) => place === page)?.[1] ?? "Baton";
		document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${name} · Baton`;
	}, [page, waiting]);
}

function App() {
	const { path } = usePlace();
	const page = path[0] === "editor" ? "workflows" : path[0] === "start" ? "runs" : (path[0] ?? "runs");
	const { kind } = useCell(connection);
	const { refused } = useCell(access);
	const version = useVersion();
	const [help, setHelp] = useState(false);
	const waiting = inbox.open(useCell(inbox.cell)).length;
	useTitle(page, waiting);
	useKeys([
		...PLACES.map(([place, text, keys]): Key => ({ keys, text: `Go to ${text}`, run: () => go(href(place)) })),
		{ keys: "g b", text: "Work on an issue", run: () => go(href("start")) },
		{ keys: "g n", text: "Start a run", run: () => go(href("runs", "new")) },
		{ keys: "?", text: "Show keyboard shortcuts", run: () => setHelp(true) },
	]);
	return (
		<>
			<a class="skip" href="#main">Skip to content</a>
			<header class="bar">
				<Link class="brand" href={href("runs")}>Baton</Link>
				<nav class="places" aria-label="Main">
					{PLACES.map(([place, text]) => (
						<Link key={place} href={href(place)} aria-current={place === page ? "page" : undefined}>
							{text}
							{place === "inbox" && waiting > 0 && <span class="waiting-count" aria-label={`${waiting} waiting`}>{waiting}</span>}
						</Link>
					))}
				</nav>
				<span class="connection" data-connection={kind}>{CONNECTION_WORDS[kind]}</span>
				<span class="version muted">{version.now}</span>
				<button type="button" class="action quiet help" aria-label="Keyboard shortcuts" onClick={() => setHelp(true)}>?</button>
			</header>
			{!refused && <Banner />}
			{version.outdated && (
				<div class="banner" data-tone="wait">The server was updated to {version.now}. <button type="button" class="action" onClick={() => location.reload()}>Reload the dashboard</button></div>
			)}
			<main id="main" tabIndex={-1}>{refused ? <SignInPage /> : <CurrentPage path={path} />}</main>
			{help && <KeyHelp close={() => setHelp(false)} />}
		</>
	);
}

const place = document.getElementById("app");
if (place) {
	place.replaceChildren();
	beginKeys();
	beginLive();
	inbox.begin();
	render(<App />, place);
}
