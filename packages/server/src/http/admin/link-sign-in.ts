/**
 * Sign-in by a link that `npm start` or `drs console link` printed, on the embedded database and loopback, where no
 * identity provider is configured. The page sends the code of the link, which is in its fragment, so that no log and no
 * history has it.
 */
import { BASE_PATH } from "@device-risk-signals/admin-api";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { sourceOf } from "../../base/identifiers/source-address.ts";
import type { AdminSessions } from "../../access/identity/admin-sessions.ts";
import { failureThrottle } from "../../ingest/throttle.ts";
import type { Ports } from "../../operations/ports.ts";
import { AdminError } from "../../operations/problem.ts";
import { isFromConsole } from "./authenticate.ts";
import { cookieOf, cookiesOf, sessionCookie } from "./cookies.ts";
import { startConsoleSession } from "./console-session.ts";

export const LINK_SIGN_IN_PATH = `${BASE_PATH}/link-sign-in`;

/** Limits for false codes of one source address: the sustained rate per second, and the largest burst. */
const FAILURES_PER_SECOND = 1;
const MAX_FAILURE_BURST = 20;

const BODY = Type.Object({ code: Type.String({ maxLength: 128 }) }, { additionalProperties: false });

const FALSE_LINK =
  "The link was used, is older than ten minutes, or is not of this installation. Get another: drs console link";

export function addLinkSignIn(
  app: FastifyInstance,
  { pool, clock, monotonic, keys }: Ports<"clock" | "keys.audit" | "monotonic" | "pool">,
  adminSessions: AdminSessions,
): void {
  const failures = failureThrottle(FAILURES_PER_SECOND, MAX_FAILURE_BURST, monotonic);
  app.post(LINK_SIGN_IN_PATH, { schema: { body: BODY } }, async ({ raw, body }, reply) => {
    // guard: no page of another site signs a browser in as somebody
    if (!isFromConsole(raw, "loopback")) throw new AdminError("cross-site");
    const source = sourceOf(raw.socket.remoteAddress ?? "");
    const signedIn = await adminSessions.redeemLink(pool, clock, (body as { code: string }).code);
    if (!signedIn) {
      const seconds = failures.take(source);
      if (seconds > 0) throw new AdminError("too-many-requests", { headers: { "Retry-After": String(seconds) } });
      throw new AdminError("sign-in-invalid", { detail: FALSE_LINK, credential: "sign-in" });
    }
    const cookie = sessionCookie("loopback", raw);
    const earlier = cookiesOf(raw, cookie);
    const { secret, person } = await startConsoleSession(
      { pool, clock, keys, adminSessions, source },
      signedIn,
      earlier,
    );
    reply.header("Set-Cookie", cookieOf(cookie, secret)).type("application/json");
    return reply.send(JSON.stringify({ person }));
  });
}
