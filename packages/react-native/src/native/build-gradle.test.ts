import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const script = readFileSync(join(import.meta.dirname, "../../android/build.gradle"), "utf8");

const KOTLIN = "org.jetbrains.kotlin.android";

/**
 * Applies the plugins of the script as Gradle does, with a stand-in for the extensions, because no Gradle runs here. The
 * Android plugin registers the extension `kotlin` from version 9 on.
 */
function applied(androidPlugin: 8 | 9): readonly string[] {
  const plugins: string[] = [];
  const extensions = new Set<string>();
  const register = (name: string): void => {
    if (extensions.has(name)) throw new Error(`Cannot add extension with name '${name}'`);
    extensions.add(name);
  };
  for (const line of script.split("\n").filter((line) => line.includes("apply plugin"))) {
    const [, absent, plugin = ""] =
      /^(?:if \(extensions\.findByName\("(\w+)"\) == null\) )?apply plugin: "([\w.]+)"$/.exec(line) ??
      expect.fail(line);
    if (absent !== undefined && extensions.has(absent)) continue;
    if (plugin === KOTLIN || (plugin === "com.android.library" && androidPlugin === 9)) register("kotlin");
    plugins.push(plugin);
  }
  return plugins;
}

it("the script applies the Kotlin plugin where the Android plugin brings none", () => {
  expect(applied(8)).toEqual(["com.android.library", KOTLIN, "com.facebook.react"]);
});

it("the script leaves Kotlin to an Android plugin that registers it", () => {
  expect(applied(9)).toEqual(["com.android.library", "com.facebook.react"]);
});
