import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";

export interface Done {
  readonly code: number;
  /** The standard output. */
  readonly out: string;
  /** Standard output and standard error together, for a person. */
  readonly all: string;
}

/** The path of a program of an installed package. To run it by this path is faster than by `npx`. */
export function bin(name: string): string {
  return `node_modules/.bin/${name}`;
}

/** Maximum length of the printed output of a failed program. */
const TAIL_CHARACTERS = 4_000;

/** Runs programs in one folder, with the current Node. Expo sends no telemetry and uses no network. */
export class ProgramRunner {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  /**
   * @param temporary the folder that programs use as the system's temporary folder, so that they use no cache of an
   * earlier run and leave none.
   */
  constructor(folder: string, temporary = tmpdir()) {
    this.#folder = folder;
    this.#environment = {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
      TMPDIR: temporary,
      CI: "1",
      NO_COLOR: "1",
      EXPO_OFFLINE: "1",
      EXPO_NO_TELEMETRY: "1",
      EXPO_NO_GIT_STATUS: "1",
    };
  }

  /** Runs a command, and resolves for any exit code. */
  run(command: string, args: readonly string[]): Promise<Done> {
    return new Promise((resolve) => {
      const options = { cwd: this.#folder, env: this.#environment, maxBuffer: 64 * 1024 * 1024 };
      execFile(command, args, options, (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error ? 1 : 0;
        const why = error && typeof error.code !== "number" ? `${error.message}\n` : "";
        resolve({ code, out: stdout, all: why + stdout + stderr });
      });
    });
  }

  /** Runs a command. @throws Error with the end of its output if its exit code is not 0. */
  async must(command: string, ...args: readonly string[]): Promise<string> {
    const { code, out, all } = await this.run(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${all.slice(-TAIL_CHARACTERS)}`);
    return out;
  }

  /** Installs what the lock file names, without install scripts of packages. */
  async install(): Promise<void> {
    const ci = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    // A cache may be older than the lock file.
    if ((await this.run("npm", [...ci, "--prefer-offline"])).code !== 0) await this.must("npm", ...ci);
  }
}
