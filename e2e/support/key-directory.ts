import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";

type Environment = Readonly<Record<string, string>>;

/** The file in the key directory of this environment that contains the secret with this name. */
export function secretFile(environment: Environment, name: string): string {
  const digest = createHash("sha256").update(name).digest("hex");
  return join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest);
}

export function secretExists(environment: Environment, name: string): Promise<boolean> {
  return stat(secretFile(environment, name)).then(
    () => true,
    () => false,
  );
}
