/** Who sent a request of the admin API. */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../ports.ts";
import type { Executor } from "../postgres/executor.ts";
import { findHolder } from "../identity/admin-tokens.ts";
import { actorPrefix, type Caller } from "../identity/caller.ts";
import { AdminError } from "./operations/problem.ts";

const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const CHALLENGE = { "WWW-Authenticate": "Bearer" };
const INVALID = { "WWW-Authenticate": 'Bearer error="invalid_token"' };

/** @throws AdminError credentials-missing, credentials-invalid. @throws Unavailable */
export async function authenticate(executor: Executor, clock: Clock, request: IncomingMessage): Promise<Caller> {
  const credentials = credentialsOf(request);
  if (credentials.length === 0) throw new AdminError("credentials-missing", { headers: CHALLENGE });
  // guard(drop): two credentials are none
  // fails: packages/server/src/admin/routes.test.ts › two credentials
  if (credentials.length > 1) throw invalid();
  const [, token] = BEARER.exec(credentials[0] ?? "") ?? [];
  const holder = token === undefined ? undefined : await findHolder(executor, clock, token);
  if (!holder) throw invalid();
  const { person, roles, expires_at: expiresAt, token_id } = holder;
  return { person, roles, expiresAt, via: "api", actor: `${actorPrefix(person)}admin token ${token_id})` };
}

const invalid = (): AdminError => new AdminError("credentials-invalid", { headers: INVALID });

/** Every `Authorization` line: of several, Node's `headers` has the first only. */
function credentialsOf({ rawHeaders }: IncomingMessage): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "authorization");
}
