import { ROLE_NAMES } from "@device-risk-signals/admin-api";
import { listPeople as queryPeople } from "../access/identity/signed-in-identities.ts";
import { isText, nextOf, pageOf } from "./list-page.ts";
import type { Operation } from "./operation.ts";

export const listPeople: Operation<"listPeople", "clock" | "pool"> = async ({ ports, input }) => {
  const page = pageOf(input, [isText]);
  const found = await queryPeople(ports.pool, ports.clock, page);
  const next = nextOf(found, page, ({ known_at, person }) => [known_at, person]);
  const people = found.map(({ person, name, identities, roles, signed_in_at, sessions, tokens }) => ({
    person,
    name,
    identities: [...identities],
    roles: ROLE_NAMES.filter((role) => roles.includes(role)),
    signed_in_at,
    sessions,
    tokens,
  }));
  // The entry counts them: names of people do not get into the audit log.
  return { answer: { people, next }, audit: { detail: { count: people.length } } };
};
