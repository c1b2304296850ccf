/** What happens in a demo, as data: the people, the accounts, and what each of them does on which day. */
import type { Role } from "@device-risk-signals/admin-api";

/** The demo has this number of past days; `DAYS` is the present. */
export const DAYS = 14;

/** Who calls the admin API. `backend` is the backend of the app, which issues tokens and registers actions. */
export const PEOPLE = {
  backend: "operator",
  omar: "operator",
  maya: "analyst",
  noah: "analyst",
  jonas: "investigator",
  petra: "privacy",
  ines: "auditor",
} as const satisfies Readonly<Record<string, Role>>;

export type Person = keyof typeof PEOPLE;

/** The file `purposes.yaml`. */
export const POLICY = {
  purposes: [
    {
      id: "payments",
      title: "Fraud prevention in payments",
      legal_basis: "legitimate interest (GDPR Art. 6(1)(f))",
      raw_retention: "P90D",
      derived_retention: "P1Y",
      owner: "fraud team",
      export_attributes: ["platform", "sdk_version"],
    },
    {
      id: "sign-ins",
      title: "Protection of accounts",
      legal_basis: "legitimate interest (GDPR Art. 6(1)(f))",
      raw_retention: "P30D",
      derived_retention: "P90D",
      owner: "security team",
    },
    {
      id: "default",
      title: "Anything else",
      legal_basis: "legitimate interest (GDPR Art. 6(1)(f))",
      raw_retention: "P7D",
      derived_retention: "P7D",
      owner: "privacy officer",
    },
  ],
  actions: { payment: "payments", transfer: "payments", "sign-in": "sign-ins" },
  unmapped: "default",
};

/** What accounts do in turn. `help` is an unmapped action type. */
export const ACTION_TYPES = ["payment", "sign-in", "transfer", "sign-in", "payment", "help"] as const;

export interface Release {
  readonly sdkVersion: string;
  readonly appVersion: string;
  /** The day from which accounts have it. */
  readonly day: number;
  /** What its events have beyond the catalog or in another type, by probe; by it, drift is seen. */
  readonly departures?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export const RELEASES: readonly [Release, ...Release[]] = [
  { sdkVersion: "0.1.0", appVersion: "4.7.1", day: 0 },
  { sdkVersion: "0.1.1", appVersion: "4.8.0", day: 4, departures: { hardware: { batteryLevel: "83 %" } } },
  {
    sdkVersion: "0.2.0",
    appVersion: "5.0.0",
    day: 8,
    departures: { hardware: { isFoldable: false }, app_attestation: { isSupported: true } },
  },
];

/** From this day, an account with two phones has the second one. */
export const NEW_PHONE_DAY = 7;

/** The phones of `customer-1` to `customer-30`, as `phones.json` names them. */
export const PHONES: readonly (readonly string[])[] = [
  ["google-pixel-8-android-14"],
  ["iphone-15-ios-17"],
  ["samsung-galaxy-s24-android-14"],
  ["full-android"],
  ["iphone-16-ios-18"],
  ["xiaomi-13-android-14"],
  ["google-pixel-9-android-15"],
  ["full-ios"],
  ["iphone-12-ios-16", "iphone-16-ios-18"],
  ["nokia-g42-android-14"],
  ["motorola-edge-android-15"],
  ["iphone-15-ios-17"],
  ["samsung-galaxy-s24-android-14"],
  ["errors-android"],
  ["ipad-ios-17"],
  ["google-pixel-8-android-14"],
  ["google-pixel-9-android-15", "rooted-android"],
  ["iphone-vpn-and-proxy"],
  ["iphone-12-ios-16"],
  ["jailbroken-ios"],
  ["emulator-android"],
  ["hooked-android"],
  ["xiaomi-13-android-14"],
  ["magisk-zygisk"],
  ["iphone-16-ios-18"],
  ["motorola-edge-android-15"],
  ["simulator-ios"],
  ["device-farm-appium"],
  ["timeouts-ios"],
  ["consent-denied-android"],
];

/** The days of the erasures of accounts, after which they send nothing. */
export const ERASED: Readonly<Record<string, number>> = { "customer-7": 12, "customer-23": 11 };

/** Requests that the endpoint rejects, and that are otherwise requests of the account on that day. */
export interface Rejected {
  readonly day: number;
  readonly times: number;
  readonly account: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members of the body with other values. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Members of the event with other values. */
  readonly observations?: Readonly<Record<string, unknown>>;
}

export const REJECTED: readonly Rejected[] = [
  { day: 2, times: 3, account: "customer-3", headers: { Authorization: "Bearer of-another-server" } },
  { day: 4, times: 12, account: "customer-2", observations: { schema_version: "1.0" } },
  { day: 5, times: 7, account: "customer-2", observations: { schema_version: "1.0" } },
  { day: 6, times: 2, account: "customer-21", body: { action_id: "payment-of-another" } },
  { day: 8, times: 4, account: "customer-11", body: { platform: "harmony" } },
  { day: 9, times: 1, account: "customer-8", headers: { "Content-Type": "text/plain" } },
  { day: 10, times: 2, account: "customer-28", observations: { collected_at: "2020-01-01T00:00:00Z" } },
  // What the console shows of the last 24 hours.
  { day: DAYS, times: 4, account: "customer-2", observations: { schema_version: "1.0" } },
  { day: DAYS, times: 1, account: "customer-21", body: { action_id: "payment-of-another" } },
];

/** Accounts that send their event of the day again: a replay, and with another app version a conflict. */
export const RETRIED: readonly { readonly day: number; readonly account: string; readonly appVersion?: string }[] = [
  { day: 3, account: "customer-1" },
  { day: 5, account: "customer-6" },
  { day: 4, account: "customer-5", appVersion: "4.7.2" },
];

/** The export has the features of accounts as they were at the start of this day. */
export const LABEL_DAY = 10;

/** Starter features that the demo proposes, in version 1. The guide of features begins with `vpn_active`, so it is free. */
export const FEATURES = [
  "root_traces",
  "jailbreak_traces",
  "emulator_traces",
  "hook_traces",
  "frida_traces",
  "developer_options",
  "device_farm_markers",
  "processor_count",
];

const VERSIONS = FEATURES.map((id) => `${id}@1`);

/** What the second version of a feature changes in the text of the first one. */
export const SECOND_VERSION = {
  id: "root_traces",
  changes: [
    ["version: 1", "version: 2"],
    ['    mounts: field("os_integrity.suspiciousMountsFound"),\n', ""],
    ["bins: [0, 1, 2, 4]", "bins: [0, 1, 2, 3]"],
  ],
} as const;

/** A command that a person runs through the admin API. */
export interface Step {
  readonly day: number;
  readonly by: Person;
  /** `{name}` is a value that an earlier step keeps, or a date: `{in 90 days}`. */
  readonly run: string;
  /** Values that later steps need: the members of the answer, by their names. */
  readonly keep?: Readonly<Record<string, string>>;
  /** The exit code. Default: 0. */
  readonly exit?: number;
}

/** In the evening of each day, in this order. */
export const STEPS: readonly Step[] = [
  { day: 0, by: "petra", run: "purpose apply purposes.yaml --yes" },
  { day: 2, by: "noah", run: 'feature propose features --reason "starter features for payments"' },
  {
    day: 3,
    by: "maya",
    run: `feature adopt ${VERSIONS.join(" ")} --purpose payments --reason "first model of the fraud team"`,
  },
  { day: 3, by: "maya", run: 'feature backfill start --purpose payments --reason "events before the adoption"' },

  {
    day: 6,
    by: "petra",
    run: 'hold add --account customer-7 --reason "dispute 4711" --approver "J. Doe" --review {in 90 days}',
  },
  {
    day: 7,
    by: "petra",
    run: 'request add --account customer-12 --kind restriction --identity "signed in, code by mail"',
    keep: { restriction: "request_id" },
  },
  {
    day: 7,
    by: "petra",
    run: 'restriction add --account customer-12 --article 18 --reason "disputes the accuracy" --request {restriction}',
  },
  { day: 7, by: "petra", run: "request close {restriction} --outcome done" },
  {
    day: 8,
    by: "jonas",
    run: 'case open --account customer-17 --category fraud-investigation --ticket F-301 --reason "a transfer from a new phone"',
    keep: { seventeen: "case_id" },
  },
  { day: 8, by: "jonas", run: "event list --account customer-17 --limit 1", keep: { transfer: "event_id" } },
  { day: 8, by: "jonas", run: "event get {transfer} --raw --case {seventeen}" },
  { day: 8, by: "jonas", run: "case close {seventeen}" },
  {
    day: 8,
    by: "petra",
    run: 'request add --account customer-19 --kind objection --identity "signed in, code by mail"',
    keep: { objection: "request_id" },
  },
  {
    day: 8,
    by: "petra",
    run: 'restriction add --account customer-19 --article 21 --purpose payments --reason "objection 17" --approver "A. Roe" --request {objection}',
  },
  { day: 8, by: "petra", run: "request close {objection} --outcome done" },
  { day: 9, by: "noah", run: "feature lock second-version" },
  {
    day: 9,
    by: "noah",
    run: 'feature propose second-version --reason "phones that are not rooted have suspicious mounts, too"',
  },
  {
    day: 9,
    by: "maya",
    run: 'feature adopt root_traces@2 --purpose payments --reason "to be compared with version 1"',
  },
  { day: 9, by: "maya", run: 'feature backfill start --purpose payments --reason "older events for version 2"' },
  {
    day: 9,
    by: "petra",
    run: 'request add --account customer-4 --kind access --identity "signed in, code by mail"',
  },

  {
    day: 10,
    by: "maya",
    run: `export run --labels labels.csv --features ${VERSIONS.join(",")} --purpose payments --clock received --recipient "fraud team" --reason "training of model 7" --expires {in 180 days} --out training.parquet`,
    keep: { training: "export_id" },
  },
  {
    day: 10,
    by: "maya",
    run: 'drift accept hardware.isFoldable --type boolean --sensitivity low --reason "new in version 0.2.0"',
  },
  {
    day: 10,
    by: "maya",
    run: 'drift ignore app_attestation --until {in 60 days} --reason "the mobile team is asked"',
  },

  {
    day: 11,
    by: "petra",
    run: 'request add --account customer-23 --kind erasure --identity "signed in, code by mail"',
    keep: { erasure: "request_id" },
  },
  {
    day: 11,
    by: "petra",
    run: 'erase run --account customer-23 --reason "request of today" --receipt receipt-customer-23.jws --yes',
  },
  { day: 11, by: "petra", run: "request close {erasure} --outcome done" },
  {
    day: 12,
    by: "petra",
    run: 'request add --account customer-7 --kind erasure --identity "signed in, code by mail"',
    keep: { partly: "request_id" },
  },
  {
    day: 12,
    by: "petra",
    run: 'erase run --account customer-7 --reason "request of today" --receipt receipt-customer-7.jws --yes',
    keep: { held: "erasure_id" },
    exit: 3,
  },
  { day: 12, by: "petra", run: "request close {partly} --outcome partly --erasure {held}" },
  { day: 12, by: "petra", run: "export recall {training}" },

  { day: DAYS, by: "omar", run: "retention run --yes" },
  { day: DAYS, by: "ines", run: "audit verify" },

  {
    day: DAYS,
    by: "jonas",
    run: 'case open --account customer-21 --category fraud-investigation --ticket F-317 --reason "payments from an emulator"',
    keep: { twentyOne: "case_id" },
  },
  { day: DAYS, by: "jonas", run: "event list --account customer-21 --limit 1", keep: { payment: "event_id" } },
  { day: DAYS, by: "jonas", run: "event get {payment} --raw --case {twentyOne}" },
  // Waits for an approval.
  { day: DAYS, by: "omar", run: "admin-token issue --person lena --role analyst --ttl 30d", exit: 5 },
];
