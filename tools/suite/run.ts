import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, dirname } from "node:path";

export interface Done {
  readonly code: number;
  /** Standard output. */
  readonly out: string;
  /** Both, for a person. */
  readonly all: string;
}

/** A program that one of the app's packages brings: what `npx` finds, found sooner. */
export function bin(name: string): string {
  return `node_modules/.bin/${name}`;
}

/** Maximum length of the output of a failed program that is shown. */
const TAIL_CHARACTERS = 4_000;

/** Runs programs in one folder, with the Node that runs this, without network beyond npm's, and without telemetry. */
export class ProgramRunner {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** @param temporary what programs take for the system's, so that no cache of an earlier run is used or left behind. */
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

  /** @throws Error with the end of what it said, when its exit code is not 0. */
  async must(command: string, ...args: readonly string[]): Promise<string> {
    const { code, out, all } = await this.run(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${all.slice(-TAIL_CHARACTERS)}`);
    return out;
  }

  /** Installs what the lock file names, without install scripts of packages. */
  async install(): Promise<void> {
    await this.must("npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
  }
}
