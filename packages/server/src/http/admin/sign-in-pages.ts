/** The pages of the sign-in that are shown without the console: they run no script. */
import type { AdminProblem } from "@device-risk-signals/admin-api";

/**
 * The browser gets this page instead of a redirect, and continues from it. The browser then treats the next request as
 * one of this origin; after a redirect, it would treat the request as one of the identity provider's page.
 */
export function pageWithLink(path: string): string {
  const target = escaped(path);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signed in</title><meta http-equiv="refresh" content="0;url=${target}"></head><body><p>You are signed in. <a href="${target}">Continue</a></p></body></html>\n`;
}

/** The page on which a person confirms the sign-in of a command. A link of any site may lead to it. */
export function pageWithButton(path: string, query: object, redirectUri: string): string {
  const values = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
  const action = escaped(`${path}?${new URLSearchParams(values).toString()}`);
  const host = escaped(new URL(redirectUri).host);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in a command</title></head><body><p>A command that waits at <code>${host}</code> asks to sign you in. Continue only if you have just run <code>drs login</code> on this computer. Otherwise close this page.</p><form method="post" action="${action}"><button>Sign in for drs login</button></form></body></html>\n`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The page of a sign-in that was refused: what the server says, to copy for the person who keeps the role file. */
export const pageOfProblem = ({ title, detail }: AdminProblem, path: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title></head><body><h1>${escaped(title)}</h1><p>${escaped(detail)}</p><p><a href="${escaped(path)}">Sign in again</a></p></body></html>\n`;
