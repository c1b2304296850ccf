import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { FalseCredential } from "../access/identity/false-credentials.ts";
import type { Dependencies } from "../base/dependencies/dependencies.ts";
import type { AuditState } from "../audit/audit-watch.ts";
import type { Extracted } from "../features/extract.ts";
import { COUNTS, type Expired } from "../lifecycle/retention/run-table.ts";
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

const HELP = {
  drs_requests_total: "Answers of the endpoint, by status and code.",
  drs_request_duration_seconds: "From the headers of a request to its answer.",
  drs_event_warnings_total:
    "Stored events with a warning: unmapped action type, data beyond the purpose, or a mismatched session.",
  drs_scans_total:
    "Request bodies that the fast scanner accepted, left to the slow path because it was unsure, or failed on.",
  drs_commit_batch_events: "Events of a commit batch.",
  drs_commit_duration_seconds: "From the start of a commit batch to its durability.",
  drs_retention_deleted_total:
    "What this server's retention passes deleted: partitions, rows, secrets, keys, copies, features.",
  drs_retention_deleted_bytes_total: "Bytes on disk that this server's retention passes freed.",
  drs_features_extracted_total:
    "Rows of features that this server stored, events that failed, and rows that a second computation contradicts.",
  drs_admin_false_credentials_total: "Requests of the admin API whose credentials were missing or false, by kind.",
  drs_retention_lag_seconds: "Seconds for which the oldest expired partition has not been dropped.",
  drs_retention_last_pass_timestamp_seconds:
    "Time of this server's last retention pass, or of its last attempt while another pass ran.",
  drs_holds: "Active legal holds.",
  drs_hold_reviews_overdue: "Legal holds whose review is overdue.",
  drs_data_requests_overdue: "Requests of data subjects that are overdue.",
  drs_retry_payload_reads: "Stored payloads that all servers read in this hour, to compare retries whose bytes differ.",
  drs_adopted_fields: "Active adopted fields that came from a file.",
  drs_adopted_fields_file_invalid: "1 while the file of adopted fields is invalid and the previous fields stay active.",
  drs_data_requests_completable:
    "Requests of data subjects that were closed partly and can be closed as done, because the hold has ended.",
  drs_audit_unsigned_seconds: "Age of the oldest audit entry that no signed checkpoint covers; 0 if there is none.",
  drs_audit_sink_lag_seconds:
    "Seconds for which a sink has lacked the latest checkpoint of the audit log, by the worker that signs it.",
  drs_audit_verification_verdict:
    "Result of the last verification of the audit log by a worker, as the exit code of drs audit verify.",
  drs_audit_verification_timestamp_seconds:
    "Time of the last verification of the audit log by a worker; 0 if there was none.",
  drs_dependency_up: "1 if the dependency can be used, 0 if /readyz names it.",
  drs_requests_in_flight: "Requests that the server is answering.",
} as const;

type Name = keyof typeof HELP;

/**
 * Prometheus metrics; no label ever contains text of a client. If several processes share one metrics page, the
 * `aggregator` of a gauge decides how their values are combined; the default is the sum.
 */
export function createMetrics(inFlight: () => number, dependencies: Dependencies): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = (name: Name, ...labelNames: readonly string[]): Counter =>
    new Counter({ name, help: HELP[name], labelNames, registers });
  const gauge = (name: Name, ...labelNames: readonly string[]): Gauge =>
    new Gauge({ name, help: HELP[name], labelNames, aggregator: "max", registers });
  const histogram = (name: Name, buckets: number[]): Histogram =>
    new Histogram({ name, help: HELP[name], buckets, registers });
  const requests = counter("drs_requests_total", "status", "code");
  const durations = histogram("drs_request_duration_seconds", DURATION_BUCKETS_SECONDS);
  const warnings = counter("drs_event_warnings_total", "warning");
  const scans = counter("drs_scans_total", "result");
  const batches = histogram("drs_commit_batch_events", [1, 2, 4, 8, 16, 32, 64]);
  const commits = histogram("drs_commit_duration_seconds", DURATION_BUCKETS_SECONDS);
  const deleted = counter("drs_retention_deleted_total", "what");
  const deletedBytes = counter("drs_retention_deleted_bytes_total");
  const features = counter("drs_features_extracted_total", "result");
  const falseCredentials = counter("drs_admin_false_credentials_total", "kind");
  const lag = gauge("drs_retention_lag_seconds");
  const lastRetention = gauge("drs_retention_last_pass_timestamp_seconds");
  const holds = gauge("drs_holds");
  const reviews = gauge("drs_hold_reviews_overdue");
  const overdueRequests = gauge("drs_data_requests_overdue");
  const comparedPayloads = gauge("drs_retry_payload_reads");
  const adopted = gauge("drs_adopted_fields");
  const adoptedInvalid = gauge("drs_adopted_fields_file_invalid");
  const completableRequests = gauge("drs_data_requests_completable");
  const unsigned = gauge("drs_audit_unsigned_seconds");
  const sinkLag = gauge("drs_audit_sink_lag_seconds", "sink");
  const verdict = gauge("drs_audit_verification_verdict");
  const verifiedAt = gauge("drs_audit_verification_timestamp_seconds");
  const dependencyUp = new Gauge({
    name: "drs_dependency_up",
    aggregator: "min",
    help: HELP.drs_dependency_up,
    labelNames: ["dependency"],
    registers: [],
    collect() {
      for (const { name, problems } of dependencies.health) {
        this.set({ dependency: name }, problems.length === 0 ? 1 : 0);
      }
    },
  });
  const requestsInFlight = new Gauge({
    name: "drs_requests_in_flight",
    help: HELP.drs_requests_in_flight,
    registers: [],
    collect() {
      this.set(inFlight());
    },
  });
  registry.registerMetric(dependencyUp);
  registry.registerMetric(requestsInFlight);
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
