import { readFile } from "node:fs/promises";
import { watchFile, unwatchFile } from "node:fs";
import type { Server } from "node:https";
import { createSecureContext } from "node:tls";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { TlsFiles } from "./server.ts";

const LOOK_EVERY_MS = 2_000;

export interface TlsPaths {
  readonly cert: string;
  readonly key: string;
  /** The settings that name the files, for messages. */
  readonly variables: { readonly cert: string; readonly key: string };
}

/** @throws certificate-unusable, which names the file or says that key and certificate do not match. */
export async function readTlsFiles({ cert, key, variables }: TlsPaths): Promise<TlsFiles> {
  const read = async (path: string, message: (problem: string) => string): Promise<Buffer> => {
    return readFile(path).catch((cause: NodeJS.ErrnoException) => {
      throw new OperatorError("certificate-unusable", message(`${path} can't be read (${cause.code})`), { cause });
    });
  };
  const files = {
    cert: await read(cert, (problem) => `${variables.cert}: ${problem}`),
    key: await read(key, (problem) => `${variables.key}: ${problem}`),
  };
  try {
    createSecureContext(files);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? "invalid";
    throw new OperatorError(
      "certificate-unusable",
      `${variables.cert} and ${variables.key} are no certificate and its key (${why})`,
      { cause },
    );
  }
  return files;
}

export interface FollowedTls {
  /** Reads the files now. */
  readonly reload: () => void;
  readonly close: () => void;
}

/**
 * Follows the files: a renewed certificate is used for new connections without a restart. While a certificate and a key
 * do not belong together (one file is written before the other), the previous pair stays in use.
 */
export function followTlsFiles(server: Server, paths: TlsPaths, report: (error?: unknown) => void): FollowedTls {
  const reload = (): void => {
    readTlsFiles(paths)
      .then((files) => server.setSecureContext(files))
      .then(() => report(), report);
  };
  for (const path of [paths.cert, paths.key]) watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, reload);
  return {
    reload,
    close() {
      for (const path of [paths.cert, paths.key]) unwatchFile(path, reload);
    },
  };
}
