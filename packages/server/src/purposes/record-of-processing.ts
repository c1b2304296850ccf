import { CATALOG } from "@device-risk-signals/contract/catalog";
import { type Policy, type PurposeDefinition, SENSITIVITIES, type Sensitivity } from "./policy.ts";

type Probe = (typeof CATALOG)[number];

function sensitivityOf({ fields }: Probe): Sensitivity {
  const levels = Object.values(fields).map(({ sensitivity }) => SENSITIVITIES.indexOf(sensitivity));
  return SENSITIVITIES[Math.max(0, ...levels)] ?? "low";
}

/**
 * A record of processing activities (GDPR, article 30 (1)), in Markdown: each purpose of the policy, and the data by
 * the catalog. Entries that only the operator knows are marked to be filled in.
 */
export function recordOfProcessing({ purposes, actions, unmapped }: Policy): string {
  return `# Record of processing: device risk signals

| | |
| --- | --- |
| Controller, representative, data protection officer | _to be filled in by the operator_ |
| Data subjects | people who use the operator's mobile app |
| Recipients | the operator's own fraud, risk and operations teams; no vendor, no third party |
| Transfers to third countries | none by this software; _the operator says where its databases, backups and staff are_ |
| Security (article 32) | payloads encrypted under keys of each account and partition, kept apart from the events; least privilege in the database; reads of exact events and exports are audited; see the threat model |
| Erasure | when the period ends, on request, and again after a restore |

${purposes.map((purpose) => section(purpose, actionTypesOf(purpose, actions), unmapped === purpose.id)).join("\n")}
## The audit log

| | |
| --- | --- |
| Purpose | show who read or changed personal data, and who tried to (articles 5 (2) and 32) |
| Data subjects | the operator's staff and others who send requests to the admin API or run commands; people of the app by keyed MACs |
| Data | person or identity, roles, operation, outcome, time, and the source address of each request to the admin API (an IPv6 address by its /64); reasons |
| Form | source address and reason are sealed; source addresses of requests without a valid credential are in the clear |
| Kept | with the entry, until \`drs audit prune\` deletes it by \`DRS_AUDIT_RETENTION\`; the sealed parts of an entry about an account at most \`DRS_AUDIT_REASON_RETENTION\` after the account's erasure, unless a review is open |

## Rejected requests

| | |
| --- | --- |
| Purpose | find out why requests of the app are rejected (article 6 (1) (f)) |
| Data subjects | people who use the operator's mobile app |
| Data | account (none before authentication), time, problem, places by names of the contract, SDK version; nothing that the request holds |
| Kept | a day, the last 20 of an account; deleted when the account is erased |

## People who sign in

| | |
| --- | --- |
| Purpose | show who may do what, and who signed in (article 32) |
| Data subjects | the operator's staff and others who sign in to the admin API or have an admin token |
| Data | person, hash of the identity, roles, last sign-in; with \`DRS_OIDC_NAME_CLAIM\` the name by the identity provider, which no audit entry has |
| Kept | until \`DRS_AUDIT_REASON_RETENTION\` after the last sign-in; sessions until they expire; admin tokens without an end |

## Categories of data

The table says what each probe may contain; the data dictionary lists every field. In addition each event holds account, action, session, the app's and the
SDK's version, platform and times.

| probe | what | highest sensitivity |
| --- | --- | --- |
${CATALOG.map((probe) => `| \`${probe.id}\` | ${probe.meaning} | ${sensitivityOf(probe)} |`).join("\n")}
`;
}

const actionTypesOf = ({ id }: PurposeDefinition, actions: Policy["actions"]): readonly string[] =>
  Object.keys(actions).filter((type) => actions[type] === id);

function section(purpose: PurposeDefinition, actionTypes: readonly string[], takesUnmapped: boolean): string {
  const types = [...actionTypes.map((type) => `\`${type}\``), ...(takesUnmapped ? ["all that are not mapped"] : [])];
  const within = CATALOG.filter(({ id }) => purpose.probes?.includes(id) ?? true).map(({ id }) => `\`${id}\``);
  const limit = purpose.highest_sensitivity ? `, fields up to ${purpose.highest_sensitivity} sensitivity` : "";
  const data = `${within.length === CATALOG.length ? "all probes" : within.join(", ")}${limit}`;
  const beyond = purpose.beyond === "refuse" ? "an event that holds more is refused" : "what is beyond is recorded";
  const isLimited = purpose.probes !== undefined || purpose.highest_sensitivity !== undefined;
  const rows = [
    ["Purpose", cell(purpose.title)],
    ["Legal basis", cell(purpose.legal_basis)],
    ["Responsible", cell(purpose.owner)],
    ["Action types", types.join(", ") || "none: it takes no new events"],
    ["Data", isLimited ? `${data}; ${beyond}` : data],
    ["Kept: the exact event", `${purpose.raw_retention} after receipt`],
    ["Kept: what is computed from it", `${purpose.derived_retention} after receipt`],
    [
      "Handed out with feature values",
      purpose.export_attributes?.map((name) => `\`${name}\``).join(", ") || "nothing else",
    ],
    ["State", purpose.retired ? "retired: accepts no new events, and its events expire" : "in use"],
  ];
  return `## ${cell(purpose.id)}\n\n| | |\n| --- | --- |\n${rows.map(([what, text]) => `| ${what} | ${text} |`).join("\n")}\n`;
}

/** Escapes a text of the policy's author for a table of Markdown. */
const cell = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
