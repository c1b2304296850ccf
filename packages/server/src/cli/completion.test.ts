import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { everyCommand, runAsGiven } from "../../../../e2e/support/command.ts";

const scriptOf = async (shell: string): Promise<string> => {
  const { code, stdout } = await runAsGiven({}, "completion", shell);
  expect(code).toBe(0);
  return stdout;
};

const run = (shell: string, ...args: readonly string[]): string[] =>
  execFileSync(shell, [...args], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "");

/** What each shell proposes for the last of the words. */
const SHELLS: Readonly<Record<string, (script: string, words: readonly string[]) => string[]>> = {
  bash: (script, words) =>
    run(
      "bash",
      "--norc",
      "-c",
      `${script}COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_drs; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // Stubs: the real functions work only while a person types.
  zsh: (script, words) =>
    run(
      "zsh",
      "-f",
      "-c",
      `compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }
_describe() { local all=(\${(P)\${@[-1]}}); print -l -- \${all%%:*}; }
${script}
words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; PREFIX=$words[-1]; _drs`,
    ).filter((word) => word.startsWith(words.at(-1) ?? "")),
  fish: (script, words) =>
    run("fish", "--no-config", "-c", `${script}cd (mktemp -d); complete -C '${words.join(" ")}'`).map(
      (line) => line.split("\t")[0] ?? "",
    ),
};

describe.each(Object.entries(SHELLS))("the script of drs completion %s", (shell, complete) => {
  const isInstalled = spawnSync(shell, ["--version"]).status === 0;

  it.skipIf(!isInstalled)(
    "proposes commands, options and their values, in the shell itself if it is installed",
    async () => {
      const script = await scriptOf(shell);
      const propose = (...words: readonly string[]): string[] => complete(script, ["drs", ...words]).toSorted();
      expect(propose("ho")).toEqual(["hold"]);
      const ofHold = everyCommand().flatMap(([group, name]) => (group === "hold" && name !== undefined ? [name] : []));
      expect(propose("hold", "")).toEqual(ofHold.toSorted());
      expect(propose("hold", "list", "--w")).toEqual(["--wide"]);
      expect(propose("hold", "list", "-o", "")).toEqual(["csv", "json", "table"]);
      expect(propose("case", "open", "--account", "hold", "--cat")).toEqual(["--category"]);
      expect(propose("feature", "backfill", "s")).toEqual(["start", "status"]);
      expect(propose("completion", "")).toEqual(["bash", "fish", "zsh"]);
    },
  );

  it("has every command", async () => {
    const script = await scriptOf(shell);
    const missing = everyCommand().filter((path) => path.length > 0 && !script.includes(`' ${path.join(" ")}'`));
    expect(missing).toEqual([]);
  });
});
