import { once } from "node:events";
import type { RequestOptions } from "node:http";
import { Command } from "commander";
import type { Config } from "../base/config/config.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { http, https } from "../base/node-http.ts";
import { type Context, loadConfig, print } from "./context.ts";
import { example } from "./options.ts";

const WITHIN_MS = 2_000;

export function liveCommand(context: Context): Command {
  return new Command("live").addHelpText("after", example("drs live")).action(async () => {
    const url = livenessOf(loadConfig(context));
    const status = await statusOf(url).catch((cause: unknown) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new OperatorError("checks-failed", `${url.href} gives no answer (${code ?? message}).`, { cause });
    });
    if (status !== 200) throw new OperatorError("checks-failed", `${url.href} answers ${status}.`);
    print(context, "The server lives.");
  });
}

const LOOPBACK_OF_ANY: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The address of the admin listener, as this host reaches it. @throws wrong-usage if the system chose its port */
export function livenessOf({ service: { admin } }: Config): URL {
  if (admin.port === 0) {
    throw new OperatorError(
      "wrong-usage",
      "With DRS_ADMIN_PORT=0 the system chooses the port, and no command knows it: name one.",
    );
  }
  const host = LOOPBACK_OF_ANY[admin.host] ?? admin.host;
  const scheme = admin.tls.certFile === undefined ? "http" : "https";
  return new URL(`${scheme}://${host.includes(":") ? `[${host}]` : host}:${admin.port}/livez`);
}

/** The status of the answer of `/livez`. */
export async function statusOf(url: URL): Promise<number | undefined> {
  const signal = AbortSignal.timeout(WITHIN_MS);
  const options: RequestOptions = { signal, agent: false };
  // The certificate names the host that clients use, and the request carries no secret.
  const request =
    url.protocol === "https:" ? https.get(url, { ...options, rejectUnauthorized: false }) : http.get(url, options);
  const [response] = (await once(request, "response")) as [{ statusCode?: number; resume: () => void }];
  response.resume();
  return response.statusCode;
}
