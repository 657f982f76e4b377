// The inbox: open questions to people.
import { useCell } from "../cell";
import { inbox } from "../inbox";
import { listKeys, useKeys } from "../keys";
import { Empty, Loading, Page } from "../parts/basic";
import { Question } from "../parts/question";
import { href, Link } from "../route";

export function InboxPage() {
	const { items, loaded, more } = useCell(inbox.cell);
	useKeys(listKeys("question"));
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
