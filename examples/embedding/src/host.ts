/**
 * What a backend has before it embeds the endpoint: sessions of its customers, actions that it has started, and a log.
 * Here sessions and actions are maps; in a real backend they are its session store and, for example, its payments.
 */
import { inspect } from "node:util";
import type { ActionRegistry, EndpointOptions, SessionVerifier } from "@device-risk-signals/server";

/** A customer of these examples. A session token in a repository is no secret. */
export const CUSTOMER = { account: "customer-1", token: "example-session-token", sessionId: "session-1" };
export const PAYMENT = { actionId: "payment-42", actionType: "payment" };

const HOUR_MS = 3_600_000;

const sessionsByToken = new Map([[CUSTOMER.token, CUSTOMER]]);
const actionsById = new Map([[PAYMENT.actionId, { ...PAYMENT, ...CUSTOMER, expiresAt: Date.now() + HOUR_MS }]]);

const sessions: SessionVerifier = {
  async verify(token) {
    return sessionsByToken.get(token);
  },
};

/** Without this registry, the endpoint uses its table of actions, which `drs action register` fills. */
const actions: ActionRegistry = {
  async find(account, actionId) {
    const action = actionsById.get(actionId);
    return action?.account === account ? action : undefined;
  },
};

const onError = (error: unknown, operation: string): void =>
  void process.stderr.write(`${operation} failed: ${inspect(error)}\n`);

/** The parts that the host passes to the endpoint. */
export const host: Pick<EndpointOptions, "sessions" | "actions" | "onError"> = { sessions, actions, onError };
