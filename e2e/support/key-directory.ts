import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";

/** Whether the key directory of this environment has the secret of this name. */
export function secretExists(environment: Readonly<Record<string, string>>, name: string): Promise<boolean> {
  const digest = createHash("sha256").update(name).digest("hex");
  return stat(join(environment["DRS_KEY_DIR"] ?? "", "secrets", digest.slice(0, 2), digest)).then(
    () => true,
    () => false,
  );
}
