import { OUTCOME_ERRORS, OUTCOME_STATUSES, SKIPPED_REASONS } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { FieldPath } from "@device-risk-signals/contract/catalog/check";
import type { Field, FieldType } from "@device-risk-signals/contract/catalog/declare";
import { ENVELOPE, type MemberRule, type ObjectRule, OUTCOMES, TRANSPORT } from "@device-risk-signals/contract/members";

/** Kinds of members, as `assembly/scanner.ts` numbers them. */
const FIELD_KINDS: Readonly<Record<FieldType, number>> = {
  string: 1,
  number: 2,
  boolean: 3,
  object: 6,
  "string[]": 7,
  "number[]": 8,
};
const KINDS = { text: 16, word: 17, one: 18, instant: 19, event: 20, probes: 21, data: 22, reason: 23 } as const;
const NO_CAPTURE = 255;

/** Texts whose positions a scan returns. */
export const CAPTURED = [
  "action_id",
  "action_type",
  "sdk_version",
  "platform",
  "app_version",
  "session_id",
  "event_type",
  "collected_at",
  "systemVersion",
] as const;
export type Captured = (typeof CAPTURED)[number];

export interface Member {
  readonly name: string;
  readonly kind: number;
  readonly child?: number;
  readonly required?: boolean;
  readonly capture?: number;
  readonly least?: number;
  readonly most?: number;
  /** Whether the text must not contain U+0000, as a promoted attribute must not. */
  readonly plain?: boolean;
  readonly mask?: number;
}

/** Defines a context after all contexts below it, and returns its number. */
export type DefineContext = (isOpen: boolean, members: readonly Member[]) => number;

/** The meaning of the numbers in the result of a scan. */
export interface CatalogIndex {
  /** The contexts of the transport object, of an event and of an outcome. */
  readonly root: number;
  readonly event: number;
  readonly outcome: number;
  /** Paths of the entries by number. Absent for an entry that the catalog does not have. */
  readonly paths: readonly (FieldPath | undefined)[];
  /** Paths of contexts of fields. */
  readonly places: ReadonlyMap<number, FieldPath>;
}

/** Defines the wire rules and the catalog. */
export function defineCatalog(define: DefineContext): CatalogIndex {
  const paths: (FieldPath | undefined)[] = [];
  const places = new Map<number, FieldPath>();
  const add = (isOpen: boolean, members: readonly Member[], place?: FieldPath): number => {
    for (const { name } of members) paths.push(place && [...place, name]);
    return define(isOpen, members);
  };
  const words = (values: readonly string[], masks: readonly number[] = []): number =>
    add(
      false,
      values.map((name, index) => ({ name, kind: 0, mask: masks[index] ?? 0 })),
    );

  function fields(place: FieldPath, declared: Readonly<Record<string, Field>>): number {
    const members = Object.entries(declared).map(([name, { type, required, fields: below }]) => ({
      name,
      kind: FIELD_KINDS[type],
      required,
      capture: captureOf(place.length === 1 && place[0] === "device_identity" ? name : ""),
      ...(below && { child: fields([...place, name], below) }),
    }));
    const context = add(true, members, place);
    places.set(context, place);
    return context;
  }

  function wired({ open, members }: ObjectRule, below: number): number {
    return add(
      open,
      Object.entries(members).map(([name, rule]) => ({
        name,
        required: rule.required,
        capture: captureOf(name),
        ...checked(rule, below),
      })),
    );
  }

  function checked(rule: MemberRule, below: number): Pick<Member, "kind" | "child" | "least" | "most" | "plain"> {
    switch (rule.kind) {
      case "string": {
        const { minLength: least, maxLength: most = 0, promoted: plain } = rule;
        return { kind: KINDS.text, least, most, plain };
      }
      case "enum":
        return { kind: KINDS.word, child: words(rule.values) };
      case "constant":
        if (rule.value === 1) return { kind: KINDS.one };
        return { kind: KINDS.word, child: words([String(rule.value)]) };
      case "date-time":
        return { kind: KINDS.instant };
      case "event":
        return { kind: KINDS.event, child: below };
      case "probes":
        return { kind: KINDS.probes, child: below };
      case "object":
        return { kind: KINDS.data };
    }
  }

  const probes = CATALOG.map(({ id, fields: declared }) => ({ name: id, kind: 0, child: fields([id], declared) }));
  const event = wired(ENVELOPE, add(true, probes, []));
  const root = wired(TRANSPORT, event);
  const names = [...new Set(OUTCOME_STATUSES.flatMap((status) => Object.keys(OUTCOMES[status].members)))];
  const masks = OUTCOME_STATUSES.map((status) =>
    Object.keys(OUTCOMES[status].members).reduce((mask, name) => mask | (1 << names.indexOf(name)), 0),
  );
  const kinds: Readonly<Record<string, Omit<Member, "name">>> = {
    status: { kind: KINDS.word, child: words(OUTCOME_STATUSES, masks), required: true },
    data: { kind: KINDS.data },
    reason: { kind: KINDS.reason, child: words(SKIPPED_REASONS) },
    error: { kind: KINDS.reason, child: words(OUTCOME_ERRORS) },
  };
  const outcome = add(
    false,
    names.map((name) => ({ name, ...(kinds[name] as Omit<Member, "name">) })),
  );
  return { root, event, outcome, paths, places };
}

function captureOf(name: string): number {
  const index = (CAPTURED as readonly string[]).indexOf(name);
  return index === -1 ? NO_CAPTURE : index;
}
