import type { Dependency } from "../../base/dependencies/dependencies.ts";
import { type Clock, type SessionVerifier, Unavailable } from "../../base/ports.ts";
import { accountOf } from "../../base/identifiers/account.ts";

export interface IntrospectionOptions {
  readonly url: string;
  readonly dependency: Dependency;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly accountClaim: string;
  readonly fetch?: typeof fetch;
}

/** Verifies session tokens by asking an authorization server: OAuth 2.0 Token Introspection (RFC 7662). */
export function introspectionVerifier(options: IntrospectionOptions, clock: Clock): SessionVerifier {
  const { fetch: send = fetch } = options;
  const authorization = basicCredentials(options);

  /**
   * @returns the facts about an active token; `undefined` for any other token. @throws Unavailable if the answer is not
   * one of RFC 7662.
   */
  function ask(token: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const call = async (signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined> => {
      const response = await send(options.url, {
        method: "POST",
        headers: { Accept: "application/json", ...(authorization !== undefined && { Authorization: authorization }) },
        body: new URLSearchParams({ token, token_type_hint: "access_token" }),
        redirect: "error",
        signal,
      });
      if (!response.ok) throw new Error(`the introspection endpoint answered ${response.status}`);
      const answer = parsed(await response.text());
      if (typeof answer?.["active"] !== "boolean")
        throw new Error("the introspection endpoint said neither yes nor no");
      return answer["active"] ? answer : undefined;
    };
    return options.dependency.call(call).catch((cause: unknown) => {
      throw new Unavailable("session tokens can't be introspected", { cause });
    });
  }

  return {
    async verify(token) {
      const answer = await ask(token);
      if (!answer) return undefined;
      const account = accountOf(answer[options.accountClaim]);
      const { exp } = answer;
      if (account === undefined || (typeof exp === "number" && exp * 1000 <= clock.now())) return undefined;
      return typeof exp === "number" ? { account, expiresAt: exp * 1000 } : { account };
    },
  };
}

/** @throws Error that quotes nothing of the text, unlike the parser's. */
function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>> | null;
  } catch {
    throw new Error("the introspection endpoint's answer is not JSON");
  }
}

/** RFC 6749 §2.3.1: both parts are form-encoded before they are joined. */
function basicCredentials({ clientId, clientSecret }: IntrospectionOptions): string | undefined {
  if (clientId === undefined) return undefined;
  const encode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret ?? "")}`).toString("base64")}`;
}
