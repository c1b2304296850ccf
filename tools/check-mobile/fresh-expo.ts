import { deepEqual, equal, match, ok } from "node:assert/strict";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { declarationsFor } from "../../packages/react-native/src/app-config/declarations.ts";
import { ROOT } from "../pack/manifest.ts";
import { writeFromGuide } from "./guide.ts";
import { jestCounts } from "../suite/jest-counts.ts";
import { bin, type ProgramRunner } from "../suite/run.ts";
import type { Suite } from "../suite/suite.ts";

export const APP = join(import.meta.dirname, "fresh-expo-app");
/** The guide's code that `index.ts` of the app imports. */
export const GUIDE_CODE = ["signals.ts", "send-signals.ts", "payment.ts", "root.ts", "consent-list.ts"];
const PERMISSION = "android.permission.ACCESS_NETWORK_STATE";

/**
 * Checks a new Expo app with an `app.config.ts` and the guide's code, as far as this is possible without building
 * native code. The bundle is made in the example's folder, where Metro has already compiled most of it.
 */
export async function checkFreshExpoApp(
  suite: Suite,
  folder: string,
  runner: ProgramRunner,
  example: string,
): Promise<void> {
  makeApp(folder, example);
  const doctor = () => runner.run(bin("device-risk-signals"), ["doctor"]);
  const configure = (change: (code: string) => string): void => writeFromGuide(folder, ["app.config.ts"], change);

  await suite.check("fresh Expo app: doctor reports that app.config.ts lacks the plugin", async () => {
    configure((code) => code.replace(/ {2}plugins: .*\n/, ""));
    const { code, out } = await doctor();
    equal(code, 1);
    match(out, /^missing +app\.config\.ts: the plugin "@device-risk-signals\/react-native"$/m);
  });
  await suite.check("fresh Expo app: doctor names the permissions that fields of network need", async () => {
    configure((code) => code.replace(/, permissions: \[[^\]]*\]/, ""));
    const { code, out } = await doctor();
    equal(code, 0);
    match(
      out,
      new RegExp(`^optional +app\\.config\\.ts: "${PERMISSION}" .* gives network: isConnected, .*isVpnActive`, "m"),
    );
  });
  await suite.check("fresh Expo app: doctor finds nothing missing in the guide's app.config.ts", async () => {
    configure((code) => code);
    const { code, out } = await doctor();
    equal(code, 0);
    ok(!out.includes("gives network"), out);
  });
  await suite.check("fresh Expo app: prebuild declares queries, schemes and the app's permission", async () => {
    await runner.must(bin("expo"), "prebuild", "--no-install", "--platform", "all");
    const manifest = readFileSync(join(folder, "android/app/src/main/AndroidManifest.xml"), "utf8");
    const plist = readFileSync(join(folder, "ios/myapp/Info.plist"), "utf8");
    const { packages, schemes } = declarationsFor(["os_integrity"]);
    deepEqual(
      [...packages.map((name) => `android:name="${name}"`), PERMISSION].filter((text) => !manifest.includes(text)),
      [],
    );
    deepEqual(
      schemes.filter((scheme) => !plist.includes(`<string>${scheme}</string>`)),
      [],
    );
    const { code, out } = await doctor();
    equal(code, 0);
    ok(!out.includes("gives network"), out);
  });
  await suite.check(
    "fresh Expo app: types of the guide's code",
    async () => void (await runner.must(bin("tsc"), "--noEmit")),
  );
  await suite.tests("fresh Expo app: Jest, with the guide's set-up", () => jestCounts(runner, folder));
}

/** Makes the files of `create-expo-app`, with the packages that the example has installed. */
function makeApp(folder: string, example: string): void {
  const { dependencies } = JSON.parse(readFileSync(join(example, "package.json"), "utf8")) as Record<string, object>;
  const manifest = { name: "my-app", version: "1.0.0", private: true, main: "index.ts", dependencies };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const settings = { strict: true, types: ["jest", "node"] };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "expo/tsconfig.base", compilerOptions: settings, include: ["*.ts", "__tests__"] }),
  );
  for (const file of ["babel.config.js", "jest.config.js"])
    cpSync(join(ROOT, "examples/mobile", file), join(folder, file));
  cpSync(APP, folder, { recursive: true });
  symlinkSync(join(example, "node_modules"), join(folder, "node_modules"));
  writeFromGuide(folder, [...GUIDE_CODE, "jest.setup.js"]);
}
