import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Makes a certificate for this name and its key with the system's `openssl`. @returns the paths of the files */
export async function makeCertificate(folder: string, name: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  const files = ["-out", cert, "-keyout", key];
  await promisify(execFile)("openssl", [
    "req",
    "-x509",
    ...curve,
    "-nodes",
    "-days",
    "2",
    "-subj",
    `/CN=${name}`,
    ...files,
  ]);
  return { cert, key };
}
