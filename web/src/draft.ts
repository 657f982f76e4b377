// Text that was typed and not sent yet: it survives a reload of the page, for this tab.
const PREFIX = "baton.draft.";

export function readDraft<T>(name: string): T | undefined {
	try {
		const text = sessionStorage.getItem(PREFIX + name);
		return text === null ? undefined : (JSON.parse(text) as T);
	} catch {
		return undefined; // storage is disabled, or somebody else's text
	}
}

/** undefined removes the draft. */
export function keepDraft(name: string, value: unknown): void {
	try {
		if (value === undefined)
			sessionStorage.removeItem(PREFIX + name);
		else
			sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
	} catch {
		// storage is disabled or full: the draft lives as long as the page
	}
}
