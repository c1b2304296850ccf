/**
 * Each rule of the endpoint, taken out: a piece of source and what stands there instead. A patch that no longer finds its
 * piece stops the run, so the list can't grow stale in silence.
 */
export interface Patch {
  /** The rule that is gone. */
  readonly rule: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Which tests must notice; by default the rejections. */
  readonly suite?: Suite;
}

export type Suite = "rejections" | "exactly-once" | "exact-bytes" | "operations" | "purposes" | "retention" | "holds";

const INGEST = "packages/server/src/ingest";
const VALIDATE = "packages/contract/src/wire/validate.ts";
const MEMBERS = "packages/contract/src/wire/members.ts";
const TIMESTAMP = "packages/contract/src/timestamp.ts";

export const PATCHES: readonly Patch[] = [
  { rule: "1: POST only", file: `${INGEST}/ingest.ts`, find: 'request.method !== "POST"', replace: "false" },
  { rule: "1: Allow", file: `${INGEST}/ingest.ts`, find: '{ Allow: "POST" }', replace: "{}" },

  {
    rule: "2: one Authorization header",
    file: `${INGEST}/authenticate.ts`,
    find: "values.length > 1",
    replace: "false",
  },
  { rule: "2: the Bearer scheme", file: `${INGEST}/authenticate.ts`, find: "/^Bearer +", replace: "/^\\w+ +" },
  {
    rule: "2: no error code without credentials",
    file: `${INGEST}/authenticate.ts`,
    find: "values.length === 0",
    replace: "false",
  },
  {
    rule: "2: error code with bad credentials",
    file: `${INGEST}/authenticate.ts`,
    find: 'Bearer error="invalid_token"',
    replace: "Bearer",
  },
  {
    rule: "2: expired tokens",
    file: "packages/server/src/sessions/opaque-tokens.ts",
    find: "session.expiresAt > clock.now()",
    replace: "session.expiresAt > 0",
  },
  {
    rule: "2: revoked tokens",
    file: "packages/server/src/sessions/opaque-tokens.ts",
    find: "where token_hash = any ($1::bytea[]) and revoked_at is null",
    replace: "where token_hash = any ($1::bytea[])",
  },
  {
    rule: "3: throttle by account",
    file: `${INGEST}/throttle.ts`,
    find: "if (room < -1e-6) {",
    replace: "if (room < Number.NEGATIVE_INFINITY) {",
    suite: "operations",
  },

  {
    rule: "4: the key is required",
    file: `${INGEST}/headers.ts`,
    find: 'keys.length <= 1 && idempotencyKey === ""',
    replace: "false",
  },
  { rule: "4: the key comes once", file: `${INGEST}/headers.ts`, find: "keys.length > 1 || !KEY", replace: "!KEY" },
  { rule: "4: visible ASCII", file: `${INGEST}/headers.ts`, find: "^[!-~]{1,", replace: "^[ -\\\\xff\\\\t]{1," },
  { rule: "4: at most 128", file: `${INGEST}/headers.ts`, find: "${LIMITS.idempotencyKey}}$", replace: "500}$" },

  {
    rule: "5: application/json",
    file: `${INGEST}/headers.ts`,
    find: '!== "application/json") return false',
    replace: '=== "") return false',
  },
  { rule: "5: UTF-8", file: `${INGEST}/headers.ts`, find: 'name.toLowerCase() !== "charset" ||', replace: "true ||" },

  {
    rule: "6: known encodings",
    file: `${INGEST}/headers.ts`,
    find: 'encoding === undefined ? refuse("encoding-unsupported")',
    replace: 'encoding === undefined ? { idempotencyKey, encoding: "identity" }',
  },
  {
    rule: "6: no bytes behind the gzip data",
    file: `${INGEST}/read-body.ts`,
    find: ", rejectGarbageAfterEnd: true",
    replace: "",
  },
  {
    rule: "6: corrupt data is the client's fault",
    file: `${INGEST}/read-body.ts`,
    find: 'refuse(tooLarge ? "body-too-large" : "body-corrupt")',
    replace: 'refuse("body-too-large")',
  },

  {
    rule: "7: the limit",
    file: `${INGEST}/read-body.ts`,
    find: "if (buffer.length + chunk.length > most) return false;",
    replace: "",
  },
  {
    rule: "7: the limit holds decompressed",
    file: `${INGEST}/read-body.ts`,
    find: "maxOutputLength: limit,",
    replace: "",
  },
  {
    rule: "7: the limit is exact",
    file: `${INGEST}/read-body.ts`,
    find: "chunk.length > most",
    replace: "chunk.length > most + 1",
  },

  {
    rule: "8: no byte order mark",
    file: `${INGEST}/parse-text.ts`,
    find: "bytes[0] === 0xef",
    replace: "bytes[0] === 0x00",
  },
  { rule: "8: UTF-8, fatally", file: `${INGEST}/parse-text.ts`, find: "!ascii && !isUtf8(bytes)", replace: "false" },
  {
    rule: "8: nesting",
    file: `${INGEST}/read-json.ts`,
    find: "if (path.length < LIMITS.nesting) return undefined;",
    replace: "if (path.length < 100_000) return undefined;",
  },
  {
    rule: "8: nesting is exact",
    file: `${INGEST}/parse-text.ts`,
    find: "if (level > LIMITS.nesting) return Number.NaN;",
    replace: "if (level > LIMITS.nesting + 1) return Number.NaN;",
  },
  { rule: "8: no duplicate names", file: `${INGEST}/read-json.ts`, find: "names.add(name);", replace: "" },
  {
    rule: "8: duplicates are looked for",
    file: `${INGEST}/parse-text.ts`,
    find: "colonsIn(bytes) === membersOf(value, 1)",
    replace: "membersOf(value, 1) >= 0",
  },
  {
    rule: "8: no lone surrogates",
    file: `${INGEST}/read-json.ts`,
    find: "return LONE_SURROGATE.test(value) ?",
    replace: "return false ?",
  },
  {
    rule: "8: no lone surrogates in names",
    file: `${INGEST}/read-json.ts`,
    find: "if (LONE_SURROGATE.test(name))",
    replace: "if (false)",
  },
  {
    rule: "8: escapes are scanned",
    file: `${INGEST}/parse-text.ts`,
    find: "if (bytes[at] === LOWER_U) return Number.NaN;",
    replace: "",
  },
  {
    rule: "8: no overflow",
    file: `${INGEST}/read-json.ts`,
    find: 'if (typeof value !== "number" || Number.isFinite(value)) return value;',
    replace: "return value;",
  },
  {
    rule: "8: names with an escape are not left to JSON.parse",
    file: `${INGEST}/parse-text.ts`,
    find: "if (escaped && isName(bytes, at)) return Number.NaN;",
    replace: "",
  },

  { rule: "9: required members", file: VALIDATE, find: "if (!Object.hasOwn(value, name)) {", replace: "if (false) {" },
  {
    rule: "9: own members, not inherited ones",
    file: VALIDATE,
    find: "if (!Object.hasOwn(value, name)) {",
    replace: "if (!(name in value) && (value as any).__proto__?.[name] === undefined) {",
  },
  {
    rule: "9: unknown members are named",
    file: VALIDATE,
    find: "else if (!rule.open) fault",
    replace: "else if (false) fault",
  },
  {
    rule: "9: strings are strings",
    file: VALIDATE,
    find: 'case "string":\n      if (typeof value !== "string")',
    replace: 'case "string":\n      if (typeof value !== "string") return;\n      if (typeof value !== "string")',
  },
  { rule: "9: not empty", file: VALIDATE, find: "if (value.length < rule.minLength)", replace: "if (false)" },
  { rule: "9: not too long", file: VALIDATE, find: "exceeds(value, rule.maxLength)", replace: "false" },
  { rule: "9: lengths in code points", file: VALIDATE, find: "return points > most;", replace: "return false;" },
  { rule: "9: no U+0000", file: VALIDATE, find: 'rule.promoted && value.includes("\\0")', replace: "false" },
  { rule: "9: platforms", file: VALIDATE, find: "!rule.values.includes(value)", replace: "false" },
  {
    rule: "9: the transport is an object",
    file: VALIDATE,
    find: 'if (!isObject(value)) return fault(pass, path, "type-wrong", "must be an object");\n  for',
    replace: "if (!isObject(value)) return;\n  for",
  },

  { rule: "10: constants", file: VALIDATE, find: "if (value === rule.value) return;", replace: "return;" },
  {
    rule: "10: constants by type",
    file: VALIDATE,
    find: "if (value === rule.value) return;",
    replace: "if (value == rule.value) return;",
  },
  {
    rule: "10: client_id is not empty",
    file: MEMBERS,
    find: "      required: false,\n      minLength: 1,\n      promoted: false,",
    replace: "      required: false,\n      minLength: 0,\n      promoted: false,",
  },
  { rule: "10: session_id is bounded", file: MEMBERS, find: "      maxLength: LIMITS.sessionId,\n", replace: "" },
  {
    rule: "10: probes is an object",
    file: VALIDATE,
    find: 'if (!isObject(probes)) return fault(pass, path, "type-wrong", "must be an object");',
    replace: "if (!isObject(probes)) return;",
  },
  {
    rule: "10: outcomes are objects",
    file: VALIDATE,
    find: 'fault(pass, at, "type-wrong", "an outcome must be an object");',
    replace: "",
  },
  {
    rule: "10: four statuses",
    file: VALIDATE,
    find: 'else fault(pass, [...at, "status"], "value-not-allowed"',
    replace: 'else if (false) fault(pass, [...at, "status"], "value-not-allowed"',
  },
  {
    rule: "10: a status is there",
    file: VALIDATE,
    find: 'else if (!Object.hasOwn(outcome, "status"))',
    replace: 'else if (!Object.hasOwn(outcome, "status")) return; else if (false)',
  },
  {
    rule: "10: a status is a string",
    file: VALIDATE,
    find: 'else if (typeof status !== "string") fault',
    replace: 'else if (typeof status !== "string") return; else if (false) fault',
  },
  {
    rule: "10: success has data",
    file: MEMBERS,
    find: 'data: { kind: "object", required: true',
    replace: 'data: { kind: "object", required: false',
  },
  {
    rule: "10: data is an object",
    file: VALIDATE,
    find: 'case "object":\n      if (!isObject(value))',
    replace: 'case "object":\n      if (false)',
  },
  {
    rule: "10: skipped has a reason, error an error",
    file: MEMBERS,
    find: 'const text = (meaning: string): MemberRule => ({\n  kind: "string",\n  required: true,',
    replace: 'const text = (meaning: string): MemberRule => ({\n  kind: "string",\n  required: false,',
  },
  {
    rule: "10: timeout has nothing else",
    file: MEMBERS,
    find: "timeout: { open: false,",
    replace: "timeout: { open: true,",
  },

  {
    rule: "12: a date-time",
    file: VALIDATE,
    find: "if (!pass.collectedAt) fault",
    replace: "pass.collectedAt ??= { epochMs: Date.now(), micros: 0 };\n      if (!pass.collectedAt) fault",
  },
  { rule: "12: days that exist", file: TIMESTAMP, find: " || date.getUTCDate() !== day", replace: "" },
  { rule: "12: hours that exist", file: TIMESTAMP, find: "hour > 23 || ", replace: "" },
  {
    rule: "12: leap seconds where they can be",
    file: TIMESTAMP,
    find: "if (second === 60 &&",
    replace: "if (false &&",
  },
  {
    rule: "12: an offset",
    file: TIMESTAMP,
    find: "(?:[Zz]|([+-])(\\d\\d):(\\d\\d))$",
    replace: "(?:[Zz]|([+-])(\\d\\d):(\\d\\d))?$",
  },

  {
    rule: "13: a replay is found",
    file: `${INGEST}/ingest.ts`,
    find: "return entry ? await settle(retry, entry, ports) : admitted;",
    replace: "return admitted;",
    suite: "exactly-once",
  },
  {
    rule: "13: equal in canonical form",
    file: `${INGEST}/settle.ts`,
    find: "|| (await equalInCanonicalForm(retry, entry, ports))",
    replace: "",
    suite: "exactly-once",
  },
  {
    rule: "13: another payload is a conflict",
    file: `${INGEST}/settle.ts`,
    find: 'if (!equal) return refuse("idempotency-conflict");',
    replace: "",
    suite: "exactly-once",
  },
  {
    rule: "13: defaults before the comparison",
    file: "packages/contract/src/canonical.ts",
    find: '{ ...request, app_version: request.app_version ?? "" }',
    replace: "{ ...request }",
    suite: "exactly-once",
  },
  {
    rule: "13: keys belong to accounts",
    file: "packages/server/src/store/event-store.ts",
    find: "from idempotency_key where account = $1 and key = $2",
    replace: "from idempotency_key where $1::text <> '' and key = $2",
    suite: "exactly-once",
  },

  { rule: "14: not too old", file: `${INGEST}/admit.ts`, find: "age > options.maxAge", replace: "false" },
  { rule: "14: not too far ahead", file: `${INGEST}/admit.ts`, find: "age < -options.maxFuture", replace: "false" },

  {
    rule: "15: the action exists",
    file: `${INGEST}/admit.ts`,
    find: "if (!action || action.actionType !== request.action_type || action.expiresAt <= now) {",
    replace: "if (action && (action.actionType !== request.action_type || action.expiresAt <= now)) {",
  },
  {
    rule: "15: the action's account",
    file: "packages/server/src/actions/action-table.ts",
    find: "join action a on a.account = asked.account and a.action_id",
    replace: "join action a on a.action_id",
  },
  {
    rule: "15: the action's type",
    file: `${INGEST}/admit.ts`,
    find: "action.actionType !== request.action_type || ",
    replace: "",
  },
  { rule: "15: the action's expiry", file: `${INGEST}/admit.ts`, find: " || action.expiresAt <= now", replace: "" },
  {
    rule: "15: revoked actions",
    file: "packages/server/src/actions/action-table.ts",
    find: "      where a.revoked_at is null`;",
    replace: "      `;",
  },

  {
    rule: "purposes: the mapping decides",
    file: "packages/server/src/purposes/purposes-in-force.ts",
    find: "return this.#byType.get(actionType) ?? this.#unmapped;",
    replace: "return this.#unmapped;",
    suite: "purposes",
  },
  {
    rule: "purposes: what is not mapped is refused",
    file: "packages/server/src/purposes/policy-table.ts",
    find: "unmapped: latest.unmapped ?? undefined",
    replace: "unmapped: latest.unmapped ?? builtIn",
    suite: "purposes",
  },
  {
    rule: "purposes: a purpose that holds events stays",
    file: "packages/server/src/purposes/policy-table.ts",
    find: "if (counts.events > 0) inUse.push",
    replace: "if (counts.events < 0) inUse.push",
    suite: "purposes",
  },
  {
    rule: "purposes: a dry run changes nothing",
    file: "packages/server/src/purposes/policy-table.ts",
    find: "if (dryRun || ",
    replace: "if (",
    suite: "purposes",
  },
  {
    rule: "purposes: what is beyond is refused",
    file: `${INGEST}/admit.ts`,
    find: 'beyond.length > 0 && purpose.beyond === "refuse"',
    replace: "false",
    suite: "purposes",
  },

  {
    rule: "retention: what is past its period is not read",
    file: "packages/server/src/retention/expired.ts",
    find: "'infinity') > now()",
    replace: "'infinity') > '-infinity'",
    suite: "retention",
  },
  {
    rule: "retention: nothing is dropped before its time",
    file: "packages/server/src/store/migrations/0007_legal_hold.sql",
    find: "p.dropped_at is null and p.upper_bound + u.raw_retention <= now();",
    replace: "p.dropped_at is null;",
    suite: "retention",
  },
  {
    rule: "retention: no row is deleted before its time",
    file: "packages/server/src/store/migrations/0007_legal_hold.sql",
    find: "where x.purpose = in_purpose and x.received_at + u.raw_retention <= now()\n",
    replace: "where x.purpose = in_purpose\n",
    suite: "retention",
  },
  {
    rule: "retention: keys outlive their events by the replay window",
    file: "packages/server/src/store/migrations/0006_retention.sql",
    find: "p.keys_forgotten_at is null and p.dropped_at + in_window <= now();",
    replace: "p.keys_forgotten_at is null;",
    suite: "retention",
  },
  {
    rule: "retention: the secret goes with the partition",
    file: "packages/server/src/retention/expiry.ts",
    find: "await secrets.destroy(partitionSecretName(partition_id));",
    replace: "",
    suite: "retention",
  },
  {
    rule: "retention: one pass at a time",
    file: "packages/server/src/retention/retention-worker.ts",
    find: "if (!rows[0]?.alone) return undefined;",
    replace: "",
    suite: "retention",
  },
  {
    rule: "retention: a lock that is taken is tried again",
    file: "packages/server/src/retention/expiry.ts",
    find: 'if ([LOCK_NOT_AVAILABLE, DEADLOCK].includes(sqlState(fault) ?? "")) return undefined;',
    replace: "",
    suite: "retention",
  },

  {
    rule: "holds: what is held is read past its period",
    file: "packages/server/src/retention/expired.ts",
    find: "or is_held(",
    replace: "or false and is_held(",
    suite: "holds",
  },
  {
    rule: "holds: no drop without copies",
    file: "packages/server/src/store/migrations/0007_legal_hold.sql",
    find: "if exists (select from event_under_hold u",
    replace: "if false and exists (select from event_under_hold u",
    suite: "holds",
  },
  {
    rule: "holds: held rows are not deleted",
    file: "packages/server/src/store/migrations/0007_legal_hold.sql",
    find: "        and not is_held(x.account, x.action_id, x.event_id) limit in_limit",
    replace: "        limit in_limit",
    suite: "holds",
  },
  {
    rule: "holds: a copy stays while any hold covers it",
    file: "packages/server/src/store/migrations/0007_legal_hold.sql",
    find: "        and not is_held(c.account, c.action_id, c.event_id) limit in_limit",
    replace: "        limit in_limit",
    suite: "holds",
  },
  {
    rule: "holds: a key stays while a copy needs it",
    file: "packages/server/src/store/migrations/0008_erasure.sql",
    find: "\n      and not exists (select from held_event where hold_id = in_hold);",
    replace: ";",
    suite: "holds",
  },
  {
    rule: "holds: placing one waits for what is being let go of",
    file: "packages/server/src/holds/holds.ts",
    find: 'await executor.query("select lock_holds()");\n  const { of, value }',
    replace: "const { of, value }",
    suite: "holds",
  },

  {
    rule: "16: the session is the action's",
    file: `${INGEST}/admit.ts`,
    find: 'sessionMismatch && options.sessionBinding === "enforce"',
    replace: "false",
  },

  {
    rule: "17: the exact bytes",
    file: `${INGEST}/ingest.ts`,
    find: "const exact = locateObservations(body);",
    replace: "const exact = Buffer.from(JSON.stringify(observations));",
    suite: "exact-bytes",
  },
  {
    rule: "17: one event for each key",
    file: "packages/server/src/store/commit-batch.ts",
    find: "if (claimed.rowCount === events.length) return events;",
    replace: "return events;",
    suite: "exactly-once",
  },

  {
    rule: "18: requests are bounded",
    file: `${INGEST}/admission.ts`,
    find: "held.requests >= most.requests ||",
    replace: "",
    suite: "operations",
  },
  {
    rule: "18: draining refuses",
    file: `${INGEST}/admission.ts`,
    find: 'if (this.#draining) return refuse("draining", { "Retry-After": "2" });',
    replace: "",
    suite: "operations",
  },
  {
    rule: "18: slow requests end",
    file: "packages/server/src/http/server.ts",
    find: "requestTimeout: options.requestTimeout,",
    replace: "requestTimeout: 0,",
  },
  {
    rule: "18: what is no HTTP gets a problem document",
    file: "packages/server/src/http/server.ts",
    find: "if (!last || (!last.request.complete && !last.response.headersSent)) return answerClientError(fault, socket);",
    replace: "if (!last) return socket.destroy();",
  },
  {
    rule: "18: unknown paths",
    file: "packages/server/src/http/server.ts",
    find: "return writeAnswer(request, response, notFound());",
    replace: "return writeAnswer(request, response, await ingest(ingestRequest(request, proxyHops, invite)));",
  },
];
