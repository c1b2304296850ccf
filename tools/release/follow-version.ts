/**
 * The last step of `npm run release:version`: updates the files that name the packed packages by their version. The
 * example app and the guide for apps install tarballs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, VERSION } from "../pack/manifest.ts";

interface Lock {
  readonly packages: Readonly<Record<string, { version?: string; readonly dependencies?: Record<string, string> }>>;
}

const TARBALL = /(device-risk-signals-(?:contract|admin-api|server|host-client|react-native)-)\d+\.\d+\.\d+(\.tgz)/g;
const OURS = /(^|\/)@device-risk-signals\//;

for (const file of ["docs/integrator-mobile.md", "examples/mobile/package.json", "examples/mobile/package-lock.json"]) {
  rewrite(file, (text) => text.replaceAll(TARBALL, `$1${VERSION}$2`));
}
rewrite("examples/mobile/package-lock.json", (text) => {
  const lock = JSON.parse(text) as Lock;
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (!OURS.test(path)) continue;
    locked.version = VERSION;
    for (const name of Object.keys(locked.dependencies ?? {})) {
      if (OURS.test(name) && locked.dependencies) locked.dependencies[name] = VERSION;
    }
  }
  return `${JSON.stringify(lock, undefined, 2)}\n`;
});

function rewrite(file: string, change: (text: string) => string): void {
  const path = join(ROOT, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}
