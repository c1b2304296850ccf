import type { AdoptedFields } from "@device-risk-signals/contract/catalog/adopted";
import type { FieldPath } from "@device-risk-signals/contract/catalog/check";
import { Loop } from "../base/loop.ts";
import type { AdoptedFieldSet, OnError } from "../base/ports.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { query, sql } from "../store/postgres/statement.ts";
import { findManifests, listLayers } from "./decisions.ts";
import { inputsOf } from "./evidence.ts";
import { adoptKnownFields } from "./known-fields.ts";

/** Interval in milliseconds at which a server reads new decisions. */
const LOOK_EVERY_MS = 500;

/** A proposal is left out, because it does not change which fields the adopted features read. */
const LATEST_DECISION = sql(
  "select coalesce(max(decision), 0) as decision from feature_decision where kind <> 'proposed'",
  [],
  { decision: "int4" },
);

/** The fields that adopted features read, together with the fields of another set. */
export class FieldsOfFeatures implements AdoptedFieldSet {
  readonly #executor: Executor;
  readonly #others: AdoptedFieldSet;
  #paths: readonly FieldPath[] = [];
  #decision = 0;
  #joined: { readonly of: AdoptedFields; readonly all: AdoptedFields } | undefined;
  #loop: Loop | undefined;

  private constructor(executor: Executor, others: AdoptedFieldSet) {
    this.#executor = executor;
    this.#others = others;
  }

  /** Reads the fields of the adopted features now, and again after each decision until `close` is called. */
  static async open(executor: Executor, others: AdoptedFieldSet, onError: OnError): Promise<FieldsOfFeatures> {
    const fields = new FieldsOfFeatures(executor, others);
    await fields.#look();
    fields.#loop = new Loop(() => fields.#look(), {
      everyMs: LOOK_EVERY_MS,
      onError: (error) => onError(error, "follow adopted features"),
    });
    return fields;
  }

  get current(): AdoptedFields {
    const of = this.#others.current;
    if (this.#paths.length === 0) return of;
    if (this.#joined?.of !== of) {
      this.#joined = { of, all: adoptKnownFields([...of.paths, ...this.#paths]) };
    }
    return this.#joined.all;
  }

  async close(): Promise<void> {
    await this.#loop?.close();
  }

  async #look(): Promise<void> {
    const decision = (await query(this.#executor, LATEST_DECISION)).rows[0]?.decision ?? 0;
    if (decision === this.#decision) return;
    const active = (await listLayers(this.#executor)).filter(({ ended_at }) => ended_at === null);
    const names = [...new Set(active.flatMap(({ members }) => members))];
    const manifests = await findManifests(this.#executor, names);
    this.#paths = adoptKnownFields(inputsOf(manifests).map(({ path }) => path)).paths;
    this.#joined = undefined;
    this.#decision = decision;
  }
}
