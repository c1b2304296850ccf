/** Calls of the admin API with the session of a page's person, for what a test needs and does not look at. */
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** The members of answers that tests read. */
interface Answered {
  readonly case_id?: string;
  readonly approvals?: readonly { readonly approval_id: string; readonly parameters: { readonly person?: string } }[];
}

/** Calls a route from a page, with the session of its person. */
export const fetchAs = (
  page: Page,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Answered }> =>
  page.evaluate(
    ([verb, route, text]) =>
      fetch(`/admin/v1${route}`, {
        method: verb as string,
        ...(text !== "" && { headers: { "Content-Type": "application/json" }, body: text as string }),
      }).then(async (answer) => ({ status: answer.status, json: (await answer.json()) as Answered })),
    [method, path, body ? JSON.stringify(body) : ""],
  );

/** Opens an event under a case. */
export async function openEvent(page: Page, event: string, reason: string, ticket: string): Promise<void> {
  const { json } = await fetchAs(page, "POST", "/cases", { category: "dispute", reason, ticket, account: "4711" });
  const opened = await fetchAs(page, "POST", `/events/${event}/observations`, { case_id: json.case_id });
  expect(opened.status).toBe(200);
}

/** Asks for a token, which needs the approval of a person with the role privacy. @returns the id of the approval. */
export async function askForToken(page: Page, person: string): Promise<string> {
  const wanted = { person, roles: ["analyst"], ttl_ms: 2_592_000_000 };
  const { status } = await fetchAs(page, "POST", "/admin-tokens", wanted);
  expect(status).toBe(409);
  const { json } = await fetchAs(page, "GET", "/approvals");
  return json.approvals?.find(({ parameters }) => parameters.person === person)?.approval_id ?? "";
}
