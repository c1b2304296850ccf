/**
 * Builds and starts `next-app` as its owner would. The example itself is the route handler in that folder, not this
 * file.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { StartHost } from "./running-host.ts";

export const NEXT_APP = join(import.meta.dirname, "../next-app");

/** The second setting leaves SIGTERM to the module of the route handler, which closes the endpoint. */
const SETTINGS = { NODE_ENV: "production", NEXT_MANUAL_SIG_HANDLE: "true", NEXT_TELEMETRY_DISABLED: "1" };

type Environment = Parameters<StartHost>[0];

const environmentOf = (environment: Environment): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  ...environment,
  ...SETTINGS,
});

export async function buildNext(environment: Environment): Promise<void> {
  const build = next(["build", NEXT_APP], environmentOf(environment));
  const log = textOf(build);
  const [code] = await once(build, "close");
  if (code !== 0) throw new Error(`next build failed:\n${log()}`);
}

export const startNext: StartHost = async (environment, port = 0) => {
  await buildNext(environment);
  const env = environmentOf(environment);
  const server = next(["start", NEXT_APP, "--hostname", "127.0.0.1", "--port", String(port)], env);
  return {
    url: await urlOf(server),
    async close() {
      const closed = once(server, "close");
      server.kill("SIGTERM");
      const [code] = await closed;
      if (code !== 0) throw new Error(`next start ended with ${code}`);
    },
  };
};

function next(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const command = fileURLToPath(import.meta.resolve("next/dist/bin/next"));
  return spawn(process.execPath, [command, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

function textOf({ stdout, stderr }: ChildProcess): () => string {
  let text = "";
  for (const stream of [stdout, stderr]) stream?.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

function urlOf(server: ChildProcess): Promise<string> {
  const text = textOf(server);
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const url = /Local: +(http\S+)[^]*Ready/.exec(text())?.[1];
      if (url !== undefined) resolve(url);
    };
    server.stdout?.on("data", look);
    server.once("close", () => reject(new Error(`next start failed:\n${text()}`)));
  });
}
