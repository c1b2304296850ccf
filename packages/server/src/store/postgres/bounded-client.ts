import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { getCACertificates } from "node:tls";
import { callbackify } from "node:util";
import type pg from "pg";
import { Client, DatabaseError } from "../../base/driver.ts";
import { type DatabaseUrl, placeOf, readDatabaseUrl } from "../../base/config/database-url.ts";
import type { Dependency } from "../../base/dependencies/dependencies.ts";
import { ConnectError, type NamedDatabase } from "./connect-error.ts";
import { SQL_STATES } from "./sql-states.ts";
import { sessionOptions } from "./session-settings.ts";
import { query, sql } from "./statement.ts";

/** The limits of calls on a connection. */
export interface Bound {
  readonly dependency: Dependency;
  /** Backends that may still work for a connection that was given up. */
  readonly abandoned: AbandonedBackends;
  /** Whether an error says that there is no connection, and not that the database answered. */
  readonly isAway: (error: unknown) => boolean;
  /** Whether a statement may take longer than the deadline while its backend is still working. */
  readonly isPatient?: boolean;
  /** Whether the connection belongs to a monitor. */
  readonly isProbe?: boolean;
}

export interface BoundedClientOptions extends pg.ClientConfig {
  readonly bound?: Bound;
  /** The variable and the option that name the database, or its folder, for messages. */
  readonly setting?: string;
}

/** What runs statements on a connection. */
export type Statements = Pick<pg.Client, "query">;

/** The backend of a connection that was given up while a statement was under way. */
export interface AbandonedBackend {
  readonly pid: number;
  /**
   * Time of the connection by the database's clock, in seconds: a backend that started later with the same process id
   * is another one.
   */
  readonly connectedAt: string;
  /** Whether a monitor may end the backend while it waits for a lock. */
  readonly mayEnd: boolean;
}

/** Backends that may still work for a connection that was given up, until a monitor has seen their end. */
export class AbandonedBackends {
  readonly #all = new Set<AbandonedBackend>();
  #listener: () => void = () => {};

  add(backend: AbandonedBackend): void {
    this.#all.add(backend);
    this.#listener();
  }

  onAdded(listener: () => void): void {
    this.#listener = listener;
  }

  get all(): readonly AbandonedBackend[] {
    return [...this.#all];
  }

  delete(backend: AbandonedBackend): void {
    this.#all.delete(backend);
  }
}

const LOCATED_STATES: ReadonlySet<string> = new Set([SQL_STATES.diskFull, SQL_STATES.protocolViolation]);

/** Time in milliseconds for which `end` waits for a peer that does not read. */
const END_WITHIN_MS = 1_000;

/**
 * The serving role can't read when its own backend started, so this query returns its own time, which is a little
 * later. This time is compared with `backend_start`. Therefore it is PostgreSQL's time, and not that of the schema's
 * clock.
 */
const IDENTIFY_BACKEND = sql("select pg_backend_pid() as pid, extract(epoch from now())::text as connected_at", [], {
  pid: "int4",
  connected_at: "text",
});

/**
 * Condition on `pg_stat_activity` for a backend that runs no commit: it runs no statement, or it waits for its client,
 * as a COPY waits for rows. No time limit of PostgreSQL ends such a COPY.
 */
export const IS_IDLE = "(state like 'idle%' or wait_event is not distinct from 'ClientRead')";

const IS_WORKING = sql(
  `select not ${IS_IDLE} as works, case when ${IS_IDLE} then pg_terminate_backend(pid) end
    from pg_stat_activity where pid = $1 and extract(epoch from backend_start) <= $2::numeric`,
  ["int4", "numeric"],
  { works: "bool", case: "bool?" },
);

type Callback = (error: unknown, result: unknown) => void;
type Method = (...args: readonly unknown[]) => Promise<unknown>;
type Overloaded = (...args: readonly unknown[]) => Promise<unknown> | undefined;

/**
 * A connection whose calls end within the deadline of their dependency. A call that expires destroys the connection,
 * so that every other call on it ends, and a pool replaces it.
 */
export class BoundedClient extends Client {
  readonly #options: BoundedClientOptions;
  #backend: AbandonedBackend | undefined;

  constructor(options: BoundedClientOptions) {
    super(withoutEnvironment(options));
    // `pg` has no option that overrides this variable of its environment (PGREPLICATION).
    this.#parameters.replication = undefined;
    this.#options = options;
    // If the connection breaks, the calls on it report the error. Without a listener, the event would end the process.
    this.on("error", () => {});
    this.end = withCallback(() => this.#end()) as unknown as typeof this.end;
    const { bound } = options;
    this.connect = withCallback(() => (bound ? this.#connect() : this.#open())) as unknown as typeof this.connect;
    if (bound) this.query = withCallback((...args) => this.#query(args)) as unknown as typeof this.query;
  }

  /**
   * The process id of the backend as the backend itself reports it. A pooler may report a different id to the client.
   */
  get pid(): number | undefined {
    return this.#backend?.pid;
  }

  /** Sends the statements of `send` in one write, under one deadline. */
  together<T>(send: (statements: Statements) => Promise<T>): Promise<T> {
    return this.#bounded(() => {
      this.#socket.cork();
      try {
        return send(this.#statements);
      } finally {
        this.#socket.uncork();
      }
    });
  }

  #connect(): Promise<unknown> {
    return this.#bounded(async () => {
      await this.#open().catch((error: Error) => {
        throw error instanceof ConnectError ? error : new ConnectError(error, this.#named);
      });
      const [row] = (await query(this.#statements, IDENTIFY_BACKEND)).rows;
      const mayEnd = this.#options.bound?.isPatient ?? false;
      this.#backend = row && { pid: row.pid, connectedAt: row.connected_at, mayEnd };
      return this;
    });
  }

  /** Reads the files of certificates for each connection, so that renewed ones are used. */
  async #open(): Promise<void> {
    for (const { option, parameter, path } of certificatesOf(this.#options)) {
      const value = await readFile(path, "utf8").catch((error: Error) => {
        throw new ConnectError(error, this.#named, [
          `can't be used: the file ${path} in ${parameter}= can't be read`,
          "put it back, or correct the parameter",
        ]);
      });
      // `pg` hides a private key from inspections of the client, too.
      Object.defineProperty(this.ssl, option, { value, enumerable: option !== "key" });
    }
    await super.connect();
  }

  #query(args: readonly unknown[]): Promise<unknown> {
    return this.#bounded(() => this.#send(...args));
  }

  /** Runs statements for a caller that sets the deadline. */
  get #statements(): Statements {
    return { query: this.#send.bind(this) } as unknown as Statements;
  }

  /**
   * Runs a statement with a callback, because with the promises of `pg` V8 keeps nearly every statement, its values and
   * its rows until it next collects the old generation: bench/tries.md has the measurement. The stack of an error
   * begins in the parser of `pg`.
   */
  #send(...args: readonly unknown[]): Promise<unknown> {
    const send = super.query.bind(this) as unknown as (...args: readonly unknown[]) => Promise<unknown>;
    const [statement] = args;
    // Such a statement has a callback or events of its own.
    if (typeof (statement as { readonly submit?: unknown } | undefined)?.submit === "function") return send(statement);
    return new Promise((resolve, reject) => {
      void send(...args, (error: unknown, result: unknown) => (error ? reject(this.#located(error)) : resolve(result)));
    });
  }

  /** Adds to the error of a full disk or a pooler which database has it. */
  #located(error: unknown): unknown {
    const isLocated = error instanceof DatabaseError && LOCATED_STATES.has(error.code ?? "");
    return isLocated ? new ConnectError(error, this.#named) : error;
  }

  async #end(): Promise<void> {
    const timer = setTimeout(() => this.#socket.destroy(), END_WITHIN_MS);
    await super.end();
    clearTimeout(timer);
  }

  #bounded<T>(work: () => Promise<T>): Promise<T> {
    const { bound } = this.#options;
    if (!bound) return work();
    const { dependency, isAway, isPatient, isProbe = false } = bound;
    const call = (signal: AbortSignal): Promise<T> => {
      signal.addEventListener("abort", () => this.#abandon(signal.reason as Error), { once: true });
      return work();
    };
    return dependency.call(call, { isAway, isProbe, ...(isPatient && { isProgressing: () => this.#isWorking() }) });
  }

  #abandon(reason: Error): void {
    this.#socket.destroy(reason);
    if (this.#backend) this.#options.bound?.abandoned.add(this.#backend);
  }

  /**
   * Asks over another connection whether the backend is still working. An idle backend has lost its client, and is
   * ended.
   */
  async #isWorking(): Promise<boolean> {
    const { bound, options: _, ...login } = this.#options;
    if (!bound || !this.#backend) return false;
    const probe = { ...bound, isPatient: false, isProbe: true };
    const other = new BoundedClient({ ...login, pipeline: false, bound: probe });
    try {
      await other.connect();
      await other.query("set role none");
      const { rows } = await query(other, IS_WORKING, [this.#backend.pid, this.#backend.connectedAt]);
      return rows[0]?.works ?? false;
    } catch (error) {
      // If the database answers with an error, for example because it has no free connection, the work need not end.
      return error instanceof DatabaseError;
    } finally {
      await other.end();
    }
  }

  get #parameters(): { replication: string | undefined } {
    return (this as unknown as { readonly connectionParameters: { replication: string | undefined } })
      .connectionParameters;
  }

  get #named(): NamedDatabase {
    const { bound, setting } = this.#options;
    const place = placeOf({ user: this.user ?? "", host: this.host, port: this.port, database: this.database ?? "" });
    return { title: bound?.dependency.title ?? "database", place, setting };
  }

  get #socket(): Socket {
    return (this as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;
  }
}

/**
 * Gives every option of `pg` a value, because `pg` reads a missing or empty one from the environment of the process: the
 * variables of libpq and a password file have no effect.
 * @throws TypeError if there is no login.
 */
function withoutEnvironment({ connectionString, ...options }: BoundedClientOptions): pg.ClientConfig {
  const named = connectionString === undefined ? options : { ...options, ...loginOf(connectionString) };
  if (!named.user) throw new TypeError("a connection needs a login");
  return {
    sslnegotiation: "postgres",
    ...named,
    host: named.host ?? "localhost",
    port: named.port ?? 5432,
    database: named.database ?? named.user,
    password: named.password || (() => ""),
    ssl: named.ssl ?? false,
    options: named.options ?? sessionOptions(),
    application_name: named.application_name ?? "drs",
    client_encoding: "UTF8",
  };
}

/** @throws TypeError if the text is no URL of a database. */
function databaseOf(connectionString: string): DatabaseUrl {
  const read = readDatabaseUrl(connectionString);
  if ("problem" in read) throw new TypeError(`the URL of a database ${read.problem}`);
  return read.value;
}

function loginOf(connectionString: string): pg.ClientConfig {
  const { tls, ...login } = databaseOf(connectionString);
  if (!tls) return { ...login, ssl: false };
  const ssl = {
    rejectUnauthorized: tls.verifies,
    ...(tls.authorities === "system" && { ca: [...getCACertificates("system")] }),
  };
  return { ...login, ssl, ...(tls.direct && { sslnegotiation: "direct" }) };
}

/** A file of certificates, the option of `node:tls` for its text, and the parameter of the URL that names it. */
interface CertificateFile {
  readonly option: "ca" | "cert" | "key";
  readonly parameter: string;
  readonly path: string;
}

function certificatesOf({ connectionString }: BoundedClientOptions): readonly CertificateFile[] {
  const { authorities, certificateFile, keyFile } =
    (connectionString === undefined ? undefined : databaseOf(connectionString).tls) ?? {};
  const named = [
    { option: "ca", parameter: "sslrootcert", path: authorities === "system" ? undefined : authorities },
    { option: "cert", parameter: "sslcert", path: certificateFile },
    { option: "key", parameter: "sslkey", path: keyFile },
  ] as const;
  return named.flatMap(({ path, ...file }) => (path === undefined ? [] : [{ ...file, path }]));
}

/**
 * Runs statements under one deadline. The statements that `send` begins before it first waits are sent in one write.
 * @param client if it is no bounded client, the statements have no deadline.
 */
export const runTogether = <T>(client: Statements, send: (statements: Statements) => Promise<T>): Promise<T> =>
  client instanceof BoundedClient ? client.together(send) : send(client);

/** Pools pass a callback; other callers await a promise. */
function withCallback(method: Method): Overloaded {
  return (...args) => {
    const callback = args.at(-1);
    if (typeof callback !== "function") return method(...args);
    callbackify(() => method(...args.slice(0, -1)))(callback as Callback);
    return undefined;
  };
}
