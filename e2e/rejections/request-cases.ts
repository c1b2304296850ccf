/** Cases of rows 9 to 16: members of the request, the time of collection, the action and the session. */
import type { Case, Expected, Scene } from "./case.ts";
import { change, type Json, OBSERVATIONS_POINTER, PROBES_POINTER, request400, set, textError } from "./build-case.ts";

const EMOJI = "\u{1F600}";

const setting = (row: number, error: NonNullable<Expected["error"]>, path: string, value: unknown, note = ""): Case =>
  change(
    row,
    `${path} ${value === undefined ? "absent" : `= ${JSON.stringify(value).slice(0, 40)}`}${note}`,
    request400(error, path),
    (request) => set(request, path, value),
  );

const collectedAt = (name: string, expected: Expected, at: () => string): Case =>
  change(12, name, expected, (request) => set(request, "/observations/collected_at", at()));

const action = (name: string, work: (request: Json, scene: Scene) => void): Case => ({
  row: 15,
  name,
  expected: { status: 403, problem: "action-refused", pointer: "/action_id" },
  send: (scene) => {
    const request = scene.good();
    work(request as never, scene);
    return scene.post(JSON.stringify(request));
  },
});

export const REQUEST_CASES: readonly Case[] = [
  ...["[]", '"text"', "1", "null", "true"].map((body): Case => ({
    row: 9,
    name: `the body is ${body}`,
    expected: request400("type-wrong", ""),
    send: (scene) => scene.post(body),
  })),
  ...["action_id", "action_type", "sdk_version", "platform", "observations"].flatMap((name) => [
    setting(9, "member-missing", `/${name}`, undefined),
    setting(9, "type-wrong", `/${name}`, null),
    setting(9, "type-wrong", `/${name}`, 7),
  ]),
  setting(9, "type-wrong", "/app_version", 7),
  setting(9, "type-wrong", "/app_version", null),
  ...["action_id", "action_type", "sdk_version"].map((name) => setting(9, "too-short", `/${name}`, "")),
  setting(9, "too-long", "/action_id", "a".repeat(129)),
  setting(9, "too-long", "/action_id", EMOJI.repeat(129), " (code points)"),
  setting(9, "too-long", "/action_type", "a".repeat(65)),
  setting(9, "too-long", "/sdk_version", "a".repeat(33)),
  setting(9, "too-long", "/app_version", "a".repeat(65)),
  ...["action_id", "action_type", "sdk_version", "app_version"].map((name) =>
    setting(9, "character-not-allowed", `/${name}`, "a\0b"),
  ),
  setting(9, "value-not-allowed", "/platform", "windows"),
  setting(9, "value-not-allowed", "/platform", "Android"),
  setting(9, "value-not-allowed", "/platform", ""),
  setting(9, "member-unknown", "/risk_score", 1),
  setting(9, "member-unknown", "/constructor", {}),
  textError("__proto__ next to the transport's members", request400("member-unknown", "/__proto__"), (text) =>
    text.replace("{", '{"__proto__":{"action_id":"x"},'),
  ),
  textError(
    "a member named by an escape, behind an object with a backslash at its place",
    request400("member-unknown", `${PROBES_POINTER}/y/~1`),
    (text) =>
      text.replace(
        '"probes":{',
        String.raw`"probes":{"x":{"status":"skipped","reason":"","\\":1},"y":{"status":"skipped","reason":"","\/":1},`,
      ),
  ),
  setting(9, "type-wrong", OBSERVATIONS_POINTER, []),
  setting(9, "type-wrong", OBSERVATIONS_POINTER, "event"),

  ...["session_id", "event_type", "schema_version", "collected_at", "probes"].map((name) =>
    setting(10, "member-missing", `${OBSERVATIONS_POINTER}/${name}`, undefined),
  ),
  textError(
    "a required member that only a prototype could bring",
    request400("member-missing", `${OBSERVATIONS_POINTER}/session_id`),
    (text) => text.replace(/"session_id":"[^"]*"/, '"__proto__":{"session_id":"s"}'),
  ),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/session_id`, 1),
  setting(10, "too-short", `${OBSERVATIONS_POINTER}/session_id`, ""),
  setting(10, "too-long", `${OBSERVATIONS_POINTER}/session_id`, "s".repeat(129)),
  setting(10, "character-not-allowed", `${OBSERVATIONS_POINTER}/session_id`, "s\0"),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/client_id`, 1),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/client_id`, null),
  setting(10, "too-short", `${OBSERVATIONS_POINTER}/client_id`, ""),
  setting(10, "value-not-allowed", `${OBSERVATIONS_POINTER}/event_type`, "other"),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/event_type`, 1),
  setting(10, "value-not-allowed", `${OBSERVATIONS_POINTER}/schema_version`, 2),
  setting(10, "value-not-allowed", `${OBSERVATIONS_POINTER}/schema_version`, 1.5),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/schema_version`, "1"),
  setting(10, "type-wrong", `${OBSERVATIONS_POINTER}/schema_version`, true),
  setting(10, "type-wrong", PROBES_POINTER, []),
  setting(10, "type-wrong", PROBES_POINTER, null),
  setting(10, "type-wrong", `${PROBES_POINTER}/fonts`, null),
  setting(10, "type-wrong", `${PROBES_POINTER}/fonts`, "error"),
  setting(10, "type-wrong", `${PROBES_POINTER}/fonts`, []),
  setting(10, "member-missing", `${PROBES_POINTER}/fonts/status`, undefined),
  setting(10, "type-wrong", `${PROBES_POINTER}/fonts/status`, 1),
  setting(10, "value-not-allowed", `${PROBES_POINTER}/fonts/status`, "omitted"),
  setting(10, "value-not-allowed", `${PROBES_POINTER}/fonts/status`, "constructor"),
  setting(10, "member-missing", `${PROBES_POINTER}/fonts/error`, undefined),
  setting(10, "type-wrong", `${PROBES_POINTER}/fonts/error`, {}),
  setting(10, "member-unknown", `${PROBES_POINTER}/fonts/data`, {}),
  setting(10, "member-missing", `${PROBES_POINTER}/geolocation/reason`, undefined),
  setting(10, "type-wrong", `${PROBES_POINTER}/geolocation/reason`, false),
  setting(10, "member-unknown", `${PROBES_POINTER}/geolocation/error`, "x"),
  setting(10, "member-unknown", `${PROBES_POINTER}/gpu_benchmark/reason`, "slow"),
  setting(10, "member-unknown", `${PROBES_POINTER}/gpu_benchmark/data`, {}),
  setting(10, "member-missing", `${PROBES_POINTER}/os_integrity/data`, undefined),
  setting(10, "type-wrong", `${PROBES_POINTER}/os_integrity/data`, []),
  setting(10, "type-wrong", `${PROBES_POINTER}/os_integrity/data`, null),
  setting(10, "member-unknown", `${PROBES_POINTER}/os_integrity/reason`, "x"),
  setting(10, "type-wrong", `${PROBES_POINTER}/unknown_probe`, 1),
  textError(
    "__proto__ on an outcome",
    request400("member-unknown", `${PROBES_POINTER}/gpu_benchmark/__proto__`),
    (text) => text.replace('"status":"timeout"', '"status":"timeout","__proto__":{"status":"success"}'),
  ),
  change(10, "several errors, all named (first)", request400("member-missing", "/action_id"), severalErrors),
  change(
    10,
    "several errors, all named (second)",
    request400("type-wrong", `${PROBES_POINTER}/fonts/error`),
    severalErrors,
  ),
  change(
    10,
    "several errors, all named (third)",
    request400("date-time-invalid", `${OBSERVATIONS_POINTER}/collected_at`),
    severalErrors,
  ),

  ...[
    "2026-01-31",
    "2026-01-31T08:15:00",
    "2026-02-30T08:15:00Z",
    "2026-01-31 08:15:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T08:15:60Z",
    "2026-01-31T08:15:00+0100",
    "20260131T081500Z",
    "yesterday",
    "",
    "2026-01-31T08:15:00Z ",
    "2026-13-01T08:15:00Z",
  ].map((value) => setting(12, "date-time-invalid", `${OBSERVATIONS_POINTER}/collected_at`, value)),
  setting(12, "type-wrong", `${OBSERVATIONS_POINTER}/collected_at`, 1_795_000_000_000),

  collectedAt(
    "collected 24 h and a little ago",
    { status: 400, problem: "collected-at-stale", pointer: `${OBSERVATIONS_POINTER}/collected_at` },
    () => new Date(Date.now() - 24 * 3_600_000 - 2_000).toISOString(),
  ),
  collectedAt(
    "collected in 1970",
    { status: 400, problem: "collected-at-stale", pointer: `${OBSERVATIONS_POINTER}/collected_at` },
    () => "1970-01-01T00:00:00Z",
  ),
  collectedAt(
    "collected 5 min and a little ahead",
    { status: 400, problem: "collected-at-future", pointer: `${OBSERVATIONS_POINTER}/collected_at` },
    () => new Date(Date.now() + 5 * 60_000 + 2_000).toISOString(),
  ),
  collectedAt(
    "collected in 9999",
    { status: 400, problem: "collected-at-future", pointer: `${OBSERVATIONS_POINTER}/collected_at` },
    () => "9999-12-31T23:59:59Z",
  ),

  action("an unknown action", (request) => set(request, "/action_id", "unknown")),
  action("an action of another account", (request, { parties }) => set(request, "/action_id", parties.other.actionId)),
  action("an action of another type", (request, { parties }) => set(request, "/action_id", parties.otherType)),
  action("an expired action", (request, { parties }) => set(request, "/action_id", parties.expiredAction)),
  action("a revoked action", (request, { parties }) => set(request, "/action_id", parties.revokedAction)),

  change(
    16,
    "another session than the action's",
    { status: 403, problem: "session-mismatch", pointer: `${OBSERVATIONS_POINTER}/session_id` },
    (request) => set(request, `${OBSERVATIONS_POINTER}/session_id`, "another"),
  ),
];

function severalErrors(request: Json): void {
  set(request, "/action_id", undefined);
  set(request, `${PROBES_POINTER}/fonts/error`, 1);
  set(request, `${OBSERVATIONS_POINTER}/collected_at`, "now");
}
