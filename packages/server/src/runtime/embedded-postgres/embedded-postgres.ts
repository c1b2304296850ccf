import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { hasCode, OperatorError } from "../../base/errors/operator-error.ts";
import { withDeadline } from "../../base/dependencies/deadline.ts";
import { freeBytes } from "../../base/dependencies/readiness.ts";
import { BoundedClient } from "../../store/postgres/bounded-client.ts";
import type { DatabaseOptions } from "../../store/postgres/database.ts";
import { isTransient, sqlState } from "../../store/postgres/errors.ts";
import { lockSessionShared, tryLockSession, unlockSession } from "../../store/postgres/advisory-locks.ts";
import { LOCKS } from "../../store/postgres/locks.ts";
import { isAwayState, SQL_STATES } from "../../store/postgres/sql-states.ts";
import { query, sql } from "../../store/postgres/statement.ts";
import type { OnError } from "../../base/ports.ts";
import { type Binaries, findBinaries } from "./binaries.ts";
import { chooseLauncher, type Launcher } from "./unprivileged.ts";

const DATABASE = "drs";
const OWNER = "postgres";
/** A login that owns no object: it is granted the serving role and no more. */
const SERVING_LOGIN = "drs_app";
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 60_000;
/** Time limits for joining and leaving. A PostgreSQL on this host that gives no answer for longer counts as hanging. */
const CONNECT_WITHIN_MS = 5_000;
const LEAVE_WITHIN_MS = 2_000;
const POLL_MS = 25;
const STOP_CHILD_WITHIN_MS = 10_000;
/** Maximum length of `sun_path`, the path of a Unix socket, without its final zero byte. */
const MAX_SOCKET_PATH_LENGTH = 107;
/** The codes of errors that say that a role or a database exists, or that another process creates it at this moment. */
const ALREADY_CREATED = new Set<string | undefined>([
  SQL_STATES.duplicateObject,
  SQL_STATES.duplicateDatabase,
  SQL_STATES.uniqueViolation,
]);
const FIND_DATABASE = sql("select 1 from pg_database where datname = $1", ["name"]);
/** What PostgreSQL and initdb write about a full disk. */
const NO_SPACE = /No space left on device/;
/** PostgreSQL does not start with less free space. */
const NEEDED_BYTES = 64 * 1024;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/**
 * The settings for logs keep values out of error messages. With values, the log on a stolen disk would contain keys of
 * rows.
 */
const SETTINGS = [
  "listen_addresses=",
  "unix_socket_permissions=0700",
  // Enough connections for a server of forty processes, and for commands.
  "max_connections=400",
  "shared_buffers=128MB",
  // With more WAL, segments are used again. Such a segment need not be filled with zeros while commits wait.
  "min_wal_size=512MB",
  "max_wal_size=2GB",
  "checkpoint_timeout=15min",
  "wal_compression=off",
  "log_error_verbosity=terse",
  "log_min_error_statement=panic",
  "log_parameter_max_length_on_error=0",
  "log_line_prefix=%m [%p] ",
];

export interface EmbeddedOptions {
  /** The absolute path of the data directory. */
  readonly dataDir: string;
  /** Whether this user is the server. A data directory has at most one server at a time. */
  readonly asServer: boolean;
  /** Whether a database is created if the data directory has none. Default: yes. */
  readonly creates?: boolean;
  /** Called when PostgreSQL has ended unexpectedly, and when it could not be started or stopped. */
  readonly onError: OnError;
  /** Binaries of another PostgreSQL. Default: those of the optional dependency. */
  readonly binaries?: Binaries;
}

/**
 * The PostgreSQL in the data directory, shared by the server and every command: the first user starts it, and the last
 * one stops it. If a killed user left it running, the next user adopts it. Each user is counted by a lock of its
 * connection, which PostgreSQL releases when the user is killed.
 */
export class EmbeddedPostgres {
  readonly #options: EmbeddedOptions;
  readonly #binaries: Binaries;
  readonly #launcher: Launcher;
  readonly #cluster: string;
  readonly #socketDir: string;
  #user: pg.Client | undefined;
  #restarting: Promise<void> | undefined;
  #closed = false;
  /** Size of the log before the latest start of PostgreSQL. */
  #logStart = 0;

  private constructor(options: EmbeddedOptions, binaries: Binaries, launcher: Launcher, socketDir: string) {
    this.#options = options;
    this.#binaries = binaries;
    this.#launcher = launcher;
    this.#cluster = join(options.dataDir, "postgres");
    this.#socketDir = socketDir;
  }

  /** @throws installation-missing if there is no database and `creates` is false. @throws OperatorError */
  static async open(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
    const { creates = true } = options;
    if (!creates) await requireCluster(options.dataDir);
    const binaries = options.binaries ?? (await findBinaries());
    await makePrivate(options.dataDir);
    const launcher = await chooseLauncher(join(options.dataDir, "postgres"), [binaries.home]);
    await launcher.own(options.dataDir);
    const socketDir = await socketDirectory(options.dataDir, launcher);
    const embedded = new EmbeddedPostgres(options, binaries, launcher, socketDir);
    await embedded.#initialize();
    try {
      await embedded.#join();
      await (creates ? embedded.#prepareDatabase() : embedded.#requireDatabase());
    } catch (error) {
      await embedded.close();
      throw sqlState(error) === SQL_STATES.diskFull ? diskFull(options.dataDir) : error;
    }
    return embedded;
  }

  /** The login that owns the tables. */
  get owner(): DatabaseOptions {
    const setting = `${this.#options.dataDir}, DRS_DATA_DIR`;
    return { host: this.#socketDir, port: 5432, user: OWNER, database: DATABASE, setting };
  }

  get serving(): DatabaseOptions {
    return { ...this.owner, user: SERVING_LOGIN };
  }

  /** The cluster's folder, for a check of its disk. */
  get directory(): string {
    return this.#cluster;
  }

  /** Disconnects this user, and stops PostgreSQL if it has no other. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#restarting?.catch(() => {});
    const user = this.#user;
    this.#user = undefined;
    if (!user) return;
    const expired = (): Error =>
      new OperatorError("embedded-postgres-failed", "the embedded PostgreSQL gave no answer, and was left as it is");
    try {
      const isAlone = await withDeadline({ ms: LEAVE_WITHIN_MS, expired }, () => this.#leave(user));
      if (isAlone) await this.#stop();
    } catch (error) {
      this.#options.onError(error, "stop embedded PostgreSQL");
    } finally {
      await user.end().catch(() => {});
    }
  }

  /**
   * Releases the locks of this user. @returns whether this user is the last one. If so, it excludes other users until
   * PostgreSQL has stopped.
   */
  async #leave(user: pg.Client): Promise<boolean> {
    await unlockSession(user);
    try {
      return await tryLockSession(user, LOCKS.embeddedUsers);
    } catch (error) {
      // Two users leave at the same time. The other user was the last, and stops PostgreSQL while this one disconnects.
      if (isTransient(error)) return false;
      throw error;
    }
  }

  async #initialize(): Promise<void> {
    const version = await readFile(join(this.#cluster, "PG_VERSION"), "utf8").catch(() => undefined);
    const { major } = this.#binaries;
    if (version?.trim() === major) return;
    if (version !== undefined) {
      throw new OperatorError(
        "data-directory-unusable",
        `${this.#cluster} is a cluster of PostgreSQL ${version.trim()}, and this server carries ${major}: ` +
          "dump it with the old version and restore it with this one (docs/operator/upgrade.md)",
      );
    }
    // The cluster is made under a random name and then renamed. If two servers start together, one uses the cluster of
    // the other.
    const draft = join(this.#options.dataDir, `initdb-${randomUUID()}`);
    await mkdir(draft, { mode: 0o700 });
    await this.#launcher.own(draft);
    const args = ["-D", draft, "-U", OWNER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"];
    const { code, output } = await runProgram(this.#launcher, this.#binaries.initdb, args);
    if (code !== 0) {
      await rm(draft, { recursive: true, force: true });
      if (NO_SPACE.test(output)) throw diskFull(this.#options.dataDir);
      throw new OperatorError(
        "embedded-postgres-failed",
        `the database could not be initialised in ${this.#options.dataDir}: ${lastLines(output)}`,
      );
    }
    await rename(draft, this.#cluster).catch(async (error: NodeJS.ErrnoException) => {
      await rm(draft, { recursive: true, force: true });
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  }

  /** Connects as a user of the cluster, starting PostgreSQL if it does not run. */
  async #join(): Promise<void> {
    const deadline = Date.now() + START_WITHIN_MS;
    let child: ChildProcess | undefined;
    for (;;) {
      try {
        this.#user = await this.#connectAsUser();
        return;
      } catch (error) {
        if (hasCode(error, "data-directory-in-use")) throw error;
        if (isRefusal(error) || Date.now() > deadline) {
          // No other process can use a PostgreSQL that refuses its owner or does not answer him.
          if (child && !hasEnded(child)) await stopChild(child);
          throw new OperatorError(
            "embedded-postgres-failed",
            `the database did not start: ${reasonOf(error)}. Its log ends with:\n${await this.#logTail()}`,
            { cause: error },
          );
        }
        const absent = ["ENOENT", "ECONNREFUSED"].includes((error as NodeJS.ErrnoException).code ?? "");
        // PostgreSQL ended right after its start, because another PostgreSQL, or processes of a killed one, still use
        // the directory.
        const failed = child !== undefined && hasEnded(child);
        if (absent && (child === undefined || failed)) {
          if (failed) await this.#requireSpace();
          if (failed) await sleep(250);
          child = await this.#spawn();
        }
        await sleep(POLL_MS);
      }
    }
  }

  async #connectAsUser(): Promise<pg.Client> {
    const client = new BoundedClient({
      ...this.owner,
      database: "postgres",
      application_name: "drs user",
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
    });
    await client.connect();
    try {
      await lockSessionShared(client, LOCKS.embeddedUsers);
      if (this.#options.asServer && !(await tryLockSession(client, LOCKS.embeddedServer))) {
        throw new OperatorError(
          "data-directory-in-use",
          `another server runs on the data directory ${this.#options.dataDir}`,
        );
      }
      // The user that stops PostgreSQL holds the lock until its own connection ends. If this user gets the lock only
      // then, PostgreSQL is being stopped.
      const running = await this.#readPidFile();
      if (running?.stopping !== false) throw new Error("PostgreSQL is being stopped");
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    client.on("end", () => {
      if (!this.#closed && this.#user === client) this.#restart();
    });
    return client;
  }

  /** Starts PostgreSQL again after it has ended unexpectedly, and tries until this succeeds. */
  #restart(): void {
    this.#user = undefined;
    this.#options.onError(
      new OperatorError("embedded-postgres-lost", "the embedded PostgreSQL ended; the server starts it again"),
      "use embedded PostgreSQL",
    );
    this.#restarting = (async () => {
      while (!this.#closed && !this.#user) {
        await this.#join().catch(async (error: unknown) => {
          this.#options.onError(error, "restart embedded PostgreSQL");
          await sleep(1_000);
        });
      }
    })();
  }

  async #spawn(): Promise<ChildProcess> {
    const log = await this.#openLog();
    const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
    // The option is a list of paths. The path is quoted, so that a comma in it does not end it.
    const socketDir = `"${this.#socketDir.replaceAll('"', '""')}"`;
    const args = ["-D", this.#cluster, "-k", socketDir, ...settings];
    const [command, wrapped] = this.#launcher.wrap(this.#binaries.postgres, args);
    // PostgreSQL gets a separate session, so that Ctrl-C at a terminal does not end it before the drain.
    const child = spawn(command, wrapped, {
      ...this.#launcher.options,
      cwd: this.#cluster,
      env: { LC_ALL: "C", PATH: process.env["PATH"] },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    await log.close();
    child.on("error", (error) => this.#options.onError(error, "start embedded PostgreSQL"));
    child.unref();
    return child;
  }

  /**
   * Called after PostgreSQL has ended at its start: on a full disk it may not even write why.
   * @throws OperatorError if there is no space left.
   */
  async #requireSpace(): Promise<void> {
    const { dataDir } = this.#options;
    const free = await freeBytes(dataDir);
    if ((free !== undefined && free < NEEDED_BYTES) || NO_SPACE.test(await this.#logOfStart())) throw diskFull(dataDir);
  }

  async #openLog(): ReturnType<typeof open> {
    const path = join(this.#options.dataDir, "postgres.log");
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    const isFull = size > MAX_LOG_BYTES;
    if (isFull) await rename(path, `${path}.old`);
    this.#logStart = isFull ? 0 : size;
    return open(path, "a", 0o600);
  }

  /** The log of the latest start of PostgreSQL. */
  async #logOfStart(): Promise<string> {
    const log = await readFile(join(this.#options.dataDir, "postgres.log")).catch(() => Buffer.alloc(0));
    return log.toString("utf8", this.#logStart);
  }

  async #logTail(): Promise<string> {
    return lastLines(await readFile(join(this.#options.dataDir, "postgres.log"), "utf8").catch(() => ""));
  }

  async #prepareDatabase(): Promise<void> {
    const create = async (text: string): Promise<void> => {
      await this.#user?.query(text).catch((error: unknown) => {
        if (!ALREADY_CREATED.has(sqlState(error))) throw error;
      });
    };
    await create(`create role ${SERVING_LOGIN} login`);
    await create(`create database ${DATABASE}`);
  }

  /** Rejects a cluster without the database: a start that was killed may have created only the cluster. */
  async #requireDatabase(): Promise<void> {
    const found = this.#user && (await query(this.#user, FIND_DATABASE, [DATABASE]));
    if (found?.rowCount === 0) throw noDatabase(this.#options.dataDir);
  }

  /** Stops PostgreSQL by a fast shutdown: it ends connections, writes a checkpoint and exits. */
  async #stop(): Promise<void> {
    const running = await this.#readPidFile();
    if (!running) return;
    process.kill(running.pid, "SIGINT");
    const deadline = Date.now() + STOP_WITHIN_MS;
    while (Date.now() < deadline) {
      // Another user may start PostgreSQL again at once, and the file of that PostgreSQL must remain.
      if ((await this.#readPidFile())?.instance !== running.instance) return;
      await sleep(POLL_MS);
    }
    throw new OperatorError("embedded-postgres-failed", "the embedded PostgreSQL did not stop in time");
  }

  /** The lines of `postmaster.pid`, which PostgreSQL writes: process id, directory, start time, …, status. */
  async #readPidFile(): Promise<{ pid: number; instance: string; stopping: boolean } | undefined> {
    const content = await readFile(join(this.#cluster, "postmaster.pid"), "utf8").catch(() => undefined);
    if (content === undefined) return undefined;
    const [pid, , started, , , , , status] = content.split("\n");
    return { pid: Number(pid), instance: `${pid} ${started}`, stopping: status?.trim() === "stopping" };
  }
}

/** Whether PostgreSQL answers that it does not let its owner in, so that waiting does not help. */
function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !isAwayState(state) && state !== SQL_STATES.tooManyConnections;
}

/** The last attempt to connect, in words. PostgreSQL's own text is in the log, which follows. */
function reasonOf(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `it refuses its owner (SQLSTATE ${state})`;
  const { code, message } = error as NodeJS.ErrnoException;
  return `no connection within ${START_WITHIN_MS / 1_000} s (${code ?? message})`;
}

/** Whether a process has ended, also by a signal: then it has no exit code. */
const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Stops a PostgreSQL that this process has started, by a fast shutdown, and then by force. */
async function stopChild(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const giveUp = setTimeout(() => child.kill("SIGQUIT"), STOP_CHILD_WITHIN_MS);
  child.kill("SIGINT");
  await ended;
  clearTimeout(giveUp);
}

/** Files that a data directory may hold before there is a cluster in it. */
const OWN_NAMES = /^(initdb-.+|postgres\.log|socket|lost\+found)$/;

const noDatabase = (dataDir: string): OperatorError =>
  new OperatorError(
    "installation-missing",
    `there is no database in ${dataDir} yet: run drs migrate, start drs serve, or set DRS_DATABASE_URL for an external one`,
  );

/**
 * @throws installation-missing if the data directory has no cluster, data-directory-unusable if it has other content.
 */
async function requireCluster(dataDir: string): Promise<void> {
  await rejectForeignFolder(dataDir);
  const isThere = await stat(join(dataDir, "postgres", "PG_VERSION")).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw directoryUnfit(dataDir, error);
    },
  );
  if (!isThere) throw noDatabase(dataDir);
}

/**
 * Rejects a folder with other content. If the setting names a wrong folder, the content of this folder must not
 * become private to PostgreSQL.
 */
async function rejectForeignFolder(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.includes("postgres") || names.every((name) => OWN_NAMES.test(name))) return;
  throw new OperatorError(
    "data-directory-unusable",
    `${folder} holds other things than a database of this server: name a folder of its own in DRS_DATA_DIR`,
  );
}

async function makePrivate(folder: string): Promise<void> {
  await rejectForeignFolder(folder);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  } catch (cause) {
    throw directoryUnfit(folder, cause as NodeJS.ErrnoException);
  }
}

const diskFull = (folder: string): OperatorError =>
  new OperatorError(
    "embedded-postgres-failed",
    `the database can't be started: no space left on device: ${folder}. Free some space, or choose another folder in DRS_DATA_DIR`,
  );

const directoryUnfit = (folder: string, cause: NodeJS.ErrnoException): OperatorError =>
  new OperatorError(
    "data-directory-unusable",
    `the data directory ${folder} can't be made or made private (${cause.code}): choose another in DRS_DATA_DIR`,
    { cause },
  );

/**
 * Returns the folder of the socket: `socket` in the data directory or, if its path is too long, a private temporary
 * folder, whose name is made from the path of the data directory.
 */
async function socketDirectory(dataDir: string, launcher: Launcher): Promise<string> {
  const near = join(dataDir, "socket");
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const fits = Buffer.byteLength(join(near, ".s.PGSQL.5432")) <= MAX_SOCKET_PATH_LENGTH;
  const folder = fits ? near : join(tmpdir(), `drs-${process.getuid?.() ?? 0}-${name}`);
  await mkdir(folder, { mode: 0o700 }).then(
    () => launcher.own(folder),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
  // The owner of an existing folder is not changed: other users may write to the temporary folder, and place a link or
  // a socket there.
  const found = await lstat(folder);
  const { uid, mode } = found;
  if (!found.isDirectory() || (launcher.owner !== undefined && uid !== launcher.owner) || (mode & 0o077) !== 0) {
    throw new OperatorError(
      "data-directory-unusable",
      `${folder} is not a private folder of this user: remove it, or choose a shorter DRS_DATA_DIR`,
    );
  }
  return folder;
}

async function runProgram(
  launcher: Launcher,
  command: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const [wrapped, wrappedArgs] = launcher.wrap(command, args);
  const child = spawn(wrapped, wrappedArgs, {
    ...launcher.options,
    cwd: "/",
    env: { LC_ALL: "C", PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (chunk: Buffer): void => {
    output += chunk.toString("utf8");
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

function lastLines(output: string): string {
  return output.trim().split("\n").slice(-5).join("\n");
}
