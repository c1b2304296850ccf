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

const GAP = 36;
const HEAD = 24;
const LINE = 16;
const PADDING = 8;
const SPACE = 12;
const MIN_WIDTH = 128;
const MAX_WIDTH = 248;
/** The width of a character, which is bold in a title. */
const TITLE_CHARACTER = 8.4;
const LINE_CHARACTER = 7.2;

interface Box {
  readonly node: LineageNode;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const heightOf = ({ lines }: LineageNode): number => PADDING * 2 + LINE * (1 + lines.length);

/** As wide as its longest text, within limits. */
function widthOf({ nodes }: LineageStep): number {
  const texts = nodes.flatMap(({ title, lines }) => [
    visible(title).length * TITLE_CHARACTER,
    ...lines.map((line) => visible(line).length * LINE_CHARACTER),
  ]);
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, PADDING * 2 + Math.max(0, ...texts)));
}

interface Column {
  readonly name: string;
  readonly x: number;
  readonly boxes: readonly Box[];
}

interface Layout {
  readonly columns: readonly Column[];
  readonly width: number;
  readonly height: number;
}

/** The boxes of each step, centred one below the other. */
function layoutOf(steps: readonly LineageStep[]): Layout {
  const heights = steps.map(({ nodes }) => nodes.reduce((sum, node) => sum + heightOf(node) + SPACE, -SPACE));
  const tallest = Math.max(0, ...heights);
  let x = 0;
  const columns = steps.map((step, index): Column => {
    const [left, width] = [x, widthOf(step)];
    x += width + GAP;
    let y = HEAD + (tallest - (heights[index] ?? 0)) / 2;
    const boxes = step.nodes.map((node): Box => {
      const box = { node, x: left, y, width, height: heightOf(node) };
      y += box.height + SPACE;
      return box;
    });
    return { name: step.name, x: left, boxes };
  });
  return { columns, width: x - GAP, height: HEAD + tallest };
}

export function LineageGraph({ steps, label }: { readonly steps: readonly LineageStep[]; readonly label: string }) {
  const { columns, width, height } = layoutOf(steps);
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={label}>
      <svg className="lineage" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group">
        <title>{label}</title>
        {columns.map(({ name, x }) => (
          <text key={name} x={x} y={12} className="lineage-step">
            {name}
          </text>
        ))}
        {columns.flatMap(({ boxes }, column) =>
          boxes.flatMap((from) =>
            (columns[column + 1]?.boxes ?? []).map((to) => (
              <Arrow key={`${from.node.key} ${to.node.key}`} from={from} to={to} />
            )),
          ),
        )}
        {columns.flatMap(({ boxes }) => boxes.map((box) => <NodeBox key={box.node.key} box={box} />))}
      </svg>
    </div>
  );
}

function Arrow({ from, to }: { readonly from: Box; readonly to: Box }) {
  const [x, y] = [from.x + from.width, from.y + from.height / 2];
  const [endX, endY] = [to.x, to.y + to.height / 2];
  const middle = (x + endX) / 2;
  return <path d={`M${x} ${y}C${middle} ${y} ${middle} ${endY} ${endX} ${endY}`} className="lineage-arrow" />;
}

function NodeBox({ box: { node, x, y, width, height } }: { readonly box: Box }) {
  const { title, lines, link } = node;
  const box = (
    <>
      <title>{[title, ...lines].map(visible).join("\n")}</title>
      <rect x={x + 0.5} y={y + 0.5} width={width - 1} height={height - 1} rx={6} className="lineage-box" />
      {[title, ...lines].map((line, index) => (
        <text
          key={index}
          x={x + PADDING}
          y={y + PADDING + LINE * index + 12}
          className={index === 0 ? "lineage-title" : "lineage-line"}
        >
          {clipped(line, (width - PADDING * 2) / (index === 0 ? TITLE_CHARACTER : LINE_CHARACTER))}
        </text>
      ))}
    </>
  );
  return link ? link(box) : <g>{box}</g>;
}

function clipped(line: string, characters: number): string {
  const shown = visible(line);
  return shown.length <= characters + 1 ? shown : `${shown.slice(0, Math.floor(characters) - 1)}…`;
}
