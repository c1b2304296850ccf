import { type Answer, scopeOf } from "@device-risk-signals/admin-api";
import { findSubjectOfEvent } from "../audit/subject-of-event.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { receivedAtOf } from "../store/events/read-events.ts";
import { type Decision, type Explanation, explainFeature as explain } from "../features/explain.ts";
import { revealFeatures } from "../features/feature-rows.ts";
import type { Caller } from "../access/identity/caller.ts";
import { findErasuresWithReceipts } from "../lifecycle/erasure/erasure-table.ts";
import { subjectMac } from "../lifecycle/erasure/plan-erasure.ts";
import { type AuditPorts, auditNotFound, auditRevealed } from "./audit-around.ts";
import type { Operation } from "./operation.ts";
import { type Ports, type ReplayedPorts, requireReplayedJournal } from "./ports.ts";

type Explained = Answer<"explainFeature">;

export const explainFeature: Operation<
  "explainFeature",
  "installation.featureSealer" | "keys.pseudonymizer" | AuditPorts | ReplayedPorts
> = async (call) => {
  const { ports, caller, scope, input } = call;
  const { featureSealer } = await requireReplayedJournal(ports);
  const { feature, program = false } = input;
  const eventId = input.event_id.toLowerCase();
  const reveal: Parameters<typeof explain>[0]["reveal"] = async (rows) => {
    const read = { account: rows[0].account, eventIds: [eventId], detail: { feature } };
    return revealFeatures(ports.pool, await auditRevealed(call, "explainFeature", read), rows);
  };
  const found = await explain({ executor: ports.pool, sealer: featureSealer, reveal }, eventId, feature);
  if (found) {
    const { row, purpose, isStored, explanations } = found;
    const { received_at, platform, sdk_version, app_version, schema_version } = row;
    const event = { received_at, purpose, platform, sdk_version, app_version, schema_version, is_stored: isStored };
    const withValues = scope === "full";
    const values = explanations.map((one) => shown(one, { withValues, program }));
    return { answer: { event_id: eventId, status: "computed", event, values, erasures: [] } };
  }
  // guard(true): a caller who may not read erasures learns of none
  const erasures = seesErasures(caller) ? await erasuresOf(ports, eventId) : [];
  if (erasures.length === 0) {
    await auditNotFound(call, "explainFeature", { eventIds: [eventId], detail: { feature } });
    throw new OperatorError("not-found", `No value of ${feature} may be read of this event: see drs feature get.`);
  }
  return {
    answer: { event_id: eventId, status: "erased", event: null, values: [], erasures },
    audit: { eventIds: [eventId], detail: { feature } },
  };
};

interface Shown {
  readonly withValues: boolean;
  readonly program: boolean;
}

function shown(
  { result, sha256, bundle, lineage, attestation }: Explanation,
  { withValues, program }: Shown,
): Explained["values"][number] {
  const { feature, state, value, failure, inputs, layer, extracted_at } = result;
  const { hash, text, manifest } = bundle;
  return {
    feature,
    state,
    // guard(true): the auditor reads no value
    value: withValues ? value : null,
    is_value_withheld: !withValues,
    failure,
    inputs: manifest.inputs.map(({ name, path }, index) => ({
      name,
      field: path.join("."),
      state: inputs[index] ?? "",
    })),
    sha256,
    layer,
    extracted_at,
    meaning: manifest.meaning,
    false_readings: [...manifest.falseReadings],
    owner: manifest.owner,
    hash,
    program: program ? text : null,
    proposed: shownDecision(lineage.proposed),
    adopted: shownDecision(lineage.adopted),
    retired: shownDecision(lineage.retired),
    attestation: attestation
      ? {
          partition_id: attestation.partition_id,
          attested_at: attestation.attested_at,
          is_included: attestation.isIncluded,
          statement: attestation.statement,
        }
      : null,
  };
}

const shownDecision = (decision: Decision | undefined): Decision | null => decision ?? null;

const seesErasures = ({ via, roles }: Caller): boolean =>
  via === "direct" || scopeOf("governance.read", roles) !== undefined;

/** The erasures of the event, and of its account since the event was received. */
async function erasuresOf(
  ports: Ports<"keys.pseudonymizer" | "pool">,
  eventId: string,
): Promise<Explained["erasures"]> {
  const { pseudonymizer } = await ports.keys();
  const account = await findSubjectOfEvent(ports.pool, eventId);
  const subjectMacs = [subjectMac(pseudonymizer, { kind: "event", eventId }), ...(account ? [account] : [])];
  return findErasuresWithReceipts(ports.pool, subjectMacs, receivedAtOf(eventId).toISOString());
}
