/** The identities with which people signed in, and what is known of each person. */
import type { Role } from "@device-risk-signals/admin-api";
import type { Clock } from "../../base/ports.ts";
import type { Executor } from "../../store/postgres/executor.ts";
import { instant } from "../../store/postgres/instant.ts";
import { FIRST_PAGE, isAfter, type KeysetPage, positionValues } from "../../store/postgres/keyset.ts";
import { narrowed, query, sql } from "../../store/postgres/statement.ts";
import type { SignedInPerson } from "./admin-sessions.ts";

const nowOf = (clock: Clock): string => new Date(clock.now()).toISOString();

const RECORD_SIGN_IN = sql(
  `insert into signed_in_identity (identity, person, name, roles, signed_in_at) values ($1, $2, $3, $4, $5)
    on conflict (identity) do update set person = excluded.person, name = excluded.name, roles = excluded.roles,
      signed_in_at = excluded.signed_in_at`,
  ["text", "text", "text?", "text[]", "timestamptz"],
);

/** Records the last sign-in of an identity. @param name as the identity provider says it; it replaces the former one. */
export async function recordSignIn(
  executor: Executor,
  clock: Clock,
  { identity, person, roles }: SignedInPerson,
  name: string | null,
): Promise<void> {
  await query(executor, RECORD_SIGN_IN, [identity, person, name, [...roles], nowOf(clock)]);
}

const NAME_OF_SESSION = sql(
  `select i.name from admin_session s join signed_in_identity i on i.identity = s.identity where s.session_id = $1`,
  ["uuid"],
  { name: "text?" },
);

/** The name of the person of a session; `null` if the identity provider says none. */
export async function nameOfSession(executor: Executor, sessionId: string): Promise<string | null> {
  return (await query(executor, NAME_OF_SESSION, [sessionId])).rows[0]?.name ?? null;
}

const ACTIVE_TOKEN = "t.revoked_at is null and t.expires_at > $1";
const ACTIVE_SESSION = "s.kind in ('console', 'login') and s.ended_at is null and s.expires_at > $1";
// A sign-in by a link has no identity: only its session says who signed in.
const LIST_PEOPLE = sql(
  `with sign_in as (select person, roles, signed_in_at from signed_in_identity
      union all select s.person, s.roles, s.started_at from admin_session s where ${ACTIVE_SESSION}),
    known as (select person, roles, signed_in_at as at from sign_in
      union all select t.person, t.roles, t.issued_at from admin_token t where ${ACTIVE_TOKEN}),
    latest as (select person, max(at) as known_at from known group by person)
    select person, ${instant("known_at")},
      (select i.name from signed_in_identity i where i.person = latest.person
        order by i.signed_in_at desc, i.identity limit 1) as name,
      array(select left(i.identity, 16) from signed_in_identity i where i.person = latest.person
        order by i.signed_in_at desc, i.identity) as identities,
      array(select distinct unnest(k.roles) from known k where k.person = latest.person) as roles,
      (select ${instant("max(i.signed_in_at)", "signed_in_at")} from sign_in i where i.person = latest.person) as signed_in_at,
      (select count(*) from admin_session s where s.person = latest.person and ${ACTIVE_SESSION}) as sessions,
      (select count(*) from admin_token t where t.person = latest.person and ${ACTIVE_TOKEN}) as tokens
    from latest where ${isAfter("latest.known_at", "$2", { "latest.person": "$3::text" })}
    order by latest.known_at desc, latest.person limit $4::int4`,
  ["timestamptz", "timestamptz?", "text?", "int4"],
  {
    person: "text",
    known_at: "text",
    name: "text?",
    identities: "text[]",
    roles: narrowed<Role[]>("text[]"),
    signed_in_at: "text?",
    sessions: "int8",
    tokens: "int8",
  },
);

/**
 * Lists the people who signed in, and the people and machines with an active admin token.
 * @returns `known_at`: the last sign-in or the issue of the newest token, whichever is later. It orders the list.
 */
export async function listPeople(executor: Executor, clock: Clock, page: KeysetPage = FIRST_PAGE) {
  const [at = null, person = null] = positionValues(page, 1);
  return (await query(executor, LIST_PEOPLE, [nowOf(clock), at, person, page.limit])).rows;
}
