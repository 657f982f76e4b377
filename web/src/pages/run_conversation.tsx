// The conversation of a run: its agents, turn by turn, live; and the box for the next message of a chat.
import type { run } from "contract";
import { useState } from "preact/hooks";
import { ask, type Problem } from "../api";
import { useDoing } from "../data";
import { keepDraft, readDraft } from "../draft";
import { Action, ProblemText } from "../parts/basic";
import { MessageBox } from "../parts/message_box";
import { Talk, Usage } from "../parts/talk";
import type { Replies } from "../replies";

/** A run that takes messages: it waits for one, or replies to one. */
export const takesMessages = (outline: run.Outline): boolean =>
	outline.ended_at === undefined && (outline.workflow === "chat" || outline.steps.some((step) => step.signal === "message"));

function ChatBox({ id, outline }: { id: string; outline: run.Outline }) {
	const draft = `chat.${id}`;
	const [text, setText] = useState(readDraft<string>(draft) ?? "");
	const path = `/api/runs/${encodeURIComponent(id)}/signal`;
	const change = (to: string) => {
		setText(to);
		keepDraft(draft, to === "" ? undefined : to);
	};
	const sending = useDoing(async () => {
		const body: run.SignalRequest = { name: "message", data: { role: "user", content: text.trim() } };
		await ask(path, { method: "POST", body });
		change("");
	});
	const ending = useDoing(async () => {
		await ask(path, { method: "POST", body: { name: "message", data: { end: true } } });
	});
	const waits = outline.steps.some((step) => step.signal === "message" && step.state !== "succeeded");
	return (
		<MessageBox label="Message" text={text} change={change} send={() => void sending.start()}>
			<Action doing={sending} tone="main" busy="Sending …" submit disabled={text.trim() === ""}>Send</Action>
			<Action doing={ending} busy="Ending …">End the chat</Action>
			<span class="muted" data-chat={waits ? "waits" : "replies"}>{waits ? "waits for your message" : "is replying"}</span>
			<ProblemText problem={sending.problem ?? ending.problem} />
		</MessageBox>
	);
}

/** Messages that the agents have sent each other, oldest first. */
function Messages({ outline }: { outline: run.Outline }) {
	const messages = outline.messages ?? [];
	if (messages.length === 0)
		return null;
	return (
		<div class="messages">
			<h3>Messages between agents</h3>
			{(outline.messages_left_out ?? 0) > 0 && <p class="muted">{outline.messages_left_out} older ones</p>}
			<ul>
				{messages.map((message) => (
					<li key={message.id}>
						<strong>{message.from}</strong> to <strong>{message.to ?? "all"}</strong>
						{message.subject !== undefined && <em> {message.subject}</em>}: {message.text}
					</li>
				))}
			</ul>
		</div>
	);
}

interface Props {
	id: string;
	outline: run.Outline;
	value: run.Conversation | null | undefined;
	problem: Problem | undefined;
	replies: Replies;
}

export function ConversationSection({ id, outline, value, problem, replies }: Props) {
	const chat = takesMessages(outline);
	if (!chat && problem === undefined && (value === undefined || value === null || value.talks.length === 0))
		return null;
	return (
		<section class="conversation" aria-labelledby="conversation-title">
			<div class="headline">
				<h2 id="conversation-title">Conversation</h2>
				<Usage usage={value?.usage} />
			</div>
			<ProblemText problem={problem} />
			<div aria-live="polite" aria-relevant="additions">
				{value?.talks.map((talk) => <Talk key={talk.step} run={id} talk={talk} replies={replies} />)}
			</div>
			<Messages outline={outline} />
			{chat && <ChatBox id={id} outline={outline} />}
		</section>
	);
}
