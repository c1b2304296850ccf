import { userInfo } from "node:os";
import { describe, expect, test } from "vitest";
import { describeOperator, readSystemIdentity, ttyOf } from "./operator.ts";

const ROOT = { effectiveUid: 0, name: "root", loginUid: 1000, tty: "pts/3", host: "db-1" };

describe("the actor of an audit entry", () => {
  test("is what the operating system knows about the caller", () => {
    expect(describeOperator(ROOT, undefined)).toBe("cli:root (uid 0, login uid 1000, host db-1, tty pts/3)");
    expect(describeOperator({ effectiveUid: 4711, host: "c" }, undefined)).toBe(
      "cli:uid 4711 (uid 4711, host c, tty none)",
    );
  });

  test("labels what the environment only claims, and shows it as one quoted text", () => {
    expect(describeOperator(ROOT, "alice")).toBe(
      'cli:root (uid 0, login uid 1000, host db-1, tty pts/3; claims SUDO_USER="alice")',
    );
    const forged = describeOperator(ROOT, 'alice") \u001b[2J\ud800\u0000\u{1F600}');
    expect(forged).toContain('; claims SUDO_USER="alice\\") \\u001b[2J\\ufffd\\u0000\\ud83d\\ude00")');
    expect(describeOperator(ROOT, "x".repeat(10_000)).length).toBeLessThan(200);
  });

  test("of this process names its effective user, from the system and not from the environment", () => {
    const before = process.env["USER"];
    process.env["USER"] = "another-user";
    try {
      const { username, uid } = userInfo();
      expect(readSystemIdentity()).toMatchObject({ effectiveUid: uid, name: username });
    } finally {
      if (before === undefined) delete process.env["USER"];
      else process.env["USER"] = before;
    }
  });

  test.each([
    [34816, "pts/0"],
    [34819, "pts/3"],
    [1_083_393, "pts/257"],
    [1025, "tty1"],
    [1088, "ttyS0"],
    [1281, "device 5:1"],
    [0, undefined],
  ])("of a process with tty_nr %i has the terminal %s", (device, tty) => {
    expect(ttyOf(`812 (a ) b) S 1 812 812 ${device} 812 4194304 0`)).toBe(tty);
  });
});
