/**
 * What the URL of a database says. Only the URL counts: no variable of libpq, no password file and no parameter that
 * the server does not know.
 */
export interface DatabaseUrl {
  /** A host name, an address without brackets, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Empty if there is none. */
  readonly password: string;
  readonly database: string;
  /** Absent for a connection without TLS. */
  readonly tls?: DatabaseTls;
}

export interface DatabaseTls {
  /** Whether the certificate must come from a known authority and name the host. */
  readonly verifies: boolean;
  /** Whether TLS begins without a question of PostgreSQL's protocol. */
  readonly direct: boolean;
  /** A file of authorities in PEM, or `system` for those of the operating system. Absent: those of Node. */
  readonly authorities?: string;
  readonly certificateFile?: string;
  readonly keyFile?: string;
}

type Result<T> = { readonly value: T } | { readonly problem: string };

const PARAMETERS = ["host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation"] as const;

/** Whether a mode of TLS verifies the certificate. Each mode with TLS verifies it, except `no-verify`. */
const VERIFIES: ReadonlyMap<string, boolean> = new Map([
  ["require", true],
  ["verify-ca", true],
  ["verify-full", true],
  ["no-verify", false],
]);

const NOT_ENCODED =
  "must name a login before @, and have the characters / ? # % @ of login and password percent-encoded " +
  "(%2F %3F %23 %25 %40)";

/** Reads the URL of a database. A problem quotes no value of the URL, which may be a part of a password. */
export function readDatabaseUrl(text: string): Result<DatabaseUrl> {
  const [, authority, rest = ""] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (authority === undefined) return { problem: "must be a URL that starts with postgres: or postgresql:" };
  if (!authority.includes("@") || rest.includes("#")) return { problem: NOT_ENCODED };
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  // A URL with a login must have a host, and the folder of a socket is a parameter.
  const spelled = place === "" ? text.replace("@", "@localhost") : text;
  if (place.includes(",") || /[?&]host=[^&]*(?:,|%2c)/i.test(rest)) {
    return { problem: "must name one host: the server connects to one, and does not choose among several" };
  }
  if (!URL.canParse(spelled)) return { problem: "must be a URL: is its port a number?" };
  const url = new URL(spelled);
  const { searchParams } = url;
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.some((known) => known === name));
  if (unknown !== undefined) {
    return { problem: `must not hold ${unknown}=: its parameters are ${PARAMETERS.join(", ")}` };
  }
  try {
    const user = decodeURIComponent(url.username);
    if (user === "") return { problem: NOT_ENCODED };
    const host = searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1");
    const port = Number(searchParams.get("port") ?? (url.port || 5432));
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return { problem: "must have a port from 1 to 65535" };
    const tls = readTls(searchParams);
    if (tls && "problem" in tls) return tls;
    const database = decodeURIComponent(url.pathname.slice(1)) || user;
    const password = decodeURIComponent(url.password);
    return { value: { host, port, user, password, database, ...(tls && { tls: tls.value }) } };
  } catch {
    return { problem: NOT_ENCODED };
  }
}

/** @returns `undefined` if the URL does not ask for TLS. */
function readTls(parameters: URLSearchParams): Result<DatabaseTls> | undefined {
  const [mode, authorities, certificateFile, keyFile, negotiation] = (
    ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation"] as const
  ).map((name) => parameters.get(name) ?? undefined);
  if (mode === "disable") return undefined;
  const asksForTls = [mode, authorities, certificateFile, keyFile, negotiation].some((value) => value !== undefined);
  if (!asksForTls) return undefined;
  const verifies = VERIFIES.get(mode ?? "verify-full");
  if (verifies === undefined) return { problem: `must have sslmode=disable, ${[...VERIFIES.keys()].join(", ")}` };
  if (negotiation !== undefined && negotiation !== "postgres" && negotiation !== "direct") {
    return { problem: "must have sslnegotiation=postgres or direct" };
  }
  return {
    value: {
      verifies,
      direct: negotiation === "direct",
      ...(authorities !== undefined && { authorities }),
      ...(certificateFile !== undefined && { certificateFile }),
      ...(keyFile !== undefined && { keyFile }),
    },
  };
}

/** The place of a database for messages: `login@host:port/database`. */
export const placeOf = ({ user, host, port, database }: Omit<DatabaseUrl, "password" | "tls">): string =>
  `${user}@${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
