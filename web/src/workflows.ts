// The workflows that can be started, and the form of each as a JSON Schema.
import type { runtime } from "contract";
import { get } from "./api";
import type { Schema } from "./schema";

export type Workflow = runtime.WorkflowItem;

const PAGES = 20;

/** All workflows by name; a data folder with more than fit is cut, and says so. */
export async function readWorkflows(signal: AbortSignal): Promise<{ items: Workflow[]; more: boolean }> {
	const items: Workflow[] = [];
	let cursor: string | null | undefined = "";
	for (let page = 0; page < PAGES && cursor != null; page++) {
		const query: string = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
		const answer: runtime.ListWorkflowsResponse = await get<runtime.ListWorkflowsResponse>(`/api/workflows${query}`, signal);
		items.push(...(answer.items ?? []));
		cursor = answer.cursor;
	}
	return { items, more: cursor != null };
}

/** A yes or no without a default has three answers: yes, no, and none. */
function schemaOf(input: runtime.WorkflowInput): Schema {
	const schema: Schema = { type: input.type, multiline: true };
	if (input.description !== undefined)
		schema.description = input.description;
	if (input.default !== undefined)
		schema.default = input.default;
	if (input.enum !== undefined)
		schema.enum = input.enum;
	else if (input.type === "boolean" && input.default === undefined)
		schema.enum = [true, false];
	return schema;
}

export const formOf = (workflow: Workflow): Schema => ({
	type: "object",
	properties: Object.fromEntries(workflow.inputs.map((input) => [input.name, schemaOf(input)])),
	required: workflow.inputs.filter((input) => input.required).map((input) => input.name),
});
