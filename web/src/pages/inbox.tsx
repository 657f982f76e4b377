// The inbox: open questions to people.
import { useCell } from "../cell";
import { inbox } from "../inbox";
import { listKeys, useKeys } from "../keys";
import { Empty, Loading, Page } from "../parts/basic";
import { Question } from "../parts/question";
import { href, Link, usePlace } from "../route";

/** One question: where the link of a notification leads. */
function OneQuestion({ id }: { id: string }) {
	const { items, loaded } = useCell(inbox.cell);
	const item = items.find((one) => one.id === id);
	return (
		<Page title="Question">
			{!loaded && <Loading />}
			{loaded && item === undefined && <Empty title="This question is no longer open." />}
			{item !== undefined && <Question key={item.id} item={item} withRun />}
			<p><Link href={href("inbox")}>Show all open questions</Link></p>
		</Page>
	);
}

export function InboxPage() {
	const { items, loaded, more } = useCell(inbox.cell);
	const { query } = usePlace();
	useKeys(listKeys("question"));
	const wanted = query.get("question");
	if (wanted !== null)
		return <OneQuestion id={wanted} />;
	return (
		<Page title="Inbox">
			{!loaded && <Loading />}
			{loaded && items.length === 0 && (
				<Empty title="No open questions.">
					<p>Questions of runs to people appear here. <Link href={href("runs")}>Show all runs</Link></p>
				</Empty>
			)}
			{items.map((item) => <Question key={item.id} item={item} withRun />)}
			{more && <p class="muted">More questions are open; they appear when these are answered.</p>}
		</Page>
	);
}
