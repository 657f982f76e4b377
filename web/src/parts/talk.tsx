// What one agent was asked, thought, said and did in a step.
import type { run } from "contract";
import { useEffect } from "preact/hooks";
import { getBlob } from "../api";
import { useLoaded } from "../data";
import { Link, withQuery } from "../route";
import type { Replies, Reply } from "../replies";
import { durationText, pretty } from "../words";
import { Badge, ProblemText, shapeOf } from "./basic";
import { Prose } from "./prose";

const SHORT_ARGUMENTS = 80;
const LONG_MESSAGE = 600;
/** Media types that a browser shows as a picture and nothing else. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

// ---- usage ---------------------------------------------------------------------------------

const count = new Intl.NumberFormat();

/** "1,200 tokens in · 30 out", or "" when nothing is known. */
export function tokensText(usage: { [name: string]: unknown } | undefined): string {
	const input = Number(usage?.["input_tokens"] ?? 0), output = Number(usage?.["output_tokens"] ?? 0);
	return input + output === 0 ? "" : `${count.format(input)} tokens in · ${count.format(output)} out`;
}

export const costText = (dollars: number | undefined): string => (dollars === undefined ? "" : `$${dollars.toFixed(4)}`);

export function Usage({ usage }: { usage: run.TalkUsage | undefined }) {
	const words = [tokensText(usage as { [name: string]: unknown } | undefined), costText(usage?.cost_usd)].filter(Boolean);
	return words.length === 0 ? null : <span class="usage muted" data-usage>{words.join(" · ")}</span>;
}

// ---- pictures and recordings ---------------------------------------------------------------

/** An artifact that the model was shown.  A browser sends no key with an address, so the page reads the bytes itself. */
function Attachment({ run: id, attachment }: { run: string; attachment: run.Attachment }) {
	const path = attachment.name.split("/").map(encodeURIComponent).join("/");
	const loaded = useLoaded(async () => URL.createObjectURL(await getBlob(`/api/runs/${encodeURIComponent(id)}/artifacts/${path}?version=${attachment.version}`)), [id, attachment.sha256]);
	useEffect(() => () => { if (loaded.value !== undefined) URL.revokeObjectURL(loaded.value); }, [loaded.value]);
	if (loaded.problem !== undefined)
		return <ProblemText problem={loaded.problem} />;
	if (loaded.value === undefined)
		return <p class="muted">{attachment.name}</p>;
	return attachment.media_type.startsWith("audio/")
		? <audio controls src={loaded.value} data-attachment={attachment.name} aria-label={`Recording ${attachment.name}`} />
		: <img class="picture" src={loaded.value} data-attachment={attachment.name} alt={`Picture ${attachment.name}`} />;
}

// ---- calls ---------------------------------------------------------------------------------

function argumentsText({ arguments: given, malformed }: run.TalkCall): string {
	const values = Object.values(given ?? {});
	const text = malformed ?? (values.length === 1 && typeof values[0] === "string" ? values[0] : values.length === 0 ? "" : JSON.stringify(given));
	const line = text.replaceAll(/\s+/g, " ");
	return line.length > SHORT_ARGUMENTS ? `${line.slice(0, SHORT_ARGUMENTS)}…` : line;
}

function Call({ run: id, call }: { run: string; call: run.TalkCall }) {
	const state = call.state ?? (call.error === undefined ? "pending" : "refused");
	const [shape, tone] = shapeOf(state === "refused" ? "failed" : state);
	const took = call.started_at !== undefined && call.ended_at !== undefined ? Date.parse(call.ended_at) - Date.parse(call.started_at) : undefined;
	return (
		<details class="call" data-call={call.name} data-state={state}>
			<summary>
				<span class="badge" data-tone={tone}><span class="shape" aria-hidden="true">{shape}</span> <span class="hidden">{state}</span></span>{" "}
				<strong>{call.name}</strong>{call.instead_of !== undefined && <span class="muted"> failed; {call.step} instead</span>} <code class="call-line">{argumentsText(call)}</code>
				{took !== undefined && <span class="muted"> {durationText(took)}</span>}
			</summary>
			{(call.arguments !== undefined || call.malformed !== undefined) && <pre tabIndex={0} role="group" aria-label={`Arguments of ${call.name}`}>{call.malformed ?? pretty(call.arguments)}</pre>}
			{call.error !== undefined && <pre class="error" tabIndex={0} role="group" aria-label={`Error of ${call.name}`}>{call.error}</pre>}
			{call.result !== undefined && <pre tabIndex={0} role="group" aria-label={`Result of ${call.name}`}>{call.result === "" ? "(no output)" : call.result}</pre>}
			{call.result_left_out !== undefined && <p class="muted">{count.format(call.result_left_out)} more bytes are in the step.</p>}
			{(call.attachments ?? []).map((one) => <Attachment key={one.sha256} run={id} attachment={one} />)}
			{call.step !== undefined && <p><Link href={withQuery({ step: call.step })}>Open the step {call.step}</Link></p>}
		</details>
	);
}

// ---- turns ---------------------------------------------------------------------------------

function Thinking({ text, live }: { text: string | undefined; live: boolean }) {
	if (text === undefined || text === "")
		return null;
	return (
		<details class="thinking" open={live}>
			<summary>{live ? "Thinking …" : "Thinking"}</summary>
			<p class="plain">{text}</p>
		</details>
	);
}

function LiveTurn({ reply }: { reply: Reply | undefined }) {
	if (reply === undefined)
		return <p class="muted" data-waiting>Waiting for the model …</p>;
	return (
		<>
			<Thinking text={reply.thinking} live={reply.text === ""} />
			<p class="plain said" data-live>{reply.text}<span class="caret" aria-hidden="true" /></p>
			{reply.calls.map((name, at) => <p key={at} class="muted">asks for {name}</p>)}
			{reply.truncated && <p class="muted">The rest of this long reply appears when it is complete.</p>}
		</>
	);
}

function Turn({ run: id, turn, replies }: { run: string; turn: run.TalkTurn; replies: Replies }) {
	const reply = replies.of(turn.turn);
	const tokens = tokensText(turn.usage);
	return (
		<li class="turn" data-turn={turn.step} data-state={turn.state}>
			{turn.summarizes === true && <p class="note"><span class="muted">To the model:</span> Sum up the older turns.</p>}
			{turn.note !== undefined && <p class="note"><span class="muted">To the model:</span> {turn.note}</p>}
			{turn.live ? <LiveTurn reply={reply !== undefined && reply.attempt >= turn.attempt ? reply : undefined} /> : (
				<>
					<Thinking text={turn.thinking} live={false} />
					{turn.text !== "" && <Prose text={turn.text} />}
				</>
			)}
			{turn.error !== undefined && !turn.live && <p class="error">{turn.error}</p>}
			{(turn.calls ?? []).map((call, at) => <Call key={at} run={id} call={call} />)}
			<p class="turn-facts muted">
				{[tokens, turn.attempt > 1 && `attempt ${turn.attempt}`, turn.stop !== undefined && turn.stop !== "end" && turn.stop !== "calls" && `stopped: ${turn.stop}`].filter(Boolean).join(" · ")}
			</p>
		</li>
	);
}

// ---- messages ------------------------------------------------------------------------------

function Picture({ part }: { part: run.TurnPart }) {
	if (part.kind !== "image" || !PICTURES.has(part.media_type))
		return <p class="muted">{part.kind}, {part.media_type}</p>;
	return <img class="picture" alt="Picture in the message" src={`data:${part.media_type};base64,${part.data}`} />;
}

function Message({ run: id, message }: { run: string; message: run.TurnMessage }) {
	const long = message.content.length > LONG_MESSAGE;
	return (
		<div class="asked" data-role={message.role}>
			{long ? (
				<details>
					<summary>{message.content.slice(0, 120)}…</summary>
					<p class="plain">{message.content}</p>
				</details>
			) : <p class="plain">{message.content}</p>}
			{(message.parts ?? []).map((part, at) => <Picture key={at} part={part} />)}
			{(message.attachments ?? []).map((one, at) => <Attachment key={at} run={id} attachment={one} />)}
		</div>
	);
}

/** The newest message; those before it are in the talks before, or folded. */
function Opening({ run: id, talk }: { run: string; talk: run.Talk }) {
	const earlier = talk.messages.slice(0, -1), newest = talk.messages[talk.messages.length - 1];
	return (
		<>
			{talk.system !== "" && <details class="system"><summary>System prompt</summary><p class="plain">{talk.system}</p></details>}
			{earlier.length > 0 && (
				<details class="earlier">
					<summary>{earlier.length === 1 ? "1 earlier message" : `${earlier.length} earlier messages`}</summary>
					{earlier.map((message, at) => <Message key={at} run={id} message={message} />)}
				</details>
			)}
			{newest !== undefined && <Message run={id} message={newest} />}
		</>
	);
}

export function Talk({ run: id, talk, replies }: { run: string; talk: run.Talk; replies: Replies }) {
	return (
		<article class="talk" data-talk={talk.step} aria-label={`${talk.agent} in ${talk.step}`}>
			<header>
				<h3><Link href={withQuery({ step: talk.step })}>{talk.agent}</Link></h3>
				{talk.step !== talk.agent && <span class="muted">{talk.step}</span>}
				{talk.model !== "" && <code class="muted">{talk.model}</code>}
				<Badge state={talk.state} />
				<Usage usage={talk.usage} />
			</header>
			<Opening run={id} talk={talk} />
			{talk.turns_left_out !== undefined && <p class="muted">{count.format(talk.turns_left_out)} older turns are not shown.</p>}
			<ol class="turns">{talk.turns.map((turn) => <Turn key={turn.step} run={id} turn={turn} replies={replies} />)}</ol>
		</article>
	);
}
