import type { Input } from "@device-risk-signals/admin-api";
import { adoptFields } from "@device-risk-signals/contract/catalog/adopted";
import { isSamePerson } from "../audit/actor-persons.ts";
import { writeAudit } from "../audit/audit.ts";
import type { DriftDecisions } from "../ingest/drift/drift-decisions.ts";
import {
  acceptedFields,
  jsonTypeOf,
  relatedTo,
  reviewDrift,
  type ReviewedRow,
  type Verdict,
} from "../ingest/drift/drift-review.ts";
import { listDrift as queryDrift } from "../ingest/drift/drift.ts";
import { listReadFields } from "../features/decisions.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { agentOf } from "../access/identity/caller.ts";
import { inTransaction } from "../store/postgres/database.ts";
import type { Executor } from "../store/postgres/executor.ts";
import { invalid, reasonOf, requireFuture } from "./input.ts";
import type { Operation, OperationCall } from "./operation.ts";

/** Reads all drift, decisions and accepted fields, which are a few thousand rows at most. */
type ReviewPorts = "clock" | "keys.driftDecisions" | "pool";

async function readReview(executor: Executor, driftDecisions: DriftDecisions, now: number) {
  const rows = await queryDrift(executor);
  const decisions = await driftDecisions.list(executor);
  const overlay = acceptedFields(decisions);
  return { drift: reviewDrift(rows, decisions, overlay, now), decisions, overlay };
}

export const listDrift: Operation<"listDrift", ReviewPorts> = async ({ ports, input }) => {
  const { driftDecisions } = await ports.keys();
  const { drift } = await readReview(ports.pool, driftDecisions, ports.clock.now());
  const shown = input.all ? drift : drift.filter(({ review }) => review !== "ignored");
  return { answer: { drift: [...shown] }, audit: { detail: { count: shown.length } } };
};

export const readDrift: Operation<"readDrift", ReviewPorts> = async ({ ports, input: { path } }) => {
  const { driftDecisions } = await ports.keys();
  const { drift, decisions, overlay } = await readReview(ports.pool, driftDecisions, ports.clock.now());
  const related = { seen: relatedTo(drift, path), decisions: relatedTo(decisions, path) };
  const readBy = relatedTo(await listReadFields(ports.pool), path);
  return {
    answer: {
      seen: [...related.seen],
      decisions: [...related.decisions],
      overlay: [...relatedTo(overlay, path)],
      read_by: [...readBy],
    },
    audit: { detail: { path } },
  };
};

export const readOverlay: Operation<"readOverlay", "keys.driftDecisions" | "pool"> = async ({ ports }) => {
  const { driftDecisions } = await ports.keys();
  const overlay = await driftDecisions.listAcceptedFields(ports.pool);
  return { answer: { overlay: [...overlay] }, audit: { detail: { count: overlay.length } } };
};

type DecisionPorts = ReviewPorts | "config" | "keys.audit";

export const acceptDrift: Operation<"acceptDrift", DecisionPorts> = (call) => {
  const { path, type, unit, sensitivity } = call.input;
  if (type.startsWith("number") !== (unit !== undefined)) {
    throw invalid("body/unit", "a number has a unit, `none` where it has no dimension; other types have none");
  }
  const verdict: Verdict = { kind: "accepted", type, ...(unit !== undefined && { unit }), sensitivity };
  return decide(call, verdict, ({ drift }) => requireAcceptable(path, type, drift));
};

function requireAcceptable(path: string, type: Input<"acceptDrift">["type"], drift: readonly ReviewedRow[]): void {
  const names = path.split(".");
  if (names.length < 2) throw invalid("params/path", "a path has the name of a probe and of its field: PROBE.FIELD");
  if (adoptFields([names]).ok) {
    throw new OperatorError("state-conflict", "The catalog has this field: definitions read it as it is published.");
  }
  const types = drift.filter((row) => row.path === path).map(({ json_type }) => json_type);
  // guard: a definition reads a field only as a type that an event had
  if (!types.includes(jsonTypeOf(type))) {
    const seen = types.length > 0 ? `was seen as ${[...new Set(types)].join(", ")} only` : "was seen in no event";
    throw new OperatorError("state-conflict", `The field ${seen}: see drs drift show ${names[0]}.`);
  }
}

export const classifyDrift: Operation<"classifyDrift", DecisionPorts> = (call) => {
  const { input, caller } = call;
  return decide(call, { kind: "classified", sensitivity: input.sensitivity }, ({ decisions, overlay }) => {
    if (!overlay.some(({ path }) => path === input.path)) {
      throw new OperatorError("not-found", "The field is not accepted: see drs drift overlay.");
    }
    const accepted = decisions.find(({ path, kind }) => path === input.path && kind === "accepted");
    // guard(false): a person does not classify a field that the same person accepted
    if (caller.via !== "direct" && accepted && isSamePerson(accepted.decided_by, caller.actor)) {
      throw new OperatorError(
        "state-conflict",
        "A person who accepted a field can't classify it: another person must.",
      );
    }
  });
};

export const ignoreDrift: Operation<"ignoreDrift", DecisionPorts> = (call) => {
  const { until } = call.input;
  if (until !== undefined) requireFuture("body/until", until, call.ports.clock);
  return decide(call, { kind: "ignored", ...(until !== undefined && { until }) });
};

export const rejectDrift: Operation<"rejectDrift", DecisionPorts> = (call) => decide(call, { kind: "rejected" });

type Review = Awaited<ReturnType<typeof readReview>>;

async function decide(
  { ports, caller, input }: Pick<OperationCall<"rejectDrift", DecisionPorts>, "ports" | "caller" | "input">,
  verdict: Verdict,
  check: (review: Review) => void = () => {},
) {
  const { pool, clock, config } = ports;
  const reason = reasonOf(input.reason, config);
  const { audit, driftDecisions } = await ports.keys();
  return inTransaction(pool, async (transaction) => {
    const review = await readReview(transaction, driftDecisions, clock.now());
    const related = relatedTo(review.drift, input.path);
    // The rows of a decided path may have given way to newer ones.
    if (related.length === 0 && relatedTo(review.decisions, input.path).length === 0) throw notSeen();
    check(review);
    const decision = await driftDecisions.decide(transaction, input.path, verdict, { by: caller.actor, reason });
    const { kind, ...detail } = verdict;
    const operation = `drift.${{ accepted: "accept", classified: "classify", ignored: "ignore", rejected: "reject" }[kind]}`;
    const entry = { ...agentOf(caller), operation, outcome: "done", reason, detail: { path: input.path, ...detail } };
    await writeAudit(transaction, audit, entry);
    const platforms = [...new Set(related.map(({ platform }) => platform))].toSorted();
    const overlay = await driftDecisions.listAcceptedFields(transaction);
    return { answer: { decision, overlay: [...overlay], platforms } };
  });
}

const notSeen = (): OperatorError =>
  new OperatorError("not-found", "No stored event departed from the catalog at this path: see drs drift list --all.");
