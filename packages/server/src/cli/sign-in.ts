/** `drs login` and `drs logout`: a person signs in with a browser, and the commands get a token (RFC 8252). */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { AdminRequestError, BASE_PATH, createAdminClient } from "@device-risk-signals/admin-api";
import { Command, InvalidArgumentError } from "commander";
import { readSetting } from "../base/config/config.ts";
import { webUrl } from "../base/config/values.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { http } from "../base/node-http.ts";
import { unreachableError } from "./call.ts";
import { type Context, print } from "./context.ts";
import { deleteLogin, readLogin, storeLogin } from "./login.ts";
import { example } from "./options.ts";

/** The time that a person has for the sign-in. */
const SIGN_IN_MS = 600_000;
const EXCHANGE_MS = 30_000;
/** The maximum age of a sign-in that the admin API accepts as recent. */
const FRESH_SECONDS = 300;

export function loginCommand(context: Context): Command {
  return new Command("login")
    .option("--url <url>", "address of the admin API; default: DRS_ADMIN_URL", adminUrl)
    .option("--fresh", "prove who you are again: approvals, erasure and export need a recent proof")
    .option("--no-browser", "only print the address to open")
    .addHelpText("after", example("drs login --url https://admin.example"))
    .action(async ({ url, browser, fresh = false }: { url?: string; browser: boolean; fresh?: boolean }) => {
      const target = url ?? readSetting("service.remote.url", context.environment);
      if (target === undefined) throw new OperatorError("wrong-usage", "Name the admin API: --url or DRS_ADMIN_URL.");
      const { token, person, roles, expires_at } = await signIn(context, target, {
        opensBrowser: browser,
        isFresh: fresh,
      });
      await storeLogin(context, { url: target, token, expires_at });
      print(context, `Signed in as ${person} (${roles.join(", ")}), until ${expires_at}.`);
    });
}

export function logoutCommand(context: Context): Command {
  return new Command("logout").addHelpText("after", example("drs logout")).action(async () => {
    const stored = readLogin(context);
    if (!stored) return print(context, "There is no login.");
    await deleteLogin(context);
    await createAdminClient(stored)
      .call("signOut", {})
      .catch((cause: unknown) => {
        // The session has ended already.
        if (cause instanceof AdminRequestError && cause.status === 401) return;
        const left = `The token is deleted on this machine, but remains valid until ${stored.expires_at}: revoke it with drs session revoke.`;
        throw new OperatorError("dependency-unavailable", `The admin API did not end the login. ${left}`, { cause });
      });
    print(context, "Signed out.");
  });
}

function adminUrl(text: string): string {
  const result = webUrl.read(text);
  if ("value" in result) return result.value;
  throw new InvalidArgumentError(`It ${result.problem}.`);
}

interface Issued {
  readonly token: string;
  readonly person: string;
  readonly roles: readonly string[];
  readonly expires_at: string;
}

async function signIn(
  context: Context,
  target: string,
  { opensBrowser, isFresh }: { readonly opensBrowser: boolean; readonly isFresh: boolean },
): Promise<Issued> {
  // A person does not sign in at a server from which this process could not fetch the token.
  await request(target, "/openapi.json").then(({ body }) => body?.cancel());
  const state = randomBytes(16).toString("base64url");
  const verifier = randomBytes(32).toString("base64url");
  const server = http.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const query = new URLSearchParams({
      redirect_uri: redirectUri,
      state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      ...(isFresh && { max_age: String(FRESH_SECONDS) }),
    });
    const page = new URL(`${BASE_PATH}/cli-sign-in?${query.toString()}`, target).href;
    print(context, `Sign in with a browser on this machine: ${page}`);
    if (opensBrowser && context.isTerminal) context.openBrowser?.(page);
    return await exchangeCode(target, await codeOf(server, state), verifier);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const SIGNED_IN_PAGE =
  '<!doctype html><html lang="en"><title>drs</title><p>Return to the terminal. You can close this page.</p></html>\n';

/** Waits for the code in the first request with this `state`. @throws login-unusable after ten minutes. */
function codeOf(server: Server, state: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new OperatorError("login-unusable", "No person signed in within ten minutes: run drs login again.")),
      SIGN_IN_MS,
    );
    server.on("request", (request, response) => {
      const query = URL.parse(request.url ?? "", "http://127.0.0.1")?.searchParams;
      const code = query?.get("code");
      // guard(false): a page that does not know the state can't give the command a code
      if (query?.get("state") !== state || typeof code !== "string") {
        response.writeHead(400).end();
        return;
      }
      clearTimeout(timer);
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer" });
      response.end(SIGNED_IN_PAGE, () => resolve(code));
    });
  });
}

/** @throws dependency-unavailable, access-denied */
async function exchangeCode(target: string, code: string, verifier: string): Promise<Issued> {
  const response = await request(target, "/cli-sign-in/token", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code, code_verifier: verifier }),
  });
  if (response.ok) return (await response.json()) as Issued;
  throw new OperatorError("access-denied", `The admin API answered the sign-in with ${response.status}.`);
}

/** @throws dependency-unavailable */
const request = (target: string, path: string, init?: RequestInit): Promise<Response> =>
  fetch(new URL(`${BASE_PATH}${path}`, target), {
    ...init,
    redirect: "error",
    signal: AbortSignal.timeout(EXCHANGE_MS),
  }).catch((cause: unknown) => {
    throw unreachableError(cause, target);
  });
