// The server's own settings.
import { readDocument, useOpened, writeDocument } from "../documents";
import { Loading, ProblemText } from "../parts/basic";
import { DocumentForm } from "../parts/document_form";

type Members = { [key: string]: unknown };

const PATH = "/api/server";
/** Fixed at startup: shown read-only. */
const FIXED = ["/host", "/port", "/database_path"];

export function ServerTab() {
	const { opened, problem, again, replace } = useOpened<Members>((signal) => readDocument<Members>(PATH, signal), []);
	if (opened === undefined)
		return problem ? <ProblemText problem={problem} /> : <Loading />;
	return (
		<DocumentForm
			key={opened.round}
			all={opened.all}
			entity="pipeline.ServerConfig"
			start={opened.document}
			fixed={FIXED}
			save={async (body, etag) => replace(await writeDocument<Members>(PATH, body, etag))}
			again={again}
			saveWord="Save"
		/>
	);
}
