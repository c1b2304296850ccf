/** Readers of single configuration values: text in, value or a reason why not out. */

export type Read<T> = (text: string) => { readonly value: T } | { readonly problem: string };

export const text: Read<string> = (raw) => (raw === "" ? { problem: "must not be empty" } : { value: raw });

export const flag: Read<boolean> = (raw) =>
  raw === "true" ? { value: true } : raw === "false" ? { value: false } : { problem: "must be true or false" };

export function integer(least: number, most: number): Read<number> {
  return (raw) => {
    const value = Number(raw);
    if (!/^\d{1,15}$/.test(raw) || value < least || value > most) {
      return { problem: `must be a whole number from ${least} to ${most}` };
    }
    return { value };
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): Read<T> {
  return (raw) => {
    const value = values.find((candidate) => candidate === raw);
    return value === undefined ? { problem: `must be one of ${values.join(", ")}` } : { value };
  };
}

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `30s`, `5m`, `24h`, `7d`: milliseconds. */
export const duration: Read<number> = (raw) => {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(raw);
  if (!match) return { problem: "must be a duration such as 500ms, 30s, 5m, 24h or 7d" };
  return { value: Number(match[1]) * (DURATION_UNITS[match[2] ?? ""] ?? 0) };
};

/** A duration from `least` to `most`, both written as durations. */
export function durationWithin(least: string, most: string): Read<number> {
  const bound = (text: string): number => {
    const result = duration(text);
    if ("problem" in result) throw new TypeError(`${text} ${result.problem}`);
    return result.value;
  };
  const [from, to] = [bound(least), bound(most)];
  return (raw) => {
    const result = duration(raw);
    if ("problem" in result) return result;
    return result.value < from || result.value > to ? { problem: `must be from ${least} to ${most}` } : result;
  };
}

export const list: Read<readonly string[]> = (raw) => {
  const items = raw.split(",").map((item) => item.trim());
  return items.some((item) => item === "") ? { problem: "must be names separated by commas" } : { value: items };
};

const HOST_NAME = /^[a-z\d]([a-z\d._-]*[a-z\d])?$/i;

export const hostNames: Read<readonly string[]> = (raw) => {
  const result = list(raw);
  if ("problem" in result || result.value.every((name) => HOST_NAME.test(name))) return result;
  return { problem: "must be host names separated by commas, without ports" };
};

export function url(...protocols: readonly string[]): Read<string> {
  return (raw) => {
    if (!URL.canParse(raw)) return { problem: "must be a URL" };
    if (!protocols.includes(new URL(raw).protocol)) return { problem: `must start with ${protocols.join(" or ")}` };
    return { value: raw };
  };
}

/** A PostgreSQL URL. Session settings in it would take the place of the server's own, its role among them. */
export const postgresUrl: Read<string> = (raw) => {
  const result = url("postgres:", "postgresql:")(raw);
  if ("problem" in result) return result;
  return new URL(raw).searchParams.has("options") ? { problem: "must not hold options=" } : result;
};

/** A URL to fetch from. What is in it is printed and logged, and `fetch` takes no credentials there. */
export const webUrl: Read<string> = (raw) => {
  const result = url("https:", "http:")(raw);
  if ("problem" in result) return result;
  const { username, password, protocol, hostname } = new URL(raw);
  if (username !== "" || password !== "") return { problem: "must not hold credentials" };
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "https:" || local ? result : { problem: "must start with https: beyond loopback" };
};

export const key256: Read<Buffer> = (raw) => {
  const value = Buffer.from(raw, "base64");
  return value.length === 32 && value.toString("base64").replace(/=+$/, "") === raw.replace(/=+$/, "")
    ? { value }
    : { problem: "must be 32 bytes in base64, as `openssl rand -base64 32` prints them" };
};

/** A secret shared with others: long enough not to be guessed. */
export const sharedSecret: Read<string> = (raw) =>
  Buffer.byteLength(raw) < 32 ? { problem: "must have at least 32 bytes" } : { value: raw };
