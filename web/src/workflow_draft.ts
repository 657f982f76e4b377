// Unsaved texts of workflows.  They survive the end of the tab, so they are kept in localStorage, and
// are offered when the editor is opened again.  A saved or discarded text is removed.
const PREFIX = "baton.workflow.";

export interface WorkflowDraft {
	text: string;
	/** ETag of the text that was edited; "" = a new workflow. */
	etag: string;
	at: string;
}

export function readWorkflowDraft(name: string): WorkflowDraft | undefined {
	try {
		const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
		if (typeof value !== "object" || value === null)
			return undefined;
		const { text, etag, at } = value as Partial<WorkflowDraft>;
		return typeof text === "string" && typeof etag === "string" && typeof at === "string" ? { text, etag, at } : undefined;
	} catch {
		return undefined; // storage is disabled, or somebody else's text
	}
}

/** undefined removes the draft. */
export function keepWorkflowDraft(name: string, draft: WorkflowDraft | undefined): void {
	try {
		if (draft === undefined)
			localStorage.removeItem(PREFIX + name);
		else
			localStorage.setItem(PREFIX + name, JSON.stringify(draft));
	} catch {
		// storage is disabled or full: the text lives as long as the page
	}
}
