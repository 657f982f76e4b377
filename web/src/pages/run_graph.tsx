// The run's graph as laid out by the server.  Positions depend only on the definition, so only the
// states change while the run proceeds.
import type { run } from "contract";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { ProblemText, shapeOf } from "../parts/basic";
import { cut, Drawing } from "../parts/graph";
import { Link, withQuery } from "../route";
import { activationsOf, nodeOf, type Step } from "../steps";

type Picture = run.Picture;
type Box = run.PictureNode;

/** Around a box that is brought into view. */
const MARGIN = 16;

/** Counts of rounds and items, if there are several. */
function countsOf(box: Box): string {
	if (box.activations > 1)
		return ` · ${box.succeeded} of ${box.activations}${box.failed > 0 ? `, ${box.failed} ✗` : ""}`;
	return box.items === undefined ? "" : ` · ${box.items} items`;
}

interface NodeProps {
	box: Box;
	/** The activation that the box opens; undefined when it has none yet. */
	opens: Step | undefined;
	chosen: boolean;
}

function NodeBox({ box, opens, chosen }: NodeProps) {
	const [shape, tone] = shapeOf(box.state);
	const drawn = (
		<g class="node" data-node={box.path} data-state={box.state} data-tone={tone} data-chosen={chosen}>
			<title>{`${box.path}: ${box.state}`}</title>
			<rect x={box.x} y={box.y} width={box.width} height={box.height} rx={6} />
			<text x={box.x + 10} y={box.y + 22} class="node-name">{cut(box.name)}</text>
			<text x={box.x + 10} y={box.y + 42} class="node-state">{cut(`${shape} ${box.state}${countsOf(box)}`)}</text>
		</g>
	);
	return opens === undefined ? drawn : <Link href={withQuery({ step: opens.step })} aria-label={`${box.path}: ${box.state}${countsOf(box)}`}>{drawn}</Link>;
}

interface GraphProps {
	value: Picture | undefined;
	problem: Problem | undefined;
	steps: Step[];
	/** Path of the step in the drawer; "" = none. */
	chosen: string;
}

export function GraphSection({ value, problem, steps, chosen }: GraphProps) {
	const frame = useRef<HTMLDivElement>(null);
	const isDrawn = value !== undefined;
	// The chosen box is brought into view within the drawing; the page itself does not move.
	useEffect(() => {
		const box = frame.current?.querySelector('[data-chosen="true"] rect')?.getBoundingClientRect();
		const view = frame.current?.getBoundingClientRect();
		if (box === undefined || view === undefined)
			return;
		const beyond = (from: number, to: number, first: number, last: number) => (from < first ? from - first - MARGIN : to > last ? to - last + MARGIN : 0);
		frame.current?.scrollBy(beyond(box.left, box.right, view.left, view.right), beyond(box.top, box.bottom, view.top, view.bottom));
	}, [chosen, isDrawn]);
	const opens = useMemo(() => activationsOf(steps), [steps]);
	const box = (node: Box) => <NodeBox key={node.path} box={node} opens={opens.get(node.path)} chosen={chosen !== "" && nodeOf(chosen) === node.path} />;
	return (
		<section aria-labelledby="graph-title">
			<h2 id="graph-title">Graph</h2>
			<ProblemText problem={problem} />
			{value !== undefined && (
				<Drawing width={value.width} height={value.height} boxes={value.nodes} lines={value.edges} box={box} frame={frame} seq={value.seq}
					label="The run's graph; its steps are listed below" title={`${value.nodes.length} steps; ${value.state}`} />
			)}
			{value !== undefined && value.nodes_left_out > 0 && <p class="muted">{value.nodes_left_out} more nodes are not drawn.</p>}
		</section>
	);
}
