import { ENVELOPE, OUTCOMES, TRANSPORT } from "../wire/members.ts";
import { CATALOG } from "./catalog.ts";
import type { Field } from "./declare.ts";

/** The member names that the contract and the catalog allow in one object of a request. */
interface Names {
  readonly byName: ReadonlyMap<string, Names>;
  /**
   * The names in a member whose own name is not in `byName`, such as an unknown probe; absent if the contract defines
   * no names there.
   */
  readonly ofUnknownName?: Names;
}

const NO_NAMES: Names = { byName: new Map() };
const UNKNOWN = "*";

function namesOf(members: Readonly<Record<string, unknown>>, below: Readonly<Record<string, Names>> = {}): Names {
  return { byName: new Map(Object.keys(members).map((name) => [name, below[name] ?? NO_NAMES])) };
}

function fieldNames(fields: Readonly<Record<string, Field>>): Names {
  const entries = Object.entries(fields);
  return {
    byName: new Map(entries.map(([name, field]) => [name, field.fields ? fieldNames(field.fields) : NO_NAMES])),
  };
}

function outcomeNames(fields: Readonly<Record<string, Field>>): Names {
  const members = Object.assign({}, ...Object.values(OUTCOMES).map((rule) => rule.members)) as Record<string, unknown>;
  return namesOf(members, { data: fieldNames(fields) });
}

const PROBES: Names = {
  byName: new Map(CATALOG.map(({ id, fields }) => [id, outcomeNames(fields)])),
  ofUnknownName: outcomeNames({}),
};
const REQUEST = namesOf(TRANSPORT.members, { observations: namesOf(ENVELOPE.members, { probes: PROBES }) });

/**
 * The place to which a JSON Pointer refers. It has the pointer's names that belong to the contract or the catalog, and
 * `*` for every other name and every index. It ends after a `*` below which no names are known, so the number of places
 * is finite.
 *
 * @param pointer a JSON Pointer into a transport request
 */
export function placeOf(pointer: string): string {
  let place = "";
  let names: Names | undefined = REQUEST;
  for (const token of pointer.split("/").slice(1)) {
    if (names === undefined) break;
    const below: Names | undefined = names.byName.get(token);
    place += `/${below ? token : UNKNOWN}`;
    names = below ?? names.ofUnknownName;
  }
  return place;
}
