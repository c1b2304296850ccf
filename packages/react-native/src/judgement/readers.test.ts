import { describe, expect, it } from "vitest";
import { virtualProcessorMarks } from "./cpu-info.ts";
import { captures } from "./lines.ts";
import { baseName, eachMapping } from "./maps.ts";
import { readMounts } from "./mount-info.ts";
import { readTracerPid } from "./status.ts";
import { LISTENER } from "./tcp-sockets.ts";
import { ABSTRACT_NAME } from "./unix-sockets.ts";

function mappingsOf(text: string): { files: string[]; code: string[] } {
  const files: string[] = [];
  const code: string[] = [];
  eachMapping(
    text,
    (path) => files.push(path),
    (name, permissions) => code.push(`${permissions} ${name}`),
  );
  return { files, code };
}

describe("the reader of memory maps", () => {
  it("reports a file once for all its mappings, and executable mappings by permissions and name", () => {
    const text = [
      "7a10000000-7a101a0000 r--p 00000000 fd:05 3200      /system/lib64/libc.so",
      "7a101a0000-7a105c0000 r-xp 001a0000 fd:05 3200      /system/lib64/libc.so",
      "7a105c0000-7a105d8000 rw-p 005c0000 fd:05 3200      /system/lib64/libc.so",
      "7a106c0000-7a106d8000 rw-p 00000000 00:00 0 ",
      "7a106d8000-7a106e0000 rwxp 00000000 00:00 0 ",
      "7a107c0000-7a107d8000 rw-p 00000000 00:00 0         [anon:dalvik-/system/framework/boot.art]",
      "7a108c0000-7a108d8000 r-xp 00000000 00:00 0         [vdso]",
      "7a109c0000-7a109d8000 r--p 00000000 fd:05 88        /data/app/a b/base.apk",
    ].join("\n");
    expect(mappingsOf(text)).toEqual({
      files: ["/system/lib64/libc.so", "/data/app/a b/base.apk"],
      code: ["r-xp /system/lib64/libc.so", "rwxp ", "r-xp [vdso]"],
    });
  });

  it("reports executable mappings of one name for each change of their permissions", () => {
    const mapping = (permissions: string): string => `a-b ${permissions} 0 0:1 1 /memfd:jit-cache (deleted)`;
    const text = ["r--s", "r-xs", "r-xs", "r--p", "r-xp"].map(mapping).join("\n");
    expect(mappingsOf(text)).toEqual({
      files: ["/memfd:jit-cache (deleted)"],
      code: ["r-xs /memfd:jit-cache (deleted)", "r-xp /memfd:jit-cache (deleted)"],
    });
  });

  it("reads the first line, and a last line without its end", () => {
    expect(mappingsOf("a-b r-xp 0 0:0 0 /x")).toEqual({ files: ["/x"], code: ["r-xp /x"] });
  });

  it.each([
    ["/memfd:frida-agent-64.so (deleted)", "frida-agent-64.so"],
    ["/data/app/x/lib/arm64/liba.so (deleted)", "liba.so"],
    ["/data/app/x/base.apk!/lib/arm64-v8a/libb.so", "libb.so"],
    ["/", ""],
  ])("names %s as %j", (path, name) => {
    expect(baseName(path)).toBe(name);
  });
});

describe("the reader of mountinfo", () => {
  it("reads mounts with and without optional columns", () => {
    const text = [
      "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue",
      "37 35 0:9 / /dev rw - tmpfs tmpfs rw",
      "a line of another kind, as long as a mount",
    ].join("\n");
    expect(readMounts(text)).toEqual([
      {
        device: "98:0",
        root: "/mnt1",
        point: "/mnt2",
        options: "rw,noatime",
        type: "ext3",
        source: "/dev/root",
        superOptions: "rw,errors=continue",
      },
      { device: "0:9", root: "/", point: "/dev", options: "rw", type: "tmpfs", source: "tmpfs", superOptions: "rw" },
    ]);
  });
});

describe("the reader of the process status", () => {
  it.each([
    ["Name:\ta\nTracerPid:\t0\nUid:\t1\n", 0],
    ["TracerPid:\t4711\n", 4711],
    ["Name:\tTracerPid:\t7\nUid:\t1\n", undefined],
    ["Name:\ta\nTracerPid:\t12", undefined],
    ["TracerPid:\tmany\n", undefined],
    ["", undefined],
  ])("%j is traced by %s", (text, pid) => {
    expect(readTracerPid(text)).toBe(pid);
  });
});

it("a socket counts as a listener only if it listens, not if it is connected", () => {
  const text = [
    "  sl  local_address rem_address   st tx_queue rx_queue",
    "   0: 0100007F:69A2 00000000:0000 0A 00000000:00000000 00:00000000 00000000",
    "   1: 6401A8C0:69A3 08080808:69A2 01 00000000:00000000 00:00000000 00000000",
    "  12: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000",
  ].join("\n");
  expect(captures(text, LISTENER)).toEqual(["69A2", "0016"]);
});

it("a socket is abstract if its name begins with @ in the kernel's list", () => {
  const text = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    "0000000000000000: 00000002 00000000 00010000 0001 01 11204 @jdwp control",
    "0000000000000000: 00000002 00000000 00010000 0001 01 11205 /dev/socket/a@b",
    "0000000000000000: 00000002 00000000 00010000 0001 01 11206",
  ].join("\n");
  expect(captures(text, ABSTRACT_NAME)).toEqual(["jdwp control"]);
});

it("a processor counts as virtual only if a line that names it contains a whole word of the list", () => {
  expect(virtualProcessorMarks("flags\t\t: fpu hypervisor lm\nmodel name\t: QEMU Virtual CPU\n")).toEqual([
    "hypervisor",
    "qemu",
  ]);
  expect(virtualProcessorMarks("flags\t: fpu hypervisors\nSerial\t: goldfish\nHardware\t: Goldfishes\n")).toEqual([]);
});
