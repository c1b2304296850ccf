import { type Static, Type } from "typebox";
import type { Route } from "../route.ts";
import { next, nullable, object, page, shape, shownText, uuid } from "../schemas.ts";

const TAG = "Orders";

const members = {
  order_id: shownText(),
  operation: shownText("The operation, as audit entries name it."),
  requested_by: shownText(),
  requested_at: shownText(),
  expires_at: shownText("If no worker has started it by this time, it expires."),
  state: Type.Enum(["waiting", "running", "done", "failed", "refused", "changed", "expired"], {
    description:
      "`refused`: the worker found that the caller may not give the order; `changed`: it was changed after it had been " +
      "given; `expired`: no worker has started it in time.",
  }),
  started_at: nullable(shownText()),
  ended_at: nullable(shownText()),
  progress: nullable(shownText()),
};

/** What a worker does for a caller of the API. */
export const order = shape("Order", members);
export type Order = Static<typeof order>;

/** Orders of routes that need a login of a worker. */
export const ORDER_ROUTES = {
  listOrders: {
    method: "GET",
    path: "/orders",
    tag: TAG,
    summary: "List orders that a worker applies, newest first",
    permission: "orders.read",
    operation: "order.list",
    access: "read",
    query: object(page),
    answer: object({ orders: Type.Array(order), next }),
  },
  readOrder: {
    method: "GET",
    path: "/orders/{order_id}",
    tag: TAG,
    summary: "An order: its state, its progress and, once it has ended, its answer",
    permission: "orders.read",
    operation: "order.show",
    access: "read",
    params: object({ order_id: uuid("Id of the order.") }),
    query: object({
      wait_ms: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 5_000, default: 0, description: "How long it waits for the end." }),
      ),
    }),
    answer: object({
      ...members,
      answer: Type.Unknown({ description: "What the call answers; null for other persons, and until it is done." }),
      problem: Type.Unknown({
        description:
          "The problem document if the order ended without success, or if its answer can't be shown; null otherwise.",
      }),
    }),
    problems: ["not-found"],
  },
} as const satisfies Readonly<Record<string, Route>>;
