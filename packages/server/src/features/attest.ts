/** Attests values before their events expire: computes each again, and signs a root over the rows that agree. */
import type pg from "pg";
import { listEvents } from "../store/events/list-events.ts";
import { Loop } from "../base/loop.ts";
import type { OnError } from "../base/ports.ts";
import { tryLockSession } from "../store/postgres/advisory-locks.ts";
import { type DatabaseOptions, inTransaction, withClient } from "../store/postgres/database.ts";
import { LOCKS } from "../store/postgres/locks.ts";
import { beginAttestation, type DuePartition, findDuePartition, insertAttestation } from "./attestations.ts";
import type { ComputePorts } from "./compute-layer.ts";
import { countRowsOfLayers, type FeatureRow } from "./feature-rows.ts";
import { LayerRunners } from "./layer-runners.ts";
import { leafOf, LeafList, rootOf } from "./leaves.ts";
import { slowTimeOf, verifyValues } from "./verify-values.ts";

const PAGE_SIZE = 500;
const LOOK_EVERY_MS = 600_000;
/**
 * Milliseconds that a definition may take for an event: more than in an extraction. The longer time changes no result
 * that is compared.
 */
const BUDGET_MS = 50;

export interface AttestPorts extends Omit<ComputePorts, "runners"> {
  readonly pool: pg.Pool;
  /** Signs what an attestation says. @returns a JWS. */
  readonly sign: (statement: object) => Promise<string>;
}

interface LayerCount {
  /** Rows that were stored before the read began, restricted ones included. */
  readonly rows: number;
  readonly leaves: LeafList;
}

export interface AttestOptions {
  /** Ends the work before the next page, or at the next slow event. */
  readonly signal?: AbortSignal;
  /** Partitions to skip. A partition that fails is added, so that other partitions do not wait for it. */
  readonly failed?: Set<string>;
}

/**
 * Recomputes the values of one partition that expires soon, and attests each of its layers.
 * @returns `false` if there was no such partition. @throws the reason of `signal`.
 */
export async function attestNext(
  ports: AttestPorts & Pick<ComputePorts, "runners">,
  { signal, failed = new Set() }: AttestOptions = {},
): Promise<boolean> {
  const partition = await findDuePartition(ports.pool, [...failed]);
  if (!partition) return false;
  failed.add(partition.partition_id);
  const attestedAt = await inTransaction(ports.pool, beginAttestation);
  const counts = await recompute(ports, partition, attestedAt, signal);
  for (const layer of partition.layers) {
    const { rows = 0, leaves: layerLeaves = new LeafList() } = counts.get(layer) ?? {};
    const leaves = layerLeaves.sorted();
    const root = rootOf(leaves);
    const { partition_id: partitionId, lower_bound, upper_bound } = partition;
    const statement = await ports.sign(
      statementOf({
        partition_id: partitionId,
        layer,
        rows,
        equal: layerLeaves.size,
        root: root.toString("hex"),
        lower_bound,
        upper_bound,
        attested_at: attestedAt,
      }),
    );
    const equal = layerLeaves.size;
    await insertAttestation(ports.pool, { partitionId, layer, attestedAt, rows, equal, root, leaves, statement });
  }
  failed.delete(partition.partition_id);
  return true;
}

/** The statement of an attestation, which is signed. */
export interface AttestationStatement {
  readonly partition_id: string;
  readonly layer: number;
  readonly lower_bound: string;
  readonly upper_bound: string;
  readonly rows: number;
  readonly equal: number;
  /** In hexadecimal. */
  readonly root: string;
  /** When the read began. */
  readonly attested_at: string;
}

/** The members of a statement in a fixed order. */
export const statementOf = ({
  partition_id,
  layer,
  lower_bound,
  upper_bound,
  rows,
  equal,
  root,
  attested_at,
}: AttestationStatement): AttestationStatement => ({
  partition_id,
  layer,
  lower_bound,
  upper_bound,
  rows,
  equal,
  root,
  attested_at,
});

async function recompute(
  ports: AttestPorts & Pick<ComputePorts, "runners">,
  partition: DuePartition,
  attestedAt: string,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, LayerCount>> {
  const { purpose, lower_bound, upper_bound } = partition;
  const stored = await countRowsOfLayers(ports.pool, partition, attestedAt);
  const counts = new Map(
    [...stored].map(([layer, rows]): [number, LayerCount] => [layer, { rows, leaves: new LeafList() }]),
  );
  const filter = { purpose, from: Date.parse(lower_bound), to: Date.parse(upper_bound) };
  const onRow = ({ layer, extracted_at }: FeatureRow, equal: Buffer | undefined): void => {
    // guard(true): what is stored during the read is in no attestation
    if (equal && extracted_at < attestedAt) counts.get(layer)?.leaves.add(leafOf(equal));
  };
  const slowTime = slowTimeOf();
  for (let after: string | undefined; ;) {
    signal?.throwIfAborted();
    const page = await listEvents(ports.pool, filter, PAGE_SIZE, after);
    const keys = page.map((event) => ({
      purpose,
      receivedAt: Date.parse(event.received_at),
      eventId: event.event_id,
    }));
    await verifyValues(ports.pool, { ...ports, slowTime }, keys, onRow);
    after = page.at(-1)?.event_id;
    if (page.length < PAGE_SIZE) return counts;
  }
}

export interface AttestDuePorts extends AttestPorts {
  readonly database: DatabaseOptions;
  readonly onError: OnError;
}

/** Attests all partitions that expire soon, unless another server does. */
export function attestDue(ports: AttestDuePorts, signal: AbortSignal): Promise<void> {
  return withClient(ports.database, async (session) => {
    // guard(false): one server recomputes a partition
    if (!(await tryLockSession(session, LOCKS.attestation))) return;
    const runners = new LayerRunners({ budgetMs: BUDGET_MS, signal });
    const options = { signal, failed: new Set<string>() };
    for (let isMore = true; isMore && !signal.aborted;) {
      const before = options.failed.size;
      isMore = await attestNext({ ...ports, runners }, options).catch((error: unknown) => {
        if (error !== signal.reason) ports.onError(error, ATTESTATION);
        return options.failed.size > before;
      });
    }
    await runners.close();
  });
}

const ATTESTATION = "attest features";

/** Attests what expires soon. Expiry does not wait for this worker. */
export class AttestationWorker extends Loop {
  constructor(ports: AttestDuePorts) {
    super((signal) => attestDue(ports, signal), {
      everyMs: LOOK_EVERY_MS,
      atOnce: true,
      onError: (error) => ports.onError(error, ATTESTATION),
    });
  }
}
