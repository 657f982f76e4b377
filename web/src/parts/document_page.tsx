// The page of one document: a form made of its entity's schema, to create, save or delete it.
import { useDoing } from "../data";
import { createDocument, deleteDocument, readDocument, useOpened, writeDocument, type Document } from "../documents";
import { inputSchema, schemas } from "../schema";
import { go, Link } from "../route";
import { Action, Loading, Page, ProblemText } from "./basic";
import { DocumentForm } from "./document_form";

type Members = { [key: string]: unknown };

export interface DocumentPlace {
	/** Where documents of this kind are listed, and what that list is called. */
	list: string;
	title: string;
	/** What one is called: "profile". */
	word: string;
	/** "/api/profiles" */
	path: string;
	entity: string;
}

/** Only what the entity takes: an answer may tell more than was asked for. */
async function taken({ body, etag }: Document<Members>, entity: string): Promise<Document<Members>> {
	const known = inputSchema(await schemas(), entity)?.properties ?? {};
	return { body: Object.fromEntries(Object.entries(body).filter(([name]) => name in known)), etag };
}

/** A document by its name, or a new one. */
export function DocumentPage({ place, name }: { place: DocumentPlace; name: string | null }) {
	const { list, title, word, path, entity } = place;
	const own = `${path}/${encodeURIComponent(name ?? "")}`;
	const { opened, problem, again, replace } = useOpened<Members>(
		async (signal) => (name === null ? { body: {}, etag: null } : taken(await readDocument<Members>(own, signal), entity)),
		[path, name],
	);
	const deleting = useDoing(async () => {
		await deleteDocument(own, opened?.document.etag ?? null);
		go(list);
	});
	const save = async (body: Members, etag: string | null) => {
		if (name !== null) {
			replace(await taken(await writeDocument<Members>(own, body, etag), entity));
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
