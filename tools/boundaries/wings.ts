/**
 * The wings of `packages/server/src`, from the bottom up. A wing may import the wings that its entry names, and an entry
 * names only wings above it in this list, so that the graph has no cycle.
 */
export interface Wing {
  readonly name: string;
  /** What the wing contains, as one phrase. */
  readonly contents: string;
  readonly imports: readonly string[];
}

export const WINGS: readonly Wing[] = [
  { name: "base", contents: "errors, ports, settings, deadlines, files, caches", imports: [] },
  {
    name: "store",
    contents: "PostgreSQL, keys and secrets, accounts, events, the record of the audit",
    imports: ["base"],
  },
  {
    name: "audit",
    contents: "the audit log: leaves, tree, checkpoints, reviews, verification",
    imports: ["base", "store"],
  },
  { name: "purposes", contents: "purposes and retention periods", imports: ["base", "store", "audit"] },
  {
    name: "access",
    contents: "who calls: sign-in, tokens, roles; cases, approvals",
    imports: ["base", "store", "audit"],
  },
  {
    name: "ingest",
    contents: "the path of an event; sessions, actions, adopted fields, counters, drift",
    imports: ["base", "store"],
  },
  {
    name: "features",
    contents: "feature versions, decisions, extraction, values, backfills, exports",
    imports: ["base", "store", "audit", "purposes", "access", "ingest"],
  },
  {
    name: "lifecycle",
    contents: "journal, holds, restrictions, erasure, retention, recovery, receipts, requests, backups",
    imports: ["base", "store", "audit", "purposes", "access", "ingest", "features"],
  },
  {
    name: "runtime",
    contents: "connects, opens keys, recovers, supervises; embedded PostgreSQL, metrics, tracing",
    imports: ["base", "store", "audit", "purposes", "access", "ingest", "features", "lifecycle"],
  },
  {
    name: "operations",
    contents: "what a caller may do, one noun in each file; `drs doctor`",
    imports: ["base", "store", "audit", "purposes", "access", "ingest", "features", "lifecycle", "runtime"],
  },
  {
    name: "http",
    contents: "the endpoint in each host, the routes of the admin API, sign-in, TLS",
    imports: ["base", "store", "audit", "access", "ingest", "operations"],
  },
  {
    name: "serve",
    contents: "the standalone service: an endpoint, two listeners, a worker",
    imports: ["base", "audit", "access", "ingest", "runtime", "operations", "http"],
  },
  {
    name: "cli",
    contents: "`drs`: a group of commands in each file, and what they share",
    imports: [
      "base",
      "store",
      "audit",
      "purposes",
      "access",
      "ingest",
      "features",
      "lifecycle",
      "runtime",
      "operations",
      "serve",
    ],
  },
  {
    name: "(entries)",
    contents: "`index.ts` for embedding, `main.ts` for the command",
    imports: ["base", "ingest", "runtime", "cli"],
  },
];
