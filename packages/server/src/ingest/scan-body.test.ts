import { describe, expect, it } from "vitest";
import { createScanBody } from "./scan-body.ts";

describe("an error of the scanner", () => {
  function scanBodyWith(open: () => { scan(): undefined }): {
    results: string[];
    errors: unknown[];
    run: () => unknown;
  } {
    const results: string[] = [];
    const errors: unknown[] = [];
    const meter = { scanned: (result: string) => void results.push(result) };
    const scanBody = createScanBody({ meter, onError: (...error) => void errors.push(error) }, open);
    return { results, errors, run: () => scanBody(Buffer.alloc(0)) };
  }

  it("leaves the body to the slow path, is counted and reported, and makes a new instance scan the next body", () => {
    let opened = 0;
    const trap = new Error("unreachable");
    const { results, errors, run } = scanBodyWith(() => {
      const isFirst = opened++ === 0;
      return {
        scan: () => {
          if (isFirst) throw trap;
          return undefined;
        },
      };
    });
    expect([run(), run(), run()]).toEqual([undefined, undefined, undefined]);
    expect(results).toEqual(["failed", "unsure", "unsure"]);
    expect(errors).toEqual([[trap, "scan body"]]);
    expect(opened).toBe(2);
  });

  it("ends scanning after several errors, or at once if the runtime can't scan", () => {
    const failing = scanBodyWith(() => ({
      scan: () => {
        throw new Error("unreachable");
      },
    }));
    for (let request = 0; request < 20; request++) failing.run();
    expect(failing.errors).toHaveLength(8);
    const unable = scanBodyWith(() => {
      throw new Error("no SIMD");
    });
    for (let request = 0; request < 20; request++) unable.run();
    expect(unable.errors).toHaveLength(1);
  });
});
