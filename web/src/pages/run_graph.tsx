// The run's graph as laid out by the server.  Positions depend only on the definition, so only the
// states change while the run proceeds.
import type { run } from "contract";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Problem } from "../api";
import { ProblemText, shapeOf } from "../parts/basic";
import { Link, withQuery } from "../route";
import { activationsOf, nodeOf, type Step } from "../steps";

type Picture = run.Picture;
type Box = run.PictureNode;

/** Number of characters that fit into a box. */
const FITS = 22;
/** Around a box that is brought into view. */
const MARGIN = 16;

const cut = (text: string): string => (text.length <= FITS ? text : `${text.slice(0, FITS - 1)}…`);

/** A curve between two points, vertical at both ends. */
function curve(x: number, y: number, endX: number, endY: number): string {
	const half = (endY - y) / 2;
	return `C ${x} ${y + half} ${endX} ${endY - half} ${endX} ${endY}`;
}

/** A line down from one box to another, through the gaps of the rows between them; a back edge goes around on the right. */
function lineOf(from: Box, to: Box, edge: run.PictureEdge): string {
	if (edge.back) {
		const [x, y] = [from.x + from.width, from.y + from.height / 2];
		const [endX, endY] = [to.x + to.width, to.y + to.height / 2];
		const out = Math.max(x, endX) + 20;
		return `M ${x} ${y} C ${out} ${y} ${out} ${endY} ${endX} ${endY}`;
	}
	let [x, y] = [from.x + from.width / 2, from.y + from.height];
	let line = `M ${x} ${y}`;
	edge.via.forEach((point, number) => {
		line += number % 2 === 0 ? ` ${curve(x, y, point.x, point.y)}` : ` L ${point.x} ${point.y}`;
		[x, y] = [point.x, point.y];
	});
	return `${line} ${curve(x, y, to.x + to.width / 2, to.y)}`;
}

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
	const boxes = new Map(value?.nodes.map((box) => [box.path, box]));
	// Lines are drawn above containers and below the boxes of steps.
	const around = new Set(value?.nodes.map((box) => box.within));
	const draw = (outer: boolean) =>
		value?.nodes.filter((box) => around.has(box.path) === outer).map((box) => (
			<NodeBox key={box.path} box={box} opens={opens.get(box.path)} chosen={chosen !== "" && nodeOf(chosen) === box.path} />
		));
	return (
		<section aria-labelledby="graph-title">
			<h2 id="graph-title">Graph</h2>
			<ProblemText problem={problem} />
			{value !== undefined && (
				<div class="graph" ref={frame} tabIndex={0} role="group" aria-label="The run's graph; its steps are listed below">
					<svg role="group" aria-label={`${value.nodes.length} steps; ${value.state}`} width={value.width} height={value.height} viewBox={`0 0 ${value.width} ${value.height}`} data-graph-seq={value.seq}>
						<defs>
							<marker id="arrow" viewBox="0 0 8 8" refX={7} refY={4} markerWidth={7} markerHeight={7} orient="auto">
								<path d="M 0 0 L 8 4 L 0 8 z" class="arrow" />
							</marker>
						</defs>
						{draw(true)}
						{value.edges.map((edge) => {
							const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
							return from && to && (
								<path key={`${edge.from} ${edge.to} ${edge.depends}`} class="edge" data-back={edge.back} data-depends={edge.depends} d={lineOf(from, to, edge)} marker-end="url(#arrow)">
									{edge.when !== undefined && <title>{edge.when}</title>}
								</path>
							);
						})}
						{draw(false)}
					</svg>
				</div>
			)}
			{value !== undefined && value.nodes_left_out > 0 && <p class="muted">{value.nodes_left_out} more nodes are not drawn.</p>}
		</section>
	);
}
