// Markdown in the text editor: headings, code, bold text and the marks of lists, line by line.
import { StreamLanguage, type StreamParser } from "@codemirror/language";

interface State {
	/** What ends the code block that is open; "" = none. */
	fence: string;
}

const parser: StreamParser<State> = {
	startState: () => ({ fence: "" }),
	token: (stream, state) => {
		if (stream.sol()) {
			const fence = stream.match(/^\s*(```|~~~)/, false) as RegExpMatchArray | null;
			const mark = fence?.[1] ?? "";
			if (mark !== "" && (state.fence === "" || state.fence === mark)) {
				state.fence = state.fence === "" ? mark : "";
				stream.skipToEnd();
				return "string";
			}
			if (state.fence === "" && stream.match(/^#{1,6}\s.*/))
				return "propertyName";
			if (state.fence === "" && stream.match(/^\s*(?:[-*+]|\d+[.)])\s/))
				return "keyword";
		}
		if (state.fence !== "") {
			stream.skipToEnd();
			return "string";
		}
		if (stream.match(/^`[^`]+`/))
			return "string";
		if (stream.match(/^\*\*[^*]+\*\*/))
			return "strong";
		stream.next();
		stream.eatWhile(/[^`*]/);
		return null;
	},
};

export const markdown = () => StreamLanguage.define(parser);
