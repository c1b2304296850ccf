/** An admin listener on a test system, and admin tokens for it. */
import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { type AdminClient, createAdminClient, type Role } from "@device-risk-signals/admin-api";
import { openAdminConnection } from "../../operations/admin-connection.ts";
import { CloseStack } from "../../runtime/close-stack.ts";
import type { System } from "../../runtime/system.ts";
import { createAdminServer } from "../admin.ts";
import { ADMIN_OPENAPI_JSON } from "../openapi.ts";
import { falseCredentials } from "../../access/identity/false-credentials.ts";
import { BufferedAuditLog } from "../../audit/audit.ts";
import { issueAdminToken } from "../../access/identity/admin-tokens.ts";
import { inOwnerTransaction } from "../../store/postgres/database.ts";
import { createAdminApi } from "./admin-api.ts";
import type { SignInPorts } from "./sign-in.ts";
import { portsOf } from "../../operations/ports.ts";
import { WorkerCalls } from "../../operations/worker-calls.ts";

export interface AdminScene {
  readonly url: string;
  /** Errors that the listener reported. */
  readonly errors: unknown[];
  /** Requests with false credentials that the audit has not written yet. */
  readonly falseLog: BufferedAuditLog;
  /** Issues a token. By default the person of the token is named after its roles. */
  token(roles: readonly Role[], options?: TokenOptions): Promise<string>;
  client(roles: readonly Role[], options?: TokenOptions): Promise<AdminClient>;
  /** Advances the clock by which requests are limited. */
  pass(ms: number): void;
  /** Stops this clock until the end of the test. */
  stopTime(): void;
}

export interface TokenOptions {
  readonly person?: string;
  /** The time of issue; milliseconds since the Unix epoch. */
  readonly at?: number;
  /** The person who obtained the token through the admin API. */
  readonly obtainedBy?: string;
}

const TTL_MS = 3_600_000;

/**
 * @param signIn returns the parts for the sign-in of people at an identity provider, for a listener at this URL;
 * `loopback`: people sign in by a link.
 */
export function useAdminListener(
  system: () => System,
  signIn?: "loopback" | ((url: string) => SignInPorts),
): AdminScene {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const connections = new CloseStack(onError);
  let server: Server;
  let falseLog: BufferedAuditLog;
  let url = "";
  let passedMs = 0;
  let stoppedAt: number | undefined;

  beforeAll(async () => {
    let api: RequestListener = (_, response) => response.writeHead(503).end();
    server = createAdminServer({
      api: (request, response) => api(request, response),
      hosts: [],
      onError,
      readiness: async () => ({ ready: true, lines: [] }),
      metrics: async () => ({ type: "text/plain", text: "" }),
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ports = portsOf(system(), await openAdminConnection(system(), onError, connections));
    falseLog = new BufferedAuditLog(ports.pool, system().audit, onError, falseCredentials(system().audit));
    connections.add("false credentials", () => falseLog.close());
    api = await createAdminApi({
      ports: {
        ...ports,
        monotonic: { now: () => (stoppedAt ?? performance.now()) + passedMs },
      },
      calls: new WorkerCalls(system()),
      document: ADMIN_OPENAPI_JSON,
      isClearAllowed: true,
      onFalseCredential: (cause, peer) => falseLog.record({ outcome: "denied", cause, peer }),
      onError,
      ...(signIn === "loopback" ? { reach: signIn } : signedIn(signIn?.(url))),
    });
  });
  afterAll(async () => {
    server?.close();
    server?.closeAllConnections();
    await connections.release()();
  });

  const token: AdminScene["token"] = async (roles, { person = `person-${roles.join("-")}`, at, obtainedBy } = {}) => {
    const { administration, clock } = system();
    const issuedAt = at === undefined ? clock : { now: () => at };
    const wanted = { person, roles, ttlMs: TTL_MS, ...(obtainedBy !== undefined && { obtainedBy }) };
    return (await inOwnerTransaction(administration, (owner) => issueAdminToken(owner, issuedAt, wanted))).token;
  };
  return {
    get url() {
      return url;
    },
    errors,
    get falseLog() {
      return falseLog;
    },
    token,
    pass: (ms) => void (passedMs += ms),
    stopTime: () => {
      stoppedAt = performance.now();
      onTestFinished(() => void (stoppedAt = undefined));
    },
    client: async (roles, options) => createAdminClient({ url, token: await token(roles, options) }),
  };
}

const signedIn = (signIn: SignInPorts | undefined) => signIn && { signIn, reach: signIn, roleFile: signIn.roleFile };
