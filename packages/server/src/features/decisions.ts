/**
 * Decisions about features: proposed, equivalent, adopted for a purpose, retired. Each is recorded with its reason and
 * evidence.
 */
import { canonicalize } from "@device-risk-signals/contract";
import type { Bundle, Manifest } from "@device-risk-signals/features";
import type { ProposedBundle } from "@device-risk-signals/features/archived";
import { personsOfActor } from "../audit/actor-persons.ts";
import type { AuditSigner } from "../audit/audit-signer.ts";
import { type Agent, writeAudit } from "../audit/audit.ts";
import type { DriftDecisions } from "../ingest/drift/drift-decisions.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { excludeIngestion } from "../store/events/exclude-ingestion.ts";
import { plural } from "../base/messages/plural.ts";
import { lockTransaction } from "../store/postgres/advisory-locks.ts";
import type { Executor, OwnerTransaction } from "../store/postgres/executor.ts";
import { instant } from "../store/postgres/instant.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { narrowed, query, queryRow, sql } from "../store/postgres/statement.ts";
import { type Evidence, refusingVersions } from "./evidence.ts";
import { requireAcceptedInputs } from "./accepted-inputs.ts";

/** A version of a feature, as decisions and layers name it: `id@version`. */
export type FeatureName = string;

export const nameOf = ({ id, version }: Pick<Manifest, "id" | "version">): FeatureName => `${id}@${version}`;

export interface EquivalentProgram {
  readonly feature: FeatureName;
  /** SHA-256 of the identity of the program that is equivalent, in hexadecimal. */
  readonly hash: string;
  readonly archived_hash: string;
  /** Number of stored events of the purposes of the archived definition. */
  readonly events: number;
  /** Number of results that were computed from the archived fixtures, on each engine. */
  readonly cases: number;
}

/** What is stored with a decision that names equivalent programs. */
export interface EquivalenceEvidence {
  readonly programs: readonly EquivalentProgram[];
  /** Events that can't be opened. */
  readonly unreadable: number;
}

export interface Decider extends Agent {
  readonly reason: string;
  /** The approval of a second person that the decision uses. */
  readonly approvalId?: string;
}

const FIND_HASH = sql("select hash from feature_version where id = $1 and version = $2", ["text", "int4"], {
  hash: "text",
});
const INSERT_VERSION = sql(
  "insert into feature_version (id, version, hash, bundle, manifest, fixtures) values ($1, $2, $3, $4, $5, $6)",
  ["text", "int4", "text", "text", "text", "text?"],
);
const LIST_VERSIONS = sql(
  `select id, version, hash, bundle as text, manifest::jsonb as manifest from feature_version
    where id || '@' || version = any ($1::text[]) order by id, version`,
  ["text[]"],
  { id: "text", version: "int4", hash: "text", text: "text", manifest: narrowed<Manifest>("jsonb") },
);

/** Finds the archived bundles of these versions, in the order of `names`. @throws not-found */
export async function findBundles(executor: Executor, names: readonly FeatureName[]): Promise<readonly Bundle[]> {
  const { rows } = await query(executor, LIST_VERSIONS, [names]);
  const byName = new Map(rows.map((row) => [nameOf(row), row]));
  return names.map((name) => {
    const bundle = byName.get(name);
    if (!bundle) throw new OperatorError("not-found", `No version ${name} was proposed: see drs feature decisions.`);
    return bundle;
  });
}

const LIST_MANIFESTS = sql(
  "select manifest::jsonb as manifest from feature_version where id || '@' || version = any ($1::text[]) order by id, version",
  ["text[]"],
  { manifest: narrowed<Manifest>("jsonb") },
);

/** Finds the manifests of these versions, without their programs, ordered by id and version. */
export async function findManifests(executor: Executor, names: readonly FeatureName[]): Promise<readonly Manifest[]> {
  return (await query(executor, LIST_MANIFESTS, [names])).rows.map(({ manifest }) => manifest);
}

const LIST_NAMES = sql(
  "select id || '@' || version as name from feature_version where id = $1 order by version",
  ["text"],
  { name: "text" },
);

/** The versions of a feature that were proposed, oldest first. */
export async function listVersions(executor: Executor, id: string): Promise<readonly FeatureName[]> {
  return (await query(executor, LIST_NAMES, [id])).rows.map(({ name }) => name);
}

const LIST_INPUTS = sql(
  `select v.id || '@' || v.version as feature,
      array(select jsonb_array_elements_text(input -> 'path')) as path,
      array(select p.id from layer l join purpose p on p.code = l.purpose
        where l.ended_at is null and v.id || '@' || v.version = any (l.members) order by p.id) as computed_for
    from feature_version v, jsonb_array_elements(v.manifest::jsonb -> 'inputs') as input
    order by v.id, v.version, input ->> 'name'`,
  [],
  { feature: "text", path: "text[]", computed_for: "text[]" },
);

/** A field that a version reads. */
export interface ReadField {
  readonly feature: FeatureName;
  /** Names from the probe down, joined by dots. */
  readonly path: string;
  /** The purposes for which the version is computed now. */
  readonly computed_for: string[];
}

/** The inputs of all versions that were proposed. */
export async function listReadFields(executor: Executor): Promise<readonly ReadField[]> {
  const { rows } = await query(executor, LIST_INPUTS);
  return rows.map(({ path, ...row }) => ({ ...row, path: path.join(".") }));
}

const LIST_FIXTURES = sql(
  `select id, version, fixtures::jsonb as fixtures from feature_version
    where id || '@' || version = any ($1::text[]) and fixtures is not null`,
  ["text[]"],
  { id: "text", version: "int4", fixtures: "jsonb" },
);

/** Finds the fixtures that were archived with versions, by the names of the versions. */
export async function findFixtures(
  executor: Executor,
  names: readonly FeatureName[],
): Promise<ReadonlyMap<FeatureName, unknown>> {
  const { rows } = await query(executor, LIST_FIXTURES, [names]);
  return new Map(rows.map((row) => [nameOf(row), row.fixtures]));
}

/**
 * Archives bundles. A version that is already archived is not changed.
 * @throws state-conflict if a version is archived with another program, unless the two programs were recorded as
 * equivalent.
 */
export async function recordProposal(
  owner: OwnerTransaction,
  audit: AuditSigner,
  bundles: readonly ProposedBundle[],
  evidence: Evidence,
  decider: Decider,
): Promise<readonly FeatureName[]> {
  await lockTransaction(owner, LOCKS.features);
  const added: FeatureName[] = [];
  for (const bundle of bundles) if (await archive(owner, bundle)) added.push(nameOf(bundle));
  if (added.length > 0)
    await record(owner, audit, { kind: "proposed", features: added, purpose: null, evidence }, decider);
  return added;
}

async function archive(
  owner: OwnerTransaction,
  { id, version, hash, text, manifest, fixtures }: ProposedBundle,
): Promise<boolean> {
  const [existing] = (await query(owner, FIND_HASH, [id, version])).rows;
  if (!existing) {
    await query(owner, INSERT_VERSION, [
      id,
      version,
      hash,
      text,
      canonicalize(manifest),
      fixtures === undefined ? null : canonicalize(fixtures),
    ]);
    return true;
  }
  const isSame = existing.hash === hash || (await isEquivalent(owner, { id, version }, hash));
  // guard(false): a version never gets another program
  if (!isSame) {
    throw new OperatorError(
      "state-conflict",
      `${id}@${version} was proposed with another program, inputs or output: give the change a new version, or show with drs feature equivalent that it gives the same values.`,
    );
  }
  return false;
}

const IS_EQUIVALENT = sql(
  `select exists (select 1 from feature_decision
      where kind = 'equivalent' and evidence -> 'programs' @> $1::jsonb) as is_equivalent`,
  ["jsonb"],
  { is_equivalent: "bool" },
);

/** Whether the program of this hash was recorded as equivalent to the archived one. */
async function isEquivalent(
  executor: Executor,
  version: Pick<Manifest, "id" | "version">,
  hash: string,
): Promise<boolean> {
  const program = { feature: nameOf(version), hash };
  return (await queryRow(executor, IS_EQUIVALENT, [JSON.stringify([program])])).is_equivalent;
}

/** Records that programs compute the same values as the archived programs of their versions. */
export async function recordEquivalents(
  owner: OwnerTransaction,
  audit: AuditSigner,
  evidence: EquivalenceEvidence,
  decider: Decider,
): Promise<void> {
  await lockTransaction(owner, LOCKS.features);
  const features = evidence.programs.map(({ feature }) => feature);
  await record(owner, audit, { kind: "equivalent", features, purpose: null, evidence }, decider);
}

export interface LayerRow {
  readonly layer: number;
  readonly purpose: number;
  readonly members: readonly FeatureName[];
  readonly active_from: string;
  readonly ended_at: string | null;
}

const LIST_LAYERS = sql(
  `select layer, purpose, members, ${instant("active_from")}, ${instant("ended_at")} from layer l order by l.layer`,
  [],
  { layer: "int4", purpose: "int4", members: "text[]", active_from: "text", ended_at: "text?" },
);

/** All layers, in the order of their adoption. */
export async function listLayers(executor: Executor): Promise<readonly LayerRow[]> {
  return (await query(executor, LIST_LAYERS)).rows;
}

/** The parts of an installation with which a version is adopted. */
export interface AdoptionPorts {
  readonly audit: AuditSigner;
  readonly driftDecisions: DriftDecisions;
}

export interface Adoption {
  readonly features: readonly FeatureName[];
  readonly purpose: { readonly code: number; readonly id: string };
  readonly evidence: Evidence;
  /** Whether to adopt even if ingestion would have rejected more than a thousandth of the events of an SDK version. */
  readonly acceptsRefusals: boolean;
}

/**
 * Makes a layer of the features. From the commit on, each event of the purpose gets a row of the layer. Ingestion
 * validates the fields that the features read within 2 s.
 * @returns the number of the layer. @throws not-found, state-conflict
 */
export async function recordAdoption(
  owner: OwnerTransaction,
  { audit, driftDecisions }: AdoptionPorts,
  { features, purpose, evidence, acceptsRefusals }: Adoption,
  decider: Decider,
): Promise<number> {
  await lockTransaction(owner, LOCKS.features);
  const bundles = await findBundles(owner, features.toSorted());
  requireNamedPurpose(bundles, purpose.id);
  await requireAcceptedInputs(owner, driftDecisions, bundles);
  // guard(false): an adoption that would refuse events needs a person who says so
  if (!acceptsRefusals) requireAccepted(evidence);
  // guard(drop): each batch that commits after the adoption sees the layer
  await excludeIngestion(owner);
  const active = (await listLayers(owner)).filter((layer) => layer.ended_at === null && layer.purpose === purpose.code);
  const adopted = new Set(active.flatMap(({ members }) => members));
  const again = features.filter((name) => adopted.has(name));
  // guard(false): a version is in one active layer of a purpose
  if (again.length > 0) {
    throw new OperatorError("state-conflict", `Already adopted for ${purpose.id}: ${again.join(", ")}.`);
  }
  const layer = await addLayer(owner, purpose.code, bundles.map(nameOf));
  const decision = { kind: "adopted", features: bundles.map(nameOf), purpose: purpose.code, evidence } as const;
  await record(owner, audit, decision, decider, { layer, purpose: purpose.id });
  return layer;
}

/** @throws state-conflict if definitions do not name the purpose. The message names their versions. */
export function requireNamedPurpose(bundles: readonly Bundle[], purpose: string): void {
  const others = bundles.filter(({ manifest }) => !manifest.purposes.includes(purpose)).map(nameOf);
  // guard(false): a feature is computed for its purposes alone
  if (others.length > 0) {
    throw new OperatorError(
      "state-conflict",
      `The definitions do not name the purpose ${purpose}: ${others.join(", ")}. Name it in their purposes, and increase their versions: an archived version never changes.`,
    );
  }
}

function requireAccepted(evidence: Evidence): void {
  const refusing = refusingVersions(evidence);
  if (refusing.length === 0) return;
  const shares = refusing.map(
    ({ sdk_version, platform, events, refused }) =>
      `${platform} ${sdk_version}: ${refused} of ${plural(events, "event")}`,
  );
  throw new OperatorError(
    "state-conflict",
    `Ingestion would have refused, in the last 7 days, ${shares.join("; ")}. ` +
      "Nothing was adopted. To adopt nevertheless, add --accept-refusals.",
  );
}

/**
 * Ends the computation of features for a purpose: their layers end, and the other features of these layers get a new
 * layer.
 * @returns the numbers of the ended layers. @throws not-found for a feature that is in no active layer of the purpose.
 */
export async function recordRetirement(
  owner: OwnerTransaction,
  audit: AuditSigner,
  { features, purpose }: Pick<Adoption, "features" | "purpose">,
  decider: Decider,
): Promise<readonly number[]> {
  await lockTransaction(owner, LOCKS.features);
  const retired = new Set(features);
  const active = (await listLayers(owner)).filter((layer) => layer.ended_at === null && layer.purpose === purpose.code);
  const ending = active.filter(({ members }) => members.some((name) => retired.has(name)));
  const unknown = features.filter((name) => !ending.some(({ members }) => members.includes(name)));
  if (unknown.length > 0) {
    throw new OperatorError("not-found", `Not adopted for ${purpose.id}: ${unknown.join(", ")}.`);
  }
  await excludeIngestion(owner);
  for (const { layer } of ending) await query(owner, END_LAYER, [layer]);
  for (const { members } of ending) {
    const rest = members.filter((name) => !retired.has(name));
    if (rest.length > 0) await addLayer(owner, purpose.code, rest);
  }
  const layers = ending.map(({ layer }) => layer);
  const decision = { kind: "retired", features, purpose: purpose.code, evidence: undefined } as const;
  await record(owner, audit, decision, decider, { layers, purpose: purpose.id });
  return layers;
}

/**
 * An event gets no row in the layer if it was received after `ended_at` by the clock of its server, which may be ahead.
 */
const END_LAYER = sql(
  "update layer set ended_at = greatest(active_from, (select wall_clock_time())) where layer = $1",
  ["int4"],
);
const ADD_LAYER = sql(
  `insert into layer (layer, purpose, members, active_from)
    select coalesce(max(layer), 0) + 1, $1, $2, wall_clock_time() from layer returning layer`,
  ["int4", "text[]"],
  { layer: "int4" },
);

const addLayer = async (owner: OwnerTransaction, purpose: number, members: readonly FeatureName[]): Promise<number> =>
  (await queryRow(owner, ADD_LAYER, [purpose, members])).layer;

interface NewDecision {
  readonly kind: "proposed" | "adopted" | "retired" | "equivalent";
  readonly features: readonly FeatureName[];
  readonly purpose: number | null;
  readonly evidence: Evidence | EquivalenceEvidence | undefined;
}

const OPERATIONS = {
  proposed: "feature.propose",
  adopted: "feature.adopt",
  retired: "feature.retire",
  equivalent: "feature.equivalent",
} as const;

const INSERT_DECISION = sql(
  `with next as materialized (select coalesce(max(decision), 0) + 1 as decision from feature_decision)
    insert into feature_decision (decision, kind, features, purpose, decided_by, reason, evidence)
      select decision, $1, $2, $3, $4, $5, $6 from next`,
  ["text", "text[]", "int4?", "text", "text", "jsonb"],
);

async function record(
  owner: OwnerTransaction,
  audit: AuditSigner,
  { kind, features, purpose, evidence }: NewDecision,
  { reason, ...agent }: Decider,
  more: object = {},
): Promise<void> {
  await query(owner, INSERT_DECISION, [kind, features, purpose, agent.actor, reason, evidence ?? {}]);
  const operation = OPERATIONS[kind];
  // guard(drop): the audit says who decided, and why
  await writeAudit(owner, audit, { ...agent, operation, outcome: "done", reason, detail: { features, ...more } });
}

const FIND_PROPOSERS = sql(
  `select distinct decided_by from feature_decision
    where kind = 'proposed' and features && $1::text[]`,
  ["text[]"],
  { decided_by: "text" },
);

/** Whether one of the persons proposed one of the versions. If so, a second person must approve the adoption. */
export async function isProposer(
  executor: Executor,
  features: readonly FeatureName[],
  persons: readonly string[],
): Promise<boolean> {
  const { rows } = await query(executor, FIND_PROPOSERS, [features]);
  return rows.some((row) => personsOfActor(row.decided_by).some((person) => persons.includes(person)));
}

const LIST_DECISIONS = sql(
  `select decision, kind, features, p.id as purpose, ${instant("decided_at")}, decided_by, reason, evidence
    from feature_decision d left join purpose p on p.code = d.purpose
    where $1::text is null or $1 = any (d.features) order by d.decision desc limit $2`,
  ["text?", "int8"],
  {
    decision: "int4",
    kind: "text",
    features: "text[]",
    purpose: "text?",
    decided_at: "text",
    decided_by: "text",
    reason: "text",
    evidence: narrowed<Evidence | EquivalenceEvidence | Record<string, never>>("jsonb"),
  },
);

/** Decisions, newest first. @param feature limits them to one version, `id@version`. */
export async function listDecisions(executor: Executor, limit: number, feature?: FeatureName) {
  return (await query(executor, LIST_DECISIONS, [feature ?? null, limit])).rows;
}
