/** The commands that README and the guides name, as a reader would run them on a demo that is served. */

/** Commands that a demo can't show, with the reason. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  serve: "runs already",
  live: "asks a port that the test does not know",
  "console link": "needs a port that is known before the start; the tests in the browser use it",
  demo: "has made the installation",
  bench: "measures servers",
  login: "needs a browser and an identity provider",
  logout: "needs a login",
  "session revoke": "there is no session",
  "approval show": "only the admin API has it",
  "approval approve": "needs a person who signed in",
  "feature work": "works until a signal",
  "erase accept-loss": "the journal is whole",
  "key accept-loss": "no secret is lost",
  "audit epoch": "no database was restored",
  "audit switch-keys": "no key file is configured",
};

export interface Guided {
  /** `{name}` is a value that an earlier command keeps, or that the test gives. */
  readonly line: string;
  /** Values that later commands need: the members of the answer, by their names. */
  readonly keep?: Readonly<Record<string, string>>;
  /** The file that gets the output. */
  readonly output?: string;
  /** The exit code. Default: 0. */
  readonly exit?: number;
}

export const GUIDED: readonly Guided[] = [
  { line: "config" },
  { line: "migrate" },
  { line: "doctor" },
  { line: "status" },
  { line: "work list" },
  { line: "backup record --store events --at -1ms" },
  { line: "backup list" },
  { line: "capacity --events-per-day 1000000 --retention P90D --event-kb 13" },
  { line: "completion bash" },

  { line: "export list", keep: { export: "export_id" } },
  { line: "export recall {export}" },
  { line: "export verify {folder}/training.parquet" },
  { line: "event list --account customer-1 --limit 1", keep: { event: "event_id", key: "idempotency_key" } },
  { line: "event list --account customer-2 --limit 1", keep: { other: "event_id", action: "action_id" } },
  { line: "event count --action-type payment --from -2d --buckets 60" },
  { line: "event get {event}" },
  {
    line: 'case open --account customer-1 --category dispute --reason "dispute 4711" --ticket T-1',
    keep: { case: "case_id" },
  },
  { line: "event get {event} --raw --case {case}" },
  { line: 'event show {event} --reason "dispute 4711" --markdown' },
  { line: "event open {event} --case {case}" },
  { line: 'event compare {event} {other} --reason "dispute 4711" --all' },
  { line: "event timeline --account customer-1 --idempotency-key {key}" },
  {
    line: 'export raw --case {case} --account customer-1 --recipient "fraud desk" --expires {in a year} --out {folder}/raw.ndjson',
  },
  { line: "case close {case}" },
  { line: "outcome list --probe geolocation" },
  { line: "rejection list --problem request-invalid" },
  { line: "rejection recent --problem action-refused" },

  { line: "drift list" },
  { line: "drift show hardware.batteryLevel" },
  {
    line: 'drift accept app_attestation.isSupported --type boolean --sensitivity low --reason "field of SDK 0.2.0"',
  },
  { line: 'drift classify app_attestation.isSupported --sensitivity low --reason "no personal data"' },
  { line: "drift overlay" },
  { line: 'drift ignore hardware.batteryLevel --until {in a year} --reason "a beta of the SDK"' },
  { line: 'drift reject hardware.batteryLevel --reason "no release of the SDK sends it"' },

  { line: "feature init {folder}/my-features" },
  { line: "feature lock {folder}/my-features" },
  { line: "feature test {folder}/my-features" },
  { line: "feature list {folder}/my-features" },
  { line: "feature show vpn_active@1 {folder}/my-features" },
  { line: 'feature propose {folder}/my-features --reason "review 4711"' },
  { line: 'feature equivalent {folder}/my-features --reason "bundler upgrade"' },
  { line: 'feature adopt vpn_active@1 --purpose default --reason "review 4711"' },
  { line: 'feature backfill start --purpose payments --reason "review 4711"', keep: { run: "run_id" } },
  { line: "feature backfill status" },
  { line: "feature backfill pause {run}" },
  { line: 'feature retire vpn_active@1 --purpose default --reason "replaced by version 2"' },
  { line: "feature decisions" },
  { line: "feature layers" },
  { line: "feature get --account customer-1 --wait 1s" },
  { line: "event list --account customer-1 --purpose payments --limit 1", keep: { payment: "event_id" } },
  { line: "feature explain {payment} root_traces@1" },
  { line: "feature verify {payment}" },
  { line: "feature compare root_traces@1 hook_traces@1 --purpose payments --all" },
  { line: "feature describe root_traces@1 --by platform,sdk_version" },
  { line: "feature attestation list" },
  // Nothing expires soon.
  { line: "feature attestation verify", exit: 1 },

  {
    line: "export plan --labels {folder}/recent.csv --features root_traces@1 --purpose payments --clock known --all-events 30d --with platform --expires {in half a year}",
  },
  {
    line: 'export run --labels {folder}/recent.csv --features root_traces@1 --purpose payments --clock known --all-events 30d --with platform --states --recipient "fraud team" --reason "training of model 9" --expires {in half a year} --out {folder}/model-9.parquet',
  },

  { line: "token issue --account customer-1 --ttl 1h", keep: { token: "token_id" } },
  { line: "token revoke {token}" },
  { line: "action register --account customer-1 --type payment --session session-1 --ttl 15m" },
  { line: "person list" },
  { line: "session list" },
  { line: "admin-token issue --person j.doe --role analyst --ttl 30d", keep: { adminToken: "token_id" } },
  { line: "admin-token list" },
  { line: "admin-token revoke {adminToken}" },

  { line: "purpose apply {folder}/purposes.yaml --yes" },
  { line: "purpose list" },
  { line: "purpose record" },
  { line: "retention status" },
  { line: "retention run --yes" },
  {
    line: 'hold add --account customer-2 --reason "dispute 4711" --approver "J. Doe" --review {in a year}',
    keep: { hold: "hold_id" },
  },
  { line: "hold list" },
  { line: 'hold review {hold} --review {in a year} --approver "J. Doe"' },
  { line: 'hold lift {hold} --reason "dispute 4711 is closed" --yes' },
  {
    line: 'restriction add --account customer-2 --article 18 --reason "disputes the accuracy" --approver "J. Doe"',
    keep: { restriction: "restriction_id" },
  },
  { line: "restriction list --account customer-2" },
  { line: 'restriction lift {restriction} --informed-on {today} --reason "the data was corrected" --yes' },

  { line: "request list", keep: { request: "request_id" } },
  { line: 'request extend {request} --reason "many requests at once"' },
  {
    line: 'account export --account customer-4 --out {folder}/export --reason "request 17" --request {request}',
  },
  { line: "request close {request} --outcome done" },
  {
    line: 'request add --account customer-1 --kind erasure --identity "signed in, code by mail"',
    keep: { erasure: "request_id" },
  },
  { line: "erase plan --account customer-1" },
  { line: 'erase run --account customer-1 --reason "request 17" --receipt {folder}/receipt.jws --yes' },
  { line: 'erase run --action {action} --reason "request 17" --yes' },
  { line: "erase replay" },
  { line: "erase list", keep: { erased: "erasure_id" } },
  { line: "receipt get {erased}" },
  { line: "receipt key", output: "receipts.pem" },
  { line: "receipt verify {folder}/receipt.jws --public-key {folder}/receipts.pem" },
  { line: 'export acknowledge {export} --reason "mail of 3 March"' },
  {
    line: 'export repeat {export} --labels {folder}/labels.csv --reason "audit of model 7" --out {folder}/again.parquet',
  },

  { line: "audit checkpoint" },
  { line: "audit list --account customer-2 --limit 5" },
  { line: "audit list --operation event.read_raw", keep: { entry: "entry_id" } },
  { line: "audit proof {entry}" },
  { line: "audit key" },
  { line: "audit export --out {folder}/audit.ndjson" },
  { line: "audit verify" },
  { line: "audit verified" },
  { line: "audit verify --checkpoint {folder}/kept.note" },
  { line: "audit review" },
  { line: 'review open {entry} --reason "no case behind this read"', keep: { review: "review_id" } },
  { line: "review list" },
  { line: 'review close {review} --reason "the read was justified"' },
  { line: "audit prune --yes" },

  { line: "key list", keep: { version: "version" } },
  { line: "key rotate" },
  { line: "key destroy {version} --yes" },
];
