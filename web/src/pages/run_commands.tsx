// Commands to a run: pause, resume, cancel, signal.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { ask } from "../api";
import { useDoing } from "../data";
import { Action, ProblemText } from "../parts/basic";
import { href, Link } from "../route";
import { readJson } from "../words";

function SignalForm({ tell }: { tell: (command: string, body: unknown) => Promise<void> }) {
	const [name, setName] = useState("");
	const [data, setData] = useState("");
	const [wrong, setWrong] = useState<string | undefined>();
	const sending = useDoing(async () => {
		const read = data.trim() === "" ? { value: null, wrong: undefined } : readJson(data);
		setWrong(read.wrong);
		if (read.wrong !== undefined)
			return;
		const body: run.SignalRequest = { name: name.trim(), data: read.value };
		await tell("signal", body);
		setName("");
		setData("");
	});
	return (
		<details class="signal">
			<summary>Send a signal</summary>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void sending.start();
				}}
			>
				<label>Name <input name="signal" value={name} required maxLength={128} autoComplete="off" spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} /></label>
				<label>
					Data <span class="muted">(JSON, optional)</span>
					<textarea class="mono" rows={3} value={data} spellcheck={false} aria-invalid={wrong !== undefined} onInput={(event) => setData(event.currentTarget.value)} />
				</label>
				{wrong !== undefined && <p class="error" role="alert">{wrong}</p>}
				<Action doing={sending} busy="Sending …" submit>Send</Action>
				<ProblemText problem={sending.problem} />
			</form>
		</details>
	);
}

interface Props {
	id: string;
	/** Baton's own word. */
	state: string;
	/** The parent run; a sub-run is retried through it. */
	within: string | undefined;
	/** Address of the form that starts the same workflow again. */
	again: string;
	/** A command was accepted. */
	done: () => void;
}

/** An ended run can be started again; a failed one can go on where it failed. */
function EndedCommands({ id, state, within, again, done }: Props) {
	const retry = useDoing(async () => {
		await ask(`/api/runs/${encodeURIComponent(id)}/retry`, { method: "POST", body: {} });
		done();
	});
	return (
		<div class="commands" role="group" aria-label="Commands">
			{state === "failed" && within === undefined && <Action doing={retry} tone="main" busy="Retrying …">Retry failed steps</Action>}
			{state === "failed" && within !== undefined && <Link class="action" href={href("runs", within)}>Retry through the parent run</Link>}
			<Link class="action" href={again}>Start again …</Link>
			<ProblemText problem={retry.problem} />
		</div>
	);
}

export function Commands(props: Props) {
	const { id, state } = props;
	const [sure, setSure] = useState(false);
	const tell = async (command: string, body: unknown) => {
		await ask(`/api/runs/${encodeURIComponent(id)}/${command}`, { method: "POST", body });
	};
	const pause = useDoing(() => tell("pause", {}));
	const resume = useDoing(() => tell("resume", {}));
	const cancel = useDoing(async () => {
		await tell("cancel", {});
		setSure(false);
	});
	if (["succeeded", "with_issues", "failed", "cancelled"].includes(state))
		return <EndedCommands {...props} />;
	return (
		<div class="commands" role="group" aria-label="Commands">
			{state === "paused" && <Action doing={resume} tone="main" busy="Resuming …">Resume</Action>}
			{state !== "paused" && state !== "queued" && <Action doing={pause} busy="Pausing …">Pause</Action>}
			{!sure && <button type="button" class="action" data-tone="bad" onClick={() => setSure(true)}>Cancel the run</button>}
			{sure && (
				<>
					<Action doing={cancel} tone="bad" busy="Cancelling …">Yes, cancel it</Action>
					<button type="button" class="action" onClick={() => setSure(false)}>Keep it</button>
				</>
			)}
			<SignalForm tell={tell} />
			<ProblemText problem={pause.problem ?? resume.problem ?? cancel.problem} />
		</div>
	);
}
