// The drawing of a graph as the server laid it out: boxes and lines.  Runs and workflows share it.
import type { runtime } from "contract";
import type { ComponentChildren, RefObject } from "preact";

export interface Box {
	path: string;
	within?: string;
	x: number;
	y: number;
	width: number;
	height: number;
}

export interface Line {
	from: string;
	to: string;
	depends: boolean;
	back: boolean;
	when?: string;
	via: { x: number; y: number }[];
}

/** Number of characters that fit into a box. */
const FITS = 22;

export const cut = (text: string): string => (text.length <= FITS ? text : `${text.slice(0, FITS - 1)}…`);

/** A curve between two points, vertical at both ends. */
function curve(x: number, y: number, endX: number, endY: number): string {
	const half = (endY - y) / 2;
	return `C ${x} ${y + half} ${endX} ${endY - half} ${endX} ${endY}`;
}

/** A line down from one box to another, through the gaps of the rows between them; a back edge goes around on the right. */
function lineOf(from: Box, to: Box, edge: Line): string {
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

interface DrawingProps<T extends Box> {
	width: number;
	height: number;
	boxes: T[];
	lines: Line[];
	label: string;
	/** Of the drawing itself: the number of its steps, its state. */
	title: string;
	seq?: number;
	box: (box: T) => ComponentChildren;
	frame?: RefObject<HTMLDivElement>;
}

export function Drawing<T extends Box>({ width, height, boxes, lines, label, title, seq, box, frame }: DrawingProps<T>) {
	const named = new Map(boxes.map((one) => [one.path, one]));
	// Lines are drawn above containers and below the boxes of steps.
	const around = new Set(boxes.map((one) => one.within));
	const draw = (outer: boolean) => boxes.filter((one) => around.has(one.path) === outer).map(box);
	return (
		<div class="graph" ref={frame ?? null} tabIndex={0} role="group" aria-label={label}>
			<svg role="group" aria-label={title} width={width} height={height} viewBox={`0 0 ${width} ${height}`} data-graph-seq={seq}>
				<defs>
					<marker id="arrow" viewBox="0 0 8 8" refX={7} refY={4} markerWidth={7} markerHeight={7} orient="auto">
						<path d="M 0 0 L 8 4 L 0 8 z" class="arrow" />
					</marker>
				</defs>
				{draw(true)}
				{lines.map((edge) => {
					const [from, to] = [named.get(edge.from), named.get(edge.to)];
					return from && to && (
						<path key={`${edge.from} ${edge.to} ${edge.depends}`} class="edge" data-back={edge.back} data-depends={edge.depends} d={lineOf(from, to, edge)} marker-end="url(#arrow)">
							{edge.when !== undefined && <title>{edge.when}</title>}
						</path>
					);
				})}
				{draw(false)}
			</svg>
		</div>
	);
}

// ---- of a workflow -------------------------------------------------------------------------

interface Node extends Box {
	label: string;
	type: string;
	by: string;
}

function nodeOf(node: runtime.DAGNodeModel): Node {
	const { id, label, type, by, within, x = 0, y = 0, width = 1, height = 1 } = node;
	return { path: id, label, type, by: by ?? type, x, y, width, height, ...(within === undefined ? {} : { within }) };
}

function lineOfEdge(edge: runtime.DAGEdgeModel): Line {
	const { source, target, depends = true, back = false, when, via = [] } = edge;
	return { from: source, to: target, depends, back, via, ...(when === undefined ? {} : { when }) };
}

/** The graph of a workflow, without states. */
export function WorkflowGraph({ dag }: { dag: runtime.DAGResponse }) {
	const box = (node: Node) => (
		<g key={node.path} class="node" data-node={node.path}>
			<title>{`${node.path}: ${node.type}${node.by === node.type ? "" : ` ${node.by}`}`}</title>
			<rect x={node.x} y={node.y} width={node.width} height={node.height} rx={6} />
			<text x={node.x + 10} y={node.y + 22} class="node-name">{cut(node.label)}</text>
			<text x={node.x + 10} y={node.y + 42} class="node-state">{cut(node.by === node.type ? node.type : `${node.type} · ${node.by}`)}</text>
		</g>
	);
	return (
		<>
			<Drawing width={dag.width ?? 0} height={dag.height ?? 0} boxes={dag.nodes.map(nodeOf)} lines={dag.edges.map(lineOfEdge)} box={box}
				label="The workflow's graph" title={`${dag.nodes.length} steps`} />
			{(dag.nodes_left_out ?? 0) > 0 && <p class="muted">{dag.nodes_left_out} more nodes are not drawn.</p>}
		</>
	);
}
