/** The counts of a feature as one HTML page, which loads no resources and runs no scripts. */
import type { Answer } from "@device-risk-signals/admin-api";
import { escapeControls } from "../base/messages/escape-controls.ts";
import { type Html, markup } from "../base/messages/html.ts";
import { page, row, table } from "../lifecycle/requests/readable/page.ts";

type Described = Answer<"describeFeature">;
type Results = Pick<Described["days"][number], "events" | "states" | "values">;
type Share = Results["states"][number];

export const shownCount = (events: number | null): string => (events === null ? "under 10" : String(events));
export const shownShare = ({ events, share }: Share): string =>
  share === null ? shownCount(events) : `${Math.round(share * 1_000) / 10} %`;

export const periodOf = ({ from, to }: Described): string => `Events received from ${from} until before ${to}`;

/** Draws the page. Each name is escaped, because names come from clients and definitions. */
export function describePage(described: Described): string {
  const { feature, meaning, groups, days, is_limited } = described;
  const sections = groups.map(
    ({ platform, sdk_version, ...results }) =>
      markup`<h2>${nameOf([platform, sdk_version])}</h2>\n${draw(results, described)}\n`,
  );
  const body = markup`<h1>${feature}</h1>
<p>${shown(meaning)}</p>
<p class="note">${periodOf(described)}. Numbers are rounded down to tens, and numbers under 10 are not shown. A share of fewer than 100 events is the number.${is_limited ? " There are more groups." : ""}</p>
${sections.length === 0 ? markup`<p>No group of 10 events or more.</p>` : sections}
<h2>Days</h2>
<p class="note">All events of the feature, of every group.</p>
${drawDays(days)}`;
  return page("en", feature, body);
}

const shown = (text: string): Html => markup`<bdi>${escapeControls(text)}</bdi>`;

function nameOf(names: readonly (string | null)[]): Html {
  const given = names.filter((name) => name !== null);
  return given.length === 0 ? markup`All events` : markup`${given.map((name) => markup`${shown(name)} `)}`;
}

function draw({ events, states, values }: Results, { output, unit }: Described): Html {
  // A number is in the group of the largest bound that it reaches.
  const bound = output === "count" || output === "number" ? ", at least" : "";
  const observed = `observed value${bound}${unit === null ? "" : ` (${unit})`}`;
  return markup`<p>Events: ${shownCount(events)}</p>
${drawShares("state", states)}
${drawShares(observed, values)}`;
}

function drawShares(kind: string, shares: readonly Share[]): Html {
  const labels = [kind, "events", "share"];
  return table(
    labels,
    shares.map((share) => row(labels, [shown(share.name), shownCount(share.events), drawShare(share)])),
  );
}

const drawShare = (share: Share): Html =>
  share.share === null
    ? markup`${shownShare(share)}`
    : markup`<meter value="${share.share}"></meter> ${shownShare(share)}`;

function drawDays(days: Described["days"]): Html {
  const states = [...new Set(days.flatMap((day) => day.states.map(({ name }) => name)))];
  const values = [...new Set(days.flatMap((day) => day.values.map(({ name }) => name)))];
  const labels = ["day", "events", ...states, ...values.map((name) => `observed ${name}`)].map(escapeControls);
  const cellsOf = (names: readonly string[], shares: readonly Share[]): readonly Html[] =>
    names.map((name) => {
      const found = shares.find((share) => share.name === name);
      return found ? drawShare(found) : markup``;
    });
  return table(
    labels,
    days.map((day) =>
      row(labels, [day.day, shownCount(day.events), ...cellsOf(states, day.states), ...cellsOf(values, day.values)]),
    ),
  );
}
