/** Shapes that several routes share. Members are those of `drs … --json`. */
import { CATEGORIES } from "./categories.ts";
import { LIMITS } from "@device-risk-signals/contract/limits";
import { type Static, type TProperties, type TSchema, Type } from "typebox";

const closed = { additionalProperties: false } as const;

/** An object without further members. */
export const object = <const Properties extends TProperties>(properties: Properties) => Type.Object(properties, closed);

/** An object without further members that the OpenAPI document names. */
export const shape = <const Properties extends TProperties>(title: string, properties: Properties) =>
  Type.Object(properties, { ...closed, title });

export const nullable = <const Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

const UUID = "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
/** PostgreSQL's texts hold no U+0000. */
const TEXT = "^[^\\u0000]+$";

export const uuid = (description: string) => Type.String({ pattern: UUID, description });
export const nonEmptyText = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: TEXT, description });
export const time = (description: string) => Type.String({ format: "date-time", description });
export const date = (description: string) => Type.String({ format: "date", description });
export const shownText = (description?: string) => Type.String(description === undefined ? {} : { description });
export const count = (description?: string) =>
  Type.Integer({ minimum: 0, ...(description !== undefined && { description }) });

export const eventId = uuid("Id of the event, as the endpoint answered it.");
export const account = nonEmptyText(256, "Account, as the session verifier names it.");
export const reason = nonEmptyText(
  1_000,
  "Why; recorded in the audit log. At least 8 characters, 4 of them different.",
);
/** 3650 days. */
export const MAX_TTL_MS = 315_360_000_000;
export const ttlMs = Type.Integer({
  minimum: 1,
  maximum: MAX_TTL_MS,
  description: "How long it is valid, in milliseconds.",
});

export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1_000, default: 50, description: "Maximum number of rows." }),
);

/** `page`: the query parameters of most lists. `next`: the member that the answer has in addition to the rows. */
export const page = { limit, after: Type.Optional(nonEmptyText(4_096, "`next` of the page before.")) };
export const next = nullable(shownText("Continues the list; null at its end."));

export const erasureWithReceipt = shape("ErasureReceipt", {
  erasure_id: shownText(),
  kind: shownText("What was erased, such as `account` or `event`."),
  began_at: shownText(),
  finished_at: nullable(shownText()),
  receipt: nullable(shownText("The signed receipt; null until the erasure is finished.")),
});

export const dryRun = Type.Optional(
  Type.Boolean({ description: "Says what the call would do, and changes nothing.", default: false }),
);

export { CATEGORIES };
export const category = Type.Enum([...CATEGORIES], { description: "Kind of the case." });
/** Types of a field that a definition of a feature may read. */
export const FIELD_TYPES = ["string", "boolean", "number", "string[]", "number[]"] as const;
export const SENSITIVITIES = ["low", "medium", "high"] as const;

export const ticket = nonEmptyText(128, "Ticket of another system.");

export const actionId = nonEmptyText(LIMITS.actionId, "Action id.");
export const actionType = nonEmptyText(LIMITS.actionType, "Action type.");
export const sdkVersion = nonEmptyText(LIMITS.sdkVersion, "SDK version.");
export const sessionId = nonEmptyText(LIMITS.sessionId, "Session id of an account.");
export const idempotencyKey = nonEmptyText(LIMITS.idempotencyKey, "Idempotency key of an account.");

const featureState = shape("FeatureState", {
  status: Type.Enum(["computed", "pending", "excluded"]),
  reason: nullable(shownText("Why features are missing, such as `before-adoption`.")),
  features: count("How many features are stored."),
});

export const event = shape("Event", {
  event_id: shownText(),
  idempotency_key: shownText("For the role operator, a pseudonym."),
  account: shownText("For the role operator, a pseudonym."),
  action_id: shownText("For the role operator, a pseudonym."),
  action_type: shownText(),
  purpose: shownText("Purpose, by its id."),
  session_id: shownText("For the role operator, a pseudonym."),
  event_type: shownText(),
  schema_version: Type.Integer(),
  sdk_version: shownText(),
  platform: shownText(),
  app_version: shownText(),
  collected_at: shownText("When the device claims to have collected it; RFC 3339, in UTC."),
  received_at: shownText("RFC 3339, in UTC."),
  held: Type.Boolean({ description: "Whether a legal hold covers it." }),
  restricted: Type.Boolean({
    description: "Whether it is excluded from analysis. Only the role `privacy` is shown such events.",
  }),
  features: Type.Optional(nullable(featureState)),
});
export type Event = Static<typeof event>;

/** For people to read. Nothing compares it, because a name can be that of another person. */
export const displayName = nullable(
  shownText(
    "Their name by the identity provider, if `DRS_OIDC_NAME_CLAIM` is set. It may be another's: it decides nothing.",
  ),
);

export const personName = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: "^[^()\\u0000]+$",
  description: "The person, as the audit log names them.",
});
