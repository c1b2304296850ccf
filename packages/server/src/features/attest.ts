/** Attests values before their events expire: each is recomputed, and a signed root over the equal rows is kept. */
import { CompactRange, HASH_BYTES, leafHash } from "../audit/log/merkle.ts";
import { listEvents } from "../events/read-events.ts";
import type { OnError } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { type DuePartition, findDuePartition, insertAttestation } from "./attestations.ts";
import type { ExtractPorts } from "./extract.ts";
import { LayerRunners } from "./layer-runners.ts";
import { verifyValues } from "./verify-values.ts";

const PAGE = 500;
const LOOK_EVERY_MS = 600_000;
/** The result does not depend on the time: values that exceeded their time were not stored. */
const BUDGET_MS = 50;

export interface AttestPorts extends Omit<ExtractPorts, "runners"> {
  readonly executor: Executor;
  /** Signs what an attestation says. @returns a JWS. */
  readonly sign: (statement: object) => Promise<string>;
}

/** The hash of one row: of the bytes that are sealed in it, a salt among them. */
export const leafOf = (opened: Buffer): Buffer => leafHash(opened);

/** The root of leaves. @param leaves their hashes. */
export function rootOf(leaves: Buffer): Buffer {
  const range = new CompactRange();
  for (let at = 0; at < leaves.length; at += HASH_BYTES) range.append(leaves.subarray(at, at + HASH_BYTES));
  return range.root();
}

interface LayerCount {
  rows: number;
  readonly leaves: Buffer[];
}

export interface AttestOptions {
  /** Ends the work before the next page. */
  readonly signal?: AbortSignal;
  /** Partitions that are passed over. One that throws is added: others do not wait for it. */
  readonly failed?: Set<string>;
}

/**
 * Recomputes the values of one partition that expires soon, and attests each of its layers.
 * @returns whether there was one.
 */
export async function attestNext(
  ports: AttestPorts & Pick<ExtractPorts, "runners">,
  { signal, failed = new Set() }: AttestOptions = {},
): Promise<boolean> {
  const partition = await findDuePartition(ports.executor, [...failed]);
  if (!partition) return false;
  failed.add(partition.partition_id);
  const counts = await recompute(ports, partition, signal);
  if (!counts) return false;
  for (const layer of partition.layers) {
    const { rows, leaves: found } = counts.get(layer) ?? { rows: 0, leaves: [] };
    // Sorted: the order of the leaves says nothing about their events.
    const leaves = Buffer.concat(found.toSorted((one, other) => one.compare(other)));
    const root = rootOf(leaves);
    const { partition_id: partitionId, lower_bound, upper_bound } = partition;
    const statement = await ports.sign(
      statementOf({
        partition_id: partitionId,
        layer,
        rows,
        equal: found.length,
        root: root.toString("hex"),
        lower_bound,
        upper_bound,
      }),
    );
    await insertAttestation(ports.executor, { partitionId, layer, rows, equal: found.length, root, leaves, statement });
  }
  failed.delete(partition.partition_id);
  return true;
}

/** What the signature of an attestation is about. */
export interface AttestationStatement {
  readonly partition_id: string;
  readonly layer: number;
  readonly lower_bound: string;
  readonly upper_bound: string;
  readonly rows: number;
  readonly equal: number;
  /** In hexadecimal. */
  readonly root: string;
}

/** The members of a statement in one order. */
export const statementOf = ({
  partition_id,
  layer,
  lower_bound,
  upper_bound,
  rows,
  equal,
  root,
}: AttestationStatement): AttestationStatement => ({
  partition_id,
  layer,
  lower_bound,
  upper_bound,
  rows,
  equal,
  root,
});

async function recompute(
  ports: AttestPorts & Pick<ExtractPorts, "runners">,
  { purpose, lower_bound, upper_bound, layers }: DuePartition,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<number, LayerCount> | undefined> {
  const counts = new Map(layers.map((layer): [number, LayerCount] => [layer, { rows: 0, leaves: [] }]));
  const filter = { purpose, from: Date.parse(lower_bound), to: Date.parse(upper_bound) };
  const onRow = (layer: number, equal: Buffer | undefined): void => {
    const count = counts.get(layer);
    if (!count) return;
    count.rows++;
    if (equal) count.leaves.push(leafOf(equal));
  };
  for (let after: string | undefined; ;) {
    if (signal?.aborted) return undefined;
    const page = await listEvents(ports.executor, filter, PAGE, after);
    const keys = page.map((event) => ({
      purpose,
      receivedAt: Date.parse(event.received_at),
      eventId: event.event_id,
    }));
    await verifyValues(ports.executor, ports, keys, onRow);
    after = page.at(-1)?.event_id;
    if (page.length < PAGE) return counts;
  }
}

/** Attests what expires soon. Expiry does not wait for it. */
export class AttestationWorker {
  readonly #ports: AttestPorts & { readonly onError: OnError };
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(ports: AttestPorts & { readonly onError: OnError }) {
    this.#ports = ports;
    this.#timer = setInterval(() => this.#start(), LOOK_EVERY_MS);
    this.#timer.unref();
    this.#start();
  }

  /** Waits for the page that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#running = this.#running.then(() => this.#attest());
  }

  async #attest(): Promise<void> {
    const runners = new LayerRunners({ budgetMs: BUDGET_MS });
    const options = { signal: this.#closing.signal, failed: new Set<string>() };
    for (let isMore = true; isMore && !options.signal.aborted;) {
      const before = options.failed.size;
      isMore = await attestNext({ ...this.#ports, runners }, options).catch((error: unknown) => {
        this.#ports.onError(error, "attest features");
        return options.failed.size > before;
      });
    }
    await runners.close();
  }
}
