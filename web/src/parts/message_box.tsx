// A text box for a message; Enter sends it, Shift+Enter begins a new line.
import type { ComponentChildren } from "preact";

interface Props {
	label: string;
	text: string;
	change: (text: string) => void;
	send: () => void;
	/** Buttons and what went wrong. */
	children: ComponentChildren;
}

export function MessageBox({ label, text, change, send, children }: Props) {
	return (
		<form
			class="message-box"
			onSubmit={(event) => {
				event.preventDefault();
				send();
			}}
		>
			<label>
				{label}
				<textarea
					rows={3}
					value={text}
					maxLength={262144}
					onInput={(event) => change(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key !== "Enter" || event.shiftKey || event.isComposing)
							return;
						event.preventDefault();
						if (text.trim() !== "")
							send();
					}}
				/>
			</label>
			<div class="buttons">{children}</div>
		</form>
	);
}
