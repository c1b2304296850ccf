import type { AuditSigner } from "../../audit/audit-signer.ts";
import type { CountedRequests } from "../../audit/audit.ts";
import { actorPrefixOf } from "./caller.ts";
import { REFUSED_PERSON } from "./role-mapping.ts";

/** What was false about the credentials of a request of the admin API. */
export type FalseCredential = "missing" | "malformed" | "several" | "token" | "cookie" | "sign-in";

/**
 * How the audit counts requests of the admin API with false credentials: an entry a minute for each kind and source
 * address. The entries are in no lane, like those of people.
 */
export const falseCredentials = (signer: AuditSigner): CountedRequests => ({
  origin: { actor: `${actorPrefixOf(REFUSED_PERSON)}credentials)`, via: "api", operation: "session.authenticate" },
  lane: { sign: (entries) => entries.map((entry) => signer.sign(entry)), acknowledge: () => {}, renew: () => {} },
  isBySource: true,
  // Each group becomes an entry a minute.
  maxGroups: 200,
});
