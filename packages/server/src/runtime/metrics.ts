import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { FalseCredential } from "../access/identity/false-credentials.ts";
import type { Dependencies } from "../base/dependencies/dependencies.ts";
import type { AuditState } from "../audit/audit-watch.ts";
import type { Extracted } from "../features/extract.ts";
import { COUNTS, type Expired } from "../lifecycle/retention/runs.ts";
import type { PassState } from "../lifecycle/retention-worker.ts";
import type { Meter } from "../base/ports.ts";

export interface Metrics extends Meter {
  readonly registry: Registry;
  readonly retentionPassed: (state: PassState, expired: Expired | undefined) => void;
  readonly adoptedFieldsRead: (paths: number, valid: boolean) => void;
  readonly batchCommitted: (events: number, seconds: number) => void;
  readonly payloadsCompared: (payloads: number) => void;
  readonly featuresExtracted: (extracted: Extracted) => void;
  readonly falseCredential: (kind: FalseCredential) => void;
  readonly auditWatched: (state: AuditState) => void;
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Prometheus metrics; no label ever contains text of a client. If several processes share one metrics page, the
 * `aggregator` of a gauge decides how their values are combined; the default is the sum.
 */
export function createMetrics(inFlight: () => number, dependencies: Dependencies): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "drs_requests_total",
    help: "Answers of the endpoint, by status and code.",
    labelNames: ["status", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "drs_request_duration_seconds",
    help: "From the headers of a request to its answer.",
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const warnings = new Counter({
    name: "drs_event_warnings_total",
    help: "Stored events with a warning: unmapped action type, data beyond the purpose, or a mismatched session.",
    labelNames: ["warning"],
    registers,
  });
  const scans = new Counter({
    name: "drs_scans_total",
    help: "Request bodies that the fast scanner accepted, left to the slow path because it was unsure, or failed on.",
    labelNames: ["result"],
    registers,
  });
  const batches = new Histogram({
    name: "drs_commit_batch_events",
    help: "Events of a commit batch.",
    buckets: [1, 2, 4, 8, 16, 32, 64],
    registers,
  });
  const commits = new Histogram({
    name: "drs_commit_duration_seconds",
    help: "From the start of a commit batch to its durability.",
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const deleted = new Counter({
    name: "drs_retention_deleted_total",
    help: "What this server's retention passes deleted: partitions, rows, secrets, keys, copies, features.",
    labelNames: ["what"],
    registers,
  });
  const deletedBytes = new Counter({
    name: "drs_retention_deleted_bytes_total",
    help: "Bytes on disk that this server's retention passes freed.",
    registers,
  });
  const features = new Counter({
    name: "drs_features_extracted_total",
    help: "Rows of features that this server stored, events that failed, and rows that a second computation contradicts.",
    labelNames: ["result"],
    registers,
  });
  const falseCredentials = new Counter({
    name: "drs_admin_false_credentials_total",
    help: "Requests of the admin API whose credentials were missing or false, by kind.",
    labelNames: ["kind"],
    registers,
  });
  const lag = new Gauge({
    name: "drs_retention_lag_seconds",
    aggregator: "max",
    help: "Seconds for which the oldest expired partition has not been dropped.",
    registers,
  });
  const lastRetention = new Gauge({
    name: "drs_retention_last_pass_timestamp_seconds",
    aggregator: "max",
    help: "Time of this server's last retention pass, or of its last attempt while another pass ran.",
    registers,
  });
  const holds = new Gauge({ name: "drs_holds", aggregator: "max", help: "Active legal holds.", registers });
  const reviews = new Gauge({
    name: "drs_hold_reviews_overdue",
    aggregator: "max",
    help: "Legal holds whose review is overdue.",
    registers,
  });
  const overdueRequests = new Gauge({
    name: "drs_data_requests_overdue",
    aggregator: "max",
    help: "Requests of data subjects that are overdue.",
    registers,
  });
  const comparedPayloads = new Gauge({
    name: "drs_retry_payload_reads",
    aggregator: "max",
    help: "Stored payloads that all servers read in this hour, to compare retries whose bytes differ.",
    registers,
  });
  const adopted = new Gauge({
    name: "drs_adopted_fields",
    aggregator: "max",
    help: "Active adopted fields that came from a file.",
    registers,
  });
  const adoptedInvalid = new Gauge({
    name: "drs_adopted_fields_file_invalid",
    aggregator: "max",
    help: "1 while the file of adopted fields is invalid and the previous fields stay active.",
    registers,
  });
  const completableRequests = new Gauge({
    name: "drs_data_requests_completable",
    aggregator: "max",
    help: "Requests of data subjects that were closed partly and can be closed as done, because the hold has ended.",
    registers,
  });
  const unsigned = new Gauge({
    name: "drs_audit_unsigned_seconds",
    aggregator: "max",
    help: "Age of the oldest audit entry that no signed checkpoint covers; 0 if there is none.",
    registers,
  });
  const sinkLag = new Gauge({
    name: "drs_audit_sink_lag_seconds",
    aggregator: "max",
    help: "Seconds for which a sink has lacked the latest checkpoint of the audit log, by the worker that signs it.",
    labelNames: ["sink"],
    registers,
  });
  const verdict = new Gauge({
    name: "drs_audit_verification_verdict",
    aggregator: "max",
    help: "Result of the last verification of the audit log by a worker, as the exit code of drs audit verify.",
    registers,
  });
  const verifiedAt = new Gauge({
    name: "drs_audit_verification_timestamp_seconds",
    aggregator: "max",
    help: "Time of the last verification of the audit log by a worker; 0 if there was none.",
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: "drs_dependency_up",
      aggregator: "min",
      help: "1 if the dependency can be used, 0 if /readyz names it.",
      labelNames: ["dependency"],
      registers: [],
      collect() {
        for (const { name, problems } of dependencies.health) {
          this.set({ dependency: name }, problems.length === 0 ? 1 : 0);
        }
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: "drs_requests_in_flight",
      help: "Requests that the server is answering.",
      registers: [],
      collect() {
        this.set(inFlight());
      },
    }),
  );
  return {
    registry,
    answered(status, code, seconds) {
      requests.inc({ status: String(status), code });
      durations.observe(seconds);
    },
    warned(warning) {
      warnings.inc({ warning });
    },
    scanned(result) {
      scans.inc({ result });
    },
    retentionPassed({ lag_seconds, holds: active, reviews_overdue, requests_overdue, requests_completable }, expired) {
      holds.set(active);
      reviews.set(reviews_overdue);
      overdueRequests.set(requests_overdue);
      completableRequests.set(requests_completable);
      for (const what of COUNTS) {
        const amount = expired?.[what] ?? 0;
        if (what === "bytes") deletedBytes.inc(amount);
        else deleted.inc({ what }, amount);
      }
      lag.set(lag_seconds);
      lastRetention.setToCurrentTime();
    },
    adoptedFieldsRead(paths, valid) {
      adopted.set(paths);
      adoptedInvalid.set(valid ? 0 : 1);
    },
    payloadsCompared(payloads) {
      comparedPayloads.set(payloads);
    },
    featuresExtracted({ rows, failures, differences }) {
      features.inc({ result: "stored" }, rows);
      features.inc({ result: "failed" }, failures);
      features.inc({ result: "different" }, differences);
    },
    falseCredential(kind) {
      falseCredentials.inc({ kind });
    },
    auditWatched({ unsignedMs, sinks, verified }) {
      unsigned.set(unsignedMs / 1_000);
      sinkLag.reset();
      for (const { name, lagMs } of sinks) sinkLag.set({ sink: name }, lagMs / 1_000);
      if (!verified) return;
      verdict.set(verified.verdict);
      verifiedAt.set(verified.at / 1_000);
    },
    batchCommitted(events, seconds) {
      batches.observe(events);
      commits.observe(seconds);
    },
  };
}
