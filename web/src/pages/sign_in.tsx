// The sign-in page: asks for the API key.
import { useState } from "preact/hooks";
import { access, setKey } from "../access";
import { useCell } from "../cell";
import { Page } from "../parts/basic";

export function SignInPage() {
	const { key } = useCell(access);
	const [text, setText] = useState("");
	return (
		<Page title="This server requires an API key">
			<form
				class="form"
				onSubmit={(event) => {
					event.preventDefault();
					setKey(text.trim());
				}}
			>
				{key !== null && <p class="problem" role="alert">The key was rejected: it is wrong, was revoked or has expired.</p>}
				<div class="field">
					<label class="label" for="key">Key</label>
					<input id="key" type="password" required autoComplete="off" value={text} aria-describedby="key-help" onInput={(event) => setText(event.currentTarget.value)} />
					<span class="muted" id="key-help">The key starts with <code>baton_</code> and is stored until this tab is closed.</span>
				</div>
				<button type="submit" class="action" data-tone="main">Sign in</button>
			</form>
		</Page>
	);
}
