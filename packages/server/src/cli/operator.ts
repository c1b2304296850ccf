import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";

/** Facts of the operating system about the caller of a command; an unknown member is absent. */
export interface SystemIdentity {
  readonly effectiveUid?: number;
  /** Name of the effective user; in a container there may be none. */
  readonly name?: string;
  /** The user who logged in, as the kernel's audit keeps it through `su` and `sudo`. */
  readonly loginUid?: number;
  readonly tty?: string;
  readonly host: string;
}

/** A longer claim is cut: it is the caller's text. */
const MAX_CLAIM_LENGTH = 64;

/**
 * The actor of an audit entry: what the system knows, then, labelled and quoted, what the environment only claims.
 *
 * @param claimed the value of `SUDO_USER`, which any caller can set.
 */
export function describeOperator(identity: SystemIdentity, claimed: string | undefined): string {
  const { effectiveUid, name, loginUid, tty, host } = identity;
  const known = [
    `uid ${effectiveUid ?? "unknown"}`,
    ...(loginUid === undefined ? [] : [`login uid ${loginUid}`]),
    `host ${host}`,
    `tty ${tty ?? "none"}`,
  ].join(", ");
  const claim = claimed === undefined ? "" : `; claims SUDO_USER=${quoteClaim(claimed)}`;
  return `cli:${name ?? `uid ${effectiveUid ?? "unknown"}`} (${known}${claim})`;
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

const NO_LOGIN = 4_294_967_295;

function parseLoginUid(text: string): number | undefined {
  const uid = Number(text);
  return text === "" || uid === NO_LOGIN ? undefined : uid;
}

const MAJOR_TTY = 4;
const MAJORS_PTS = { first: 136, last: 143 };
const SERIAL_FROM = 64;

/**
 * The controlling terminal; redirected standard input and output do not change it.
 *
 * @param stat `/proc/self/stat` (proc(5)): `tty_nr` is the seventh field, the second is a name in parentheses.
 */
export function ttyOf(stat: string): string | undefined {
  const device = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4]);
  if (!Number.isInteger(device) || device === 0) return undefined;
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= MAJORS_PTS.first && major <= MAJORS_PTS.last) return `pts/${(major - MAJORS_PTS.first) * 256 + minor}`;
  if (major === MAJOR_TTY) return minor < SERIAL_FROM ? `tty${minor}` : `ttyS${minor - SERIAL_FROM}`;
  return `device ${major}:${minor}`;
}
