import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const read = (name: string): string => readFileSync(join(import.meta.dirname, "../..", name), "utf8");

test(".dockerignore excepts what the Dockerfile copies from the checkout", () => {
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, sources = ""]) =>
    sources.split(" "),
  );
  const excepted = [...read(".dockerignore").matchAll(/^!(.*)$/gm)].map(([, path = ""]) => path);
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((path) => !excepted.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([]);
});
