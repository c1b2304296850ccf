/** The admin API that commands use, and the login that `drs login` has stored. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Environment, readSetting } from "../base/config/config.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { makeFolder, replaceFile, unlinkIfThere } from "../base/files/durable-file.ts";
import type { Clock } from "../base/ports.ts";

/** What a process knows of logins. */
export interface LoginSource {
  readonly environment: Environment;
  readonly clock: Clock;
  /** The folder of this user's settings for `drs`; absent if the user has no such folder. */
  readonly configDirectory?: string;
  /** Whether the command works on the stores of this host, although the user is signed in to an admin API. */
  readonly isLocal?: boolean;
}

/** The admin API that commands call, and their token for it. */
export interface Login extends Credential {
  /** Where the address comes from. */
  readonly rule: "setting" | "login";
}

interface Credential {
  readonly url: string;
  readonly token: string;
}

export interface StoredLogin extends Credential {
  /** When the token expires; RFC 3339. */
  readonly expires_at: string;
}

const LOGIN_FILE = "login.json";
/** Permission bits of the file's group and of all other users. */
const ACCESS_OF_OTHERS = 0o077;

/**
 * Finds the admin API and the token in the environment, or else in what `drs login` has stored.
 * @returns `undefined` if neither names an admin API: then commands work on the database.
 * @throws login-unusable if an admin API is configured and there is no valid token for it, or if the file of
 * `drs login` can't be used.
 */
export function findLogin(context: LoginSource): Login | undefined {
  const { environment, clock, isLocal = false } = context;
  if (isLocal) return undefined;
  const url = readSetting("service.remote.url", environment);
  const token = readSetting("service.remote.token", environment);
  if (url !== undefined && token !== undefined) return { url, token, rule: "setting" };
  const stored = readLogin(context);
  if (!stored || (url !== undefined && !isSameServer(url, stored.url))) {
    if (url === undefined) return undefined;
    throw unusable("There is no token for the admin API of DRS_ADMIN_URL");
  }
  if (Date.parse(stored.expires_at) <= clock.now()) throw unusable(`The login ended at ${stored.expires_at}`);
  return { url: stored.url, token: stored.token, rule: url === undefined ? "login" : "setting" };
}

const unusable = (why: string): OperatorError =>
  new OperatorError("login-unusable", `${why}: run drs login, or set DRS_ADMIN_URL and DRS_ADMIN_TOKEN.`);

const isSameServer = (one: string, other: string): boolean => new URL(one).origin === new URL(other).origin;

/** @throws wrong-usage if the user is signed in, but the command has no route. */
export function requireLocal(context: LoginSource): void {
  const login = findLogin(context);
  if (!login) return;
  throw new OperatorError(
    "wrong-usage",
    `This command works on the stores of this host, and not on the server at ${login.url}: add --local.`,
  );
}

/** @throws login-unusable */
export function readLogin({ configDirectory }: LoginSource): StoredLogin | undefined {
  if (configDirectory === undefined) return undefined;
  const path = join(configDirectory, LOGIN_FILE);
  try {
    // guard(false): a token that others may have read is not used
    if (process.platform !== "win32" && (statSync(path).mode & ACCESS_OF_OTHERS) !== 0) {
      throw unusable(`Others can read ${path}, which holds a token`);
    }
    const stored: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isLogin(stored)) return stored;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
  }
  throw unusable(`${path} can't be read`);
}

function isLogin(value: unknown): value is StoredLogin {
  const { url, token, expires_at } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof url === "string" && URL.canParse(url) && typeof token === "string" && typeof expires_at === "string";
}

/** Stores the login in a file that only the caller of the command can read. */
export async function storeLogin(context: LoginSource, login: StoredLogin): Promise<void> {
  const folder = folderOf(context);
  await makeFolder(folder);
  await replaceFile(join(folder, LOGIN_FILE), Buffer.from(`${JSON.stringify(login)}\n`));
}

export async function deleteLogin(context: LoginSource): Promise<void> {
  await unlinkIfThere(join(folderOf(context), LOGIN_FILE));
}

function folderOf({ configDirectory }: LoginSource): string {
  if (configDirectory !== undefined) return configDirectory;
  throw new OperatorError("wrong-usage", "The user has no folder for settings: set XDG_CONFIG_HOME.");
}
