import { readFile } from "node:fs/promises";
import { OperatorError } from "../../base/errors/operator-error.ts";
import { readRoleMapping, type RoleMapping } from "./role-mapping.ts";

/** A role file. The server reads it when it starts and when it gets the signal SIGHUP. */
export class RoleFile {
  current: RoleMapping;
  readonly #path: string;

  private constructor(path: string, mapping: RoleMapping) {
    this.#path = path;
    this.current = mapping;
  }

  /** @throws role-file-invalid */
  static async open(path: string): Promise<RoleFile> {
    return new RoleFile(path, await readMapping(path));
  }

  /** Reads the file again. @throws role-file-invalid; the previous mapping then stays active. */
  async reload(): Promise<void> {
    const mapping = await readMapping(this.#path);
    const { people, former } = this.current;
    this.current = { ...mapping, former: new Set([...former, ...people.values()]) };
  }
}

async function readMapping(path: string): Promise<RoleMapping> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError("role-file-invalid", `DRS_OIDC_ROLE_FILE: ${path} can't be read (${cause.code})`, {
      cause,
    });
  });
  const result = readRoleMapping(text);
  if (result.ok) return result.mapping;
  const lines = result.problems.map((problem) => `  ${problem}`);
  throw new OperatorError("role-file-invalid", [`DRS_OIDC_ROLE_FILE: ${path} is not valid:`, ...lines].join("\n"));
}
