// The page of one document: a form to create, save or delete it.
import { useDoing } from "../data";
import { createDocument, deleteDocument, readDocument, useOpened, writeDocument, type Document } from "../documents";
import { inputSchema, schemas } from "../schema";
import { go, Link } from "../route";
import { Action, Loading, Page, ProblemText } from "./basic";
import { DocumentForm } from "./document_form";

type Members = { [key: string]: unknown };

export interface DocumentPlace {
	/** Address and title of the list of these documents. */
	list: string;
	title: string;
	/** Name of the kind: "profile". */
	word: string;
	/** "/api/profiles" */
	path: string;
	entity: string;
}

/** Only the members that a request may have: a response may have more. */
async function requestMembers({ body, etag }: Document<Members>, entity: string): Promise<Document<Members>> {
	const known = inputSchema(await schemas(), entity)?.properties ?? {};
	return { body: Object.fromEntries(Object.entries(body).filter(([name]) => name in known)), etag };
}

/** An existing document, or a new one when the name is null. */
export function DocumentPage({ place, name }: { place: DocumentPlace; name: string | null }) {
	const { list, title, word, path, entity } = place;
	const own = `${path}/${encodeURIComponent(name ?? "")}`;
	const { opened, problem, again, replace } = useOpened<Members>(
		async (signal) => (name === null ? { body: {}, etag: null } : requestMembers(await readDocument<Members>(own, signal), entity)),
		[path, name],
	);
	const deleting = useDoing(async () => {
		await deleteDocument(own, opened?.document.etag ?? null);
		go(list);
	});
	const save = async (body: Members, etag: string | null) => {
		if (name !== null) {
			replace(await requestMembers(await writeDocument<Members>(own, body, etag), entity));
			return;
		}
		await createDocument(path, body);
		go(list);
	};
	return (
		<>
			<nav class="crumbs" aria-label="Breadcrumb"><Link href={list}>{title}</Link></nav>
			<Page title={name ?? `New ${word}`}>
				<ProblemText problem={problem} />
				{opened === undefined && problem === undefined && <Loading />}
				{opened !== undefined && (
					<DocumentForm
						key={opened.round}
						all={opened.all}
						entity={entity}
						start={opened.document}
						fixed={name === null ? [] : ["/name"]}
						save={save}
						again={again}
						saveWord={name === null ? "Create" : "Save"}
					>
						{name !== null && <Action doing={deleting} tone="bad" busy="Deleting …">Delete</Action>}
						<ProblemText problem={deleting.problem} />
					</DocumentForm>
				)}
			</Page>
		</>
	);
}
