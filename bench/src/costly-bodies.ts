/** Bodies of almost the maximum size that exceed no limit and keep a server's main thread busy as long as possible. */

const BODY_BYTES = 261_000;

/** Repeats members, items or objects until the body has its maximum size. */
function repeatToMaximum(make: (index: number) => string): string {
  const parts: string[] = [];
  for (let bytes = 0; bytes < BODY_BYTES; bytes += (parts.at(-1)?.length ?? 0) + 1) parts.push(make(parts.length));
  return parts.join(",");
}

const member = (index: number): string => `"m${index.toString(36)}":0`;
const success = (data: string): string => `{"status":"success","data":{${data}}}`;

function request(actionId: string, probes: string, extraMembers = "", collectedAt = new Date()): string {
  return (
    `{"action_id":"${actionId}","action_type":"payment","sdk_version":"1.2.3","platform":"android"${extraMembers},` +
    `"observations":{"session_id":"s","event_type":"device_intel_collection","schema_version":1,` +
    `"collected_at":"${collectedAt.toISOString()}","probes":{${probes}}}}`
  );
}

/** A long event that was collected at this time. */
export const eventOf = (actionId: string, collectedAt: Date): string =>
  request(actionId, `"p":${success(`"text":"${"x".repeat(BODY_BYTES - 1_000)}"`)}`, "", collectedAt);

/** Functions that make costly bodies, by a description of what makes the body costly. */
export const COSTLY: Readonly<Record<string, (actionId: string) => string>> = {
  "names with an escape, read by the slow reader": (actionId) =>
    request(actionId, `"p":${success(`"\\n":0,${repeatToMaximum(member)}`)}`),
  "a violation in each member": (actionId) =>
    request(
      actionId,
      repeatToMaximum((index) => `"m${index.toString(36)}":{}`),
    ),
  "fields that the catalog does not know": (actionId) =>
    request(actionId, `"network":${success(repeatToMaximum(member))}`),
  "unknown members of the transport object": (actionId) => request(actionId, "", `,${repeatToMaximum(member)}`),
  "one long string": (actionId) => eventOf(actionId, new Date()),
};
