// A virtual list of rows with a fixed height: only visible rows are in the document.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export const ROW_HEIGHT = 28;
const BEYOND = 12; // extra rows on either side, so that fast scrolling shows no gaps

interface RowsProps<T> {
	items: T[];
	label: string;
	follow: boolean;
	/** The user scrolled away from the end, or back to it. */
	onFollow: (follow: boolean) => void;
	/** Index of the row to keep visible; -1 = none. */
	shown: number;
	row: (item: T, index: number) => ComponentChildren;
	keyOf: (item: T) => string | number;
}

export function Rows<T>({ items, label, follow, onFollow, shown, row, keyOf }: RowsProps<T>) {
	const box = useRef<HTMLDivElement>(null);
	const [view, setView] = useState({ top: 0, height: 600 });
	const measure = () => {
		const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
		setView((old) => (old.top === scrollTop && old.height === clientHeight ? old : { top: scrollTop, height: clientHeight }));
	};

	useLayoutEffect(() => {
		if (follow && box.current)
			box.current.scrollTop = box.current.scrollHeight;
		measure();
	}, [items.length, follow]);

	useLayoutEffect(() => {
		const element = box.current;
		if (shown < 0 || !element)
			return;
		const top = shown * ROW_HEIGHT;
		if (top < element.scrollTop)
			element.scrollTop = top;
		else if (top + ROW_HEIGHT > element.scrollTop + element.clientHeight)
			element.scrollTop = top + ROW_HEIGHT - element.clientHeight;
		measure();
	}, [shown]);

	useEffect(() => {
		const observer = new ResizeObserver(measure);
		if (box.current)
			observer.observe(box.current);
		return () => observer.disconnect();
	}, []);

	const scrolled = () => {
		measure();
		const element = box.current;
		if (!element)
			return;
		const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < ROW_HEIGHT;
		if (atEnd !== follow)
			onFollow(atEnd);
	};

	const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - BEYOND);
	const last = Math.min(items.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + BEYOND);
	return (
		<div class="rows" ref={box} onScroll={scrolled} tabIndex={0} role="group" aria-label={label}>
			<ol style={{ height: `${items.length * ROW_HEIGHT}px` }}>
				{items.slice(first, last).map((item, at) => (
					<li
						key={keyOf(item)}
						style={{ top: `${(first + at) * ROW_HEIGHT}px` }}
						aria-setsize={items.length}
						aria-posinset={first + at + 1}
					>
						{row(item, first + at)}
					</li>
				))}
			</ol>
		</div>
	);
}
