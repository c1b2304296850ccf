import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";

/** What the operating system knows about the caller of a command. A member that it does not know is absent. */
export interface SystemIdentity {
  readonly effectiveUid?: number;
  /** Name of the effective user; in a container there may be none. */
  readonly name?: string;
  /** The id of the user who logged in. The kernel's audit keeps it through `su` and `sudo`. */
  readonly loginUid?: number;
  readonly tty?: string;
  readonly host: string;
}

/** A longer claim is cut: it is the caller's text. */
const MAX_CLAIM_LENGTH = 64;

/**
 * Describes the actor of an audit entry: first what the operating system knows, then what the environment claims,
 * labelled and quoted.
 *
 * @param claimed the value of `SUDO_USER`, which any caller can set.
 */
export function describeOperator(identity: SystemIdentity, claimed: string | undefined): string {
  const { effectiveUid, name, loginUid, tty, host } = identity;
  const systemFacts = [
    `uid ${effectiveUid ?? "unknown"}`,
    ...(loginUid === undefined ? [] : [`login uid ${loginUid}`]),
    `host ${host}`,
    `tty ${tty ?? "none"}`,
  ].join(", ");
  const claim = claimed === undefined ? "" : `; claims SUDO_USER=${quoteClaim(claimed)}`;
  return `cli:${name ?? `uid ${effectiveUid ?? "unknown"}`} (${systemFacts}${claim})`;
}

/**
 * Quotes a text. The result can't end its own quotes, holds no control character, and is a text that PostgreSQL
 * accepts.
 */
function quoteClaim(claim: string): string {
  return JSON.stringify([...claim.toWellFormed()].slice(0, MAX_CLAIM_LENGTH).join("")).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Reads the identity of this process. */
export function readSystemIdentity(): SystemIdentity {
  const effectiveUid = process.geteuid?.();
  const name = valueOf(() => userInfo().username);
  const loginUid = valueOf(() => parseLoginUid(readFileSync("/proc/self/loginuid", "utf8")));
  const tty = valueOf(() => ttyOf(readFileSync("/proc/self/stat", "latin1")));
  return {
    ...(effectiveUid !== undefined && { effectiveUid }),
    ...(name !== undefined && { name }),
    ...(loginUid !== undefined && { loginUid }),
    ...(tty !== undefined && { tty }),
    host: hostname(),
  };
}

function valueOf<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const UNSET_LOGIN_UID = 4_294_967_295;

function parseLoginUid(text: string): number | undefined {
  const uid = Number(text);
  return text === "" || uid === UNSET_LOGIN_UID ? undefined : uid;
}

const TTY_MAJOR = 4;
const PTS_MAJORS = { first: 136, last: 143 };
const FIRST_SERIAL_MINOR = 64;

/**
 * The controlling terminal; redirected standard input and output do not change it.
 *
 * @param stat the text of `/proc/self/stat` (proc(5)). `tty_nr` is its seventh field. The second field is the program's
 * name in parentheses, which may contain spaces.
 */
export function ttyOf(stat: string): string | undefined {
  const device = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4]);
  if (!Number.isInteger(device) || device === 0) return undefined;
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= PTS_MAJORS.first && major <= PTS_MAJORS.last) return `pts/${(major - PTS_MAJORS.first) * 256 + minor}`;
  if (major === TTY_MAJOR) return minor < FIRST_SERIAL_MINOR ? `tty${minor}` : `ttyS${minor - FIRST_SERIAL_MINOR}`;
  return `device ${major}:${minor}`;
}
