/** A comparison of two versions of a feature as one HTML page, which loads no resources and runs no scripts. */
import type { Answer } from "@device-risk-signals/admin-api";
import { escapeHtml as escaped } from "../base/messages/html.ts";
import { plural } from "../base/messages/plural.ts";

type Compared = Answer<"compareFeatures">;

const CELL_SIZE = 34;
const LEFT_MARGIN = 220;
const TOP_MARGIN = 150;

/** A text with the number of events, and the number of undecided events. */
export const totalsOf = ({ events, undecided }: Compared): string =>
  [
    events === null ? "events not shown" : plural(events, "event"),
    undecided === null ? "undecided not shown" : `${undecided} undecided`,
  ].join(", ");

/** Draws the page. Each name is escaped, because names come from clients and definitions. */
export function comparePage(compared: Compared): string {
  const { before, after, purpose, from, is_exact, cells } = compared;
  const title = escaped(`${before} and ${after}`);
  const groups = Map.groupBy(cells, ({ platform, sdk_version }) => `${platform} ${sdk_version}`);
  const plots = [...groups].map(
    ([name, groupCells]) => `<h2>${escaped(name)}</h2>\n${drawTable(groupCells, before, after)}`,
  );
  const since = from === null ? "all stored events" : `events since ${from}`;
  const facts = `${purpose}, ${since}: ${totalsOf(compared)}.`;
  const note = is_exact
    ? "Exact numbers."
    : "Numbers below 10 are not shown. Further numbers are not shown if they would reveal these.";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>body{font:14px sans-serif;margin:2em}text{font:12px sans-serif}</style>
</head>
<body>
<h1>${title}</h1>
<p>${escaped(facts)} ${note}</p>
${plots.join("\n")}
</body>
</html>
`;
}

function drawTable(cells: Compared["cells"], before: string, after: string): string {
  const rows = [...new Set(cells.map((cell) => cell.before))].toSorted();
  const columns = [...new Set(cells.map((cell) => cell.after))].toSorted();
  const largest = Math.max(1, ...cells.map(({ events }) => events ?? 0));
  const [width, height] = [LEFT_MARGIN + columns.length * CELL_SIZE * 2, TOP_MARGIN + rows.length * CELL_SIZE];
  const labels = [
    ...rows.map((name, at) => text(LEFT_MARGIN - 8, TOP_MARGIN + (at + 0.6) * CELL_SIZE, name, 'text-anchor="end"')),
    ...columns.map((name, at) => {
      const [x, y] = [LEFT_MARGIN + (at * 2 + 1) * CELL_SIZE, TOP_MARGIN - 8];
      return text(x, y, name, `transform="rotate(-45 ${x} ${y})"`);
    }),
    text(8, 16, `rows: ${before}, columns: ${after}`, ""),
  ];
  const squares = cells.map((cell) => {
    const [x, y] = [
      LEFT_MARGIN + columns.indexOf(cell.after) * CELL_SIZE * 2,
      TOP_MARGIN + rows.indexOf(cell.before) * CELL_SIZE,
    ];
    const opacity = cell.events === null ? 0 : 0.1 + (0.6 * cell.events) / largest;
    const fill = cell.before === cell.after ? "#2a7" : "#c52";
    const shown = cell.events === null ? "not shown" : String(cell.events);
    const square = `<rect x="${x}" y="${y}" width="${CELL_SIZE * 2}" height="${CELL_SIZE}" fill="${fill}" fill-opacity="${opacity.toFixed(2)}" stroke="#888"/>`;
    return square + text(x + CELL_SIZE, y + 0.6 * CELL_SIZE, shown, 'text-anchor="middle"');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${[...squares, ...labels].join("")}</svg>`;
}

const text = (x: number, y: number, content: string, attributes: string): string =>
  `<text x="${x}" y="${y}" ${attributes}>${escaped(content)}</text>`;
