import { Type } from "typebox";
import { GOVERNANCE_CHANGE, type Route } from "../route.ts";
import {
  account,
  count,
  dryRun,
  nonEmptyText,
  nullable,
  object,
  reason,
  shape,
  shownText,
  time,
  uuid,
} from "../schemas.ts";

const TAG = "Requests of data subjects";

const kind = Type.Enum(["access", "rectification", "erasure", "restriction", "portability", "objection"], {
  description: "What it asks for (GDPR, articles 15 to 18, 20 and 21).",
});
const outcome = Type.Enum(["done", "partly", "refused"], {
  description: "`partly`: a hold keeps a part of what was to be erased.",
});
const identity = Type.Optional(nonEmptyText(1_000, "How the identity was verified."));

const dataRequest = shape("DataRequest", {
  request_id: shownText(),
  account: nullable(shownText("Deleted when the request is closed.")),
  kind,
  received_at: shownText(),
  due_at: shownText(),
  overdue: Type.Boolean(),
  identity: nullable(shownText()),
  extension_ground: nullable(shownText()),
  closed_at: nullable(shownText()),
  outcome: nullable(outcome),
  ground: nullable(shownText()),
  erasure_id: nullable(shownText()),
  export_id: nullable(shownText()),
  restriction_id: nullable(shownText()),
  completed_at: nullable(shownText("When a request that was closed in part was completed.")),
  still_held: count("Events of its erasure that a hold still keeps."),
  completable: Type.Boolean({
    description: "Closed in part, and nothing of its erasure is left: it can be closed as done.",
  }),
});
const byId = { params: object({ request_id: uuid("Id of the request.") }) };
const change = { ...GOVERNANCE_CHANGE, tag: TAG } as const;

export const REQUEST_ROUTES = {
  listRequests: {
    method: "GET",
    path: "/requests",
    tag: TAG,
    summary: "List requests, open ones first, by due date",
    permission: "governance.read",
    operation: "request.list",
    access: "audited-read",
    query: object({ account: Type.Optional(account) }),
    answer: object({ requests: Type.Array(dataRequest) }),
  },
  addRequest: {
    ...change,
    path: "/requests",
    summary: "Record a request; it is due one month after it was received",
    operation: "request.add",
    body: object({
      account,
      kind,
      received_at: Type.Optional(time("When it was received; by default now.")),
      identity,
      dry_run: dryRun,
    }),
    answer: object({ request: dataRequest, is_known: Type.Boolean({ description: "Whether the account is known." }) }),
  },
  extendRequest: {
    ...change,
    path: "/requests/{request_id}/extend",
    summary: "Extend a request by two further months, once",
    operation: "request.extend",
    ...byId,
    body: object({ reason, dry_run: dryRun }),
    answer: object({ request: dataRequest }),
    problems: ["not-found"],
  },
  closeRequest: {
    ...change,
    path: "/requests/{request_id}/close",
    summary: "Close a request; the account's name is deleted from it",
    description:
      "`refused` needs `reason`, `partly` needs `erasure_id`; `done` and `partly` need an identity. With `done`, the only " +
      "erasure or export of the account since the receipt of the request is linked.",
    operation: "request.close",
    ...byId,
    body: object({
      outcome,
      reason: Type.Optional(reason),
      identity,
      erasure_id: Type.Optional(uuid("The erasure that it led to.")),
      export_id: Type.Optional(uuid("The export that it led to.")),
      dry_run: dryRun,
    }),
    answer: object({ request: dataRequest }),
    problems: ["not-found", "state-conflict"],
  },
} as const satisfies Readonly<Record<string, Route>>;
