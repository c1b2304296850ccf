/** The listeners of a service: their ports, their certificates, and how they close. */
import type { Server } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { Config } from "../base/config/config.ts";
import { settingOf } from "../base/config/settings.ts";
import type { TlsFiles } from "../http/server.ts";
import { type FollowedTls, followTlsFiles, readTlsFiles, type TlsPaths } from "../http/tls.ts";
import type { OnError } from "../base/ports.ts";

export interface OpenedTls {
  readonly paths: TlsPaths;
  readonly files: TlsFiles;
}

type TlsGroup = "service.tls" | "service.admin.tls";
type FilesOfTls = Pick<Config["service"]["tls"], "certFile" | "keyFile">;

export async function openTls(files: FilesOfTls, group: TlsGroup): Promise<OpenedTls | undefined> {
  const paths = tlsPathsOf(files, group);
  return paths && { paths, files: await readTlsFiles(paths) };
}

function tlsPathsOf({ certFile: cert, keyFile: key }: FilesOfTls, group: TlsGroup): TlsPaths | undefined {
  if (cert === undefined || key === undefined) return undefined;
  const variables = {
    cert: settingOf(`${group}.certFile`).variable,
    key: settingOf(`${group}.keyFile`).variable,
  };
  return { cert, key, variables };
}

const NO_TLS: FollowedTls = { reload: () => {}, close: () => {} };

/** @param what the name of the files in the log. */
export function followTls(
  server: Server,
  tls: OpenedTls | undefined,
  what: string,
  { logger, onError }: { readonly logger: Logger; readonly onError: OnError },
): FollowedTls {
  if (!tls) return NO_TLS;
  return followTlsFiles(server as TlsServer, tls.paths, (error) => {
    if (error === undefined) logger.info(`${what} reloaded`);
    else onError(error, `reload ${what}`);
  });
}

/** @param advice what to do if the port is in use. @throws listener-failed */
export function listen(server: Server, host: string, port: number, advice: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const why = cause.code === "EADDRINUSE" ? "is taken by another program" : `can't be listened on (${cause.code})`;
      reject(
        new OperatorError("listener-failed", `port ${port} on ${host} ${why}: ${advice}`, {
          cause,
        }),
      );
    };
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

export function urlOf(server: Server, host: string, tls: OpenedTls | undefined): string {
  const { port } = server.address() as AddressInfo;
  return `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Time limit for closing after all requests have been answered or have timed out. */
export const CLOSE_WITHIN_MS = 1_000;

export function closeListener(server: Server, withinMs = CLOSE_WITHIN_MS): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), withinMs).unref();
  });
}
