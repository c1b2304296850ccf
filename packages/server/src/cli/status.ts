/** `drs status`: which installation answers, who the caller is, and what waits for them. */
import { type Answer, type Role, type RouteId, routeOf, scopeOf } from "@device-risk-signals/admin-api";
import { Command } from "commander";
import { VERSION } from "../base/version.ts";
import { describeBackup } from "../lifecycle/backups/backup-state.ts";
import { DEMO_NOTE } from "../store/postgres/demo.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { type Call, call as callOne, callAdminApi, withCalls } from "./call.ts";
import { type Context, loadConfig, print, printJson } from "./context.ts";
import { livenessOf, statusOf } from "./live.ts";
import { placeOf } from "./local.ts";
import { findLogin, type Login } from "./login.ts";
import { example } from "./options.ts";
import { PAGE_SIZE } from "./pages.ts";

/** The time in which a server answers a question. */
const ANSWER_WITHIN_MS = 3_000;
/** A case that ends within this time waits for its person. */
const CASE_ENDS_WITHIN_MS = 3_600_000;

/** Why this installation answers, in the order in which commands look for one. */
const RULES = {
  setting: "DRS_ADMIN_URL names it",
  login: "drs login signed in to it",
  server: "a server runs here, and commands share its database",
  database: "the database here, because there is no sign-in and DRS_ADMIN_URL is not set",
} as const;

interface Status {
  readonly rule: keyof typeof RULES;
  readonly place: string;
  readonly drs_version: string;
  readonly session?: Answer<"readSession">;
  readonly waiting?: Waiting;
  /** Absent if the caller may not know it. */
  readonly backups?: Backups;
}

type Backups = Answer<"listBackups">["stores"];

/** Numbers of what waits for the caller; `null`: the caller may not know it. */
interface Waiting {
  readonly approvals: number | null;
  readonly overdue_requests: number | null;
  readonly ending_cases: number | null;
  readonly open_reviews: number | null;
}

export function statusCommand(context: Context): Command {
  return new Command("status")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs status"))
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      const login = findLogin(context);
      const rule: Status["rule"] = login ? login.rule : (await isServed(context)) ? "server" : "database";
      const place = { rule, place: placeOf(context), drs_version: VERSION };
      try {
        const answered = login ? await askServer(context, login) : await askDatabase(context);
        show(context, { ...place, ...answered }, json);
      } catch (error) {
        show(context, place, json);
        if (rule === "database" && loadConfig(context).embedded)
          context.stderr.write("drs login --url URL signs in to a server, drs serve starts one here.\n");
        throw error;
      }
    });
}

/** Whether a server answers at the address of this host's admin API. */
async function isServed(context: Context): Promise<boolean> {
  const config = loadConfig(context);
  if (config.service.admin.port === 0) return false;
  const status = await statusOf(livenessOf(config)).catch(() => undefined);
  return status === 200;
}

type Answered = Pick<Status, "session" | "waiting" | "backups">;

async function askServer(context: Context, login: Login): Promise<Answered> {
  const call = callAdminApi(context, login, () => {}, ANSWER_WITHIN_MS);
  const session = await call("readSession", {});
  // The server audits a denied call, so the command calls only what the roles may.
  const may = (id: RouteId): boolean => scopeOf(routeOf(id).permission, session.roles) !== undefined;
  const backups = may("listBackups") ? (await call("listBackups", {})).stores : undefined;
  return { session, waiting: await readWaiting(context, session, call, may), ...(backups && { backups }) };
}

async function askDatabase(context: Context): Promise<Answered> {
  const { session, waiting, backups } = await withCalls(context, "read", async (call) => {
    const found = await call("readSession", {});
    // A login of the database gives no approval.
    const may = (id: RouteId): boolean => routeOf(id).access === "read" && id !== "listApprovals";
    const { stores } = await call("listBackups", {});
    return { session: found, waiting: await readWaiting(context, found, call, may), backups: stores };
  });
  // This read is audited, so a standby and a database behind its journal refuse it.
  const requests = await callOne(context, "listRequests", {}).catch((error: unknown) => {
    if (error instanceof OperatorError) return undefined;
    throw error;
  });
  return { session, backups, waiting: { ...waiting, overdue_requests: requests ? overdueOf(requests) : null } };
}

const overdueOf = ({ requests }: Answer<"listRequests">): number => requests.filter(({ overdue }) => overdue).length;

async function readWaiting(
  { clock }: Context,
  session: Answer<"readSession">,
  call: Call,
  may: (id: RouteId) => boolean,
): Promise<Waiting> {
  const { person } = session;
  const page = { limit: PAGE_SIZE };
  const soon = clock.now() + CASE_ENDS_WITHIN_MS;
  const approvals = may("listApprovals") ? (await call("listApprovals", page)).approvals : null;
  const requests = may("listRequests") ? await call("listRequests", {}) : null;
  const cases = may("listCases") ? (await call("listCases", { open: true, ...page })).cases : null;
  const reviews = may("listReviews") ? (await call("listReviews", {})).reviews : null;
  return {
    approvals: approvals?.filter((approval) => canGive(session, approval)).length ?? null,
    overdue_requests: requests && overdueOf(requests),
    ending_cases:
      cases?.filter(({ opened_by, expires_at }) => opened_by === person && Date.parse(expires_at) < soon).length ??
      null,
    open_reviews: reviews?.length ?? null,
  };
}

/** Only a person who signed in gives an approval, and not for their own request. */
function canGive(
  { person, roles, via }: Answer<"readSession">,
  { state, requested_by, obtained_by, needed_roles }: Answer<"readApproval">,
): boolean {
  const isOwn = requested_by === person || obtained_by === person;
  return state === "waiting" && via !== "api" && !isOwn && roles.some((role: Role) => needed_roles.includes(role));
}

function show(context: Context, { session, waiting, backups, ...known }: Status, json: boolean): void {
  if (json) {
    const {
      installation = null,
      version = null,
      is_demo = null,
      person = null,
      name = null,
      roles = null,
      expires_at = null,
    } = session ?? {};
    const found = { installation, version, is_demo, person, name, roles, expires_at };
    return printJson(context, { ...known, ...found, waiting: waiting ?? null, backups: backups ?? null });
  }
  const line = (name: string, text: string): void => print(context, `${name.padEnd(14)}${text}`);
  line("Installation", known.place);
  line("Found by", RULES[known.rule]);
  if (session) {
    const { installation, version, is_demo, person, name, roles, expires_at } = session;
    line("Id", installation);
    if (is_demo) line("Demo", DEMO_NOTE);
    line("Version", version === known.drs_version ? version : `${version}, and drs has ${known.drs_version}`);
    const named = typeof name === "string" ? `${person} ${JSON.stringify(name)}` : person;
    line("You", named + (expires_at === null ? "" : `, until ${expires_at}`));
    line("Roles", roles.length === 0 ? "none: the login of the database decides" : roles.join(", "));
  } else line("Version", `drs ${known.drs_version}`);
  for (const [index, state] of (backups ?? []).entries()) line(index === 0 ? "Backups" : "", describeBackup(state));
  if (!waiting) return;
  const { approvals, overdue_requests, ending_cases, open_reviews } = waiting;
  const tasks = [
    approvals && `${plural(approvals, "approval")} that you can give: drs approval list`,
    overdue_requests && `${plural(overdue_requests, "overdue request")}: drs request list`,
    ending_cases && `${plural(ending_cases, "case")} of yours within an hour of the end: drs case list --open`,
    open_reviews && `${plural(open_reviews, "open review")}: drs review list`,
  ].filter((text) => typeof text === "string");
  for (const [index, text] of (tasks.length > 0 ? tasks : ["nothing"]).entries())
    line(index === 0 ? "Waiting" : "", text);
}
