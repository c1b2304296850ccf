import { createHash } from "node:crypto";
import { Html, markup } from "../../../base/messages/html.ts";
import type { ExportLanguage } from "@device-risk-signals/admin-api";

const STYLE = `
:root{color-scheme:light dark;--line:#ccd;--soft:#5b6270;--back:#fff;--raised:#f4f5f8;--text:#1b1d22;--link:#1a55b0}
@media(prefers-color-scheme:dark){:root{--line:#3a3f4a;--soft:#a3abb8;--back:#14161a;--raised:#1e2127;--text:#e6e8ec;--link:#8ab8ff}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:62rem;padding:1rem;color:var(--text);background:var(--back);overflow-wrap:anywhere}
a{color:var(--link)}
h1{font-size:1.6rem;line-height:1.25}
h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:1rem;border-top:2px solid var(--line)}
code{font-size:.8125em;color:var(--soft)}
q{quotes:"“" "”"}:lang(de) q{quotes:"„" "“"}
nav li{margin:.25rem 0}
ul{margin:0;padding-left:1.25rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.375rem .75rem .375rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;overflow-wrap:normal}
details{border:1px solid var(--line);border-radius:6px;margin:.375rem 0;padding:0 .75rem}
details[open]{padding-bottom:.75rem}
details details{background:var(--raised)}
summary{cursor:pointer;padding:.5rem 0}
summary b{margin-right:.5em}
dl{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);margin:.5rem 0}
dl.facts{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}
dt,dd{margin:0;padding:.375rem .75rem .375rem 0;border-top:1px solid var(--line)}
dt code{display:block}
small{font-size:.8125em;color:var(--soft)}
h2 .up{float:right;font-size:.875rem;font-weight:400}
[id]{scroll-margin-top:4rem}
.note{color:var(--soft);font-size:.875rem}
@media(max-width:40rem){
dl,dl.facts{display:block}dd{border:0;padding:0 0 .5rem .75rem;font-weight:500}dt{padding-bottom:0}
table,tbody,tr,td{display:block}thead{display:none}tr{border-bottom:1px solid var(--line);padding:.375rem 0}td{border:0;padding:0}td:not([data-label]){display:none}
td::before{content:attr(data-label);display:block;color:var(--soft);font-size:.8125rem}
}
@media print{
:root{--line:#999;--soft:#444;--back:#fff;--raised:#fff;--text:#000;--link:#000}
body{font-size:10pt;max-width:none;padding:0}h2,summary,dt{break-after:avoid}tr,dt,dd{break-inside:avoid}nav,.up{display:none}
details{break-inside:auto}
details::details-content{content-visibility:visible;block-size:auto}
}
`;

/** The policy permits this style and nothing else: no script, no request, no form. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** A whole page, which loads nothing and runs no script. */
export const page = (language: ExportLanguage, title: string, body: Html): string =>
  markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;

/** A row of a table. A narrow page shows no heads: the label of its column is with each cell that has content. */
export const row = (labels: readonly string[], cells: readonly (Html | string | number)[]): Html =>
  markup`<tr>${cells.map((cell, index) => (isEmpty(cell) ? markup`<td>` : markup`<td data-label="${labels[index] ?? ""}">${cell}`))}\n`;

const isEmpty = (cell: Html | string | number): boolean => (cell instanceof Html ? cell.text : cell) === "";

export const table = (labels: readonly string[], rows: Html | readonly Html[]): Html =>
  markup`<table><thead><tr>${labels.map((label) => markup`<th>${label}`)}<tbody>\n${rows}</table>`;

export const facts = (rows: readonly (readonly [string, Html | string | number])[]): Html =>
  markup`<dl class="facts">${rows.map(([name, of]) => markup`<dt>${name}<dd>${of}\n`)}</dl>`;
