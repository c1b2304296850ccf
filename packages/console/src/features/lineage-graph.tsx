/** Where values come from, from left to right: fields, definition, version, layers, and the value of an event. */
import type { ReactElement, ReactNode } from "react";
import { visible } from "../ui/foreign.tsx";

export interface LineageNode {
  readonly key: string;
  readonly title: string;
  /** What else the box says; each is one line. */
  readonly lines: readonly string[];
  /** Makes the box a link to what it names. */
  readonly link?: (box: ReactNode) => ReactElement;
}

export interface LineageStep {
  /** What the boxes of the step are. */
  readonly name: string;
  readonly nodes: readonly LineageNode[];
}

const WIDTH = 216;
const GAP = 40;
const HEAD = 24;
const LINE = 16;
const PADDING = 8;
const SPACE = 12;
/** Characters that fit into a line of a box; a title is bold. */
const CHARACTERS = 32;
const TITLE_CHARACTERS = 26;

interface Box {
  readonly node: LineageNode;
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

const heightOf = ({ lines }: LineageNode): number => PADDING * 2 + LINE * (1 + lines.length);

/** The boxes of each step, centred one below the other. */
function boxesOf(steps: readonly LineageStep[]): { readonly columns: readonly (readonly Box[])[]; height: number } {
  const heights = steps.map(({ nodes }) =>
    nodes.reduce((sum, node) => sum + heightOf(node) + SPACE, nodes.length === 0 ? 0 : -SPACE),
  );
  const tallest = Math.max(0, ...heights);
  const columns = steps.map(({ nodes }, column) => {
    let y = HEAD + (tallest - (heights[column] ?? 0)) / 2;
    return nodes.map((node): Box => {
      const box = { node, x: column * (WIDTH + GAP), y, height: heightOf(node) };
      y += box.height + SPACE;
      return box;
    });
  });
  return { columns, height: HEAD + tallest };
}

export function LineageGraph({ steps, label }: { readonly steps: readonly LineageStep[]; readonly label: string }) {
  const { columns, height } = boxesOf(steps);
  const width = steps.length * WIDTH + (steps.length - 1) * GAP;
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <svg className="lineage" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group">
        <title>{label}</title>
        {steps.map(({ name }, column) => (
          <text key={name} x={column * (WIDTH + GAP)} y={12} className="lineage-step">
            {name}
          </text>
        ))}
        {columns.flatMap((boxes, column) =>
          boxes.flatMap((from) =>
            (columns[column + 1] ?? []).map((to) => <Arrow key={to.node.key} from={from} to={to} />),
          ),
        )}
        {columns.flat().map((box) => (
          <NodeBox key={box.node.key} box={box} />
        ))}
      </svg>
    </div>
  );
}

function Arrow({ from, to }: { readonly from: Box; readonly to: Box }) {
  const [x, y] = [from.x + WIDTH, from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const middle = (x + endX) / 2;
  return <path d={`M${x} ${y}C${middle} ${y} ${middle} ${endY} ${endX} ${endY}`} className="lineage-arrow" />;
}

function NodeBox({ box: { node, x, y, height } }: { readonly box: Box }) {
  const { title, lines, link } = node;
  const box = (
    <>
      <title>{[title, ...lines].map(visible).join("\n")}</title>
      <rect x={x + 0.5} y={y + 0.5} width={WIDTH - 1} height={height - 1} rx={6} className="lineage-box" />
      {[title, ...lines].map((line, index) => (
        <text
          key={index}
          x={x + PADDING}
          y={y + PADDING + LINE * index + 12}
          className={index === 0 ? "lineage-title" : "lineage-line"}
        >
          {clipped(line, index === 0 ? TITLE_CHARACTERS : CHARACTERS)}
        </text>
      ))}
    </>
  );
  return link ? link(box) : <g>{box}</g>;
}

function clipped(line: string, characters: number): string {
  const shown = visible(line);
  return shown.length <= characters ? shown : `${shown.slice(0, characters - 1)}…`;
}
