import type { Meter, OnError } from "../ports.ts";
import { type BodyScanner, compiledScanner, type Scan, WasmScanner } from "./scanner.ts";

/** After so many errors every body takes the slow path. */
const MAX_FAILURES = 8;

export interface ScanBodyPorts {
  readonly meter: Pick<Meter, "scanned">;
  readonly onError: OnError;
}

/** Scans a body, or leaves it to the slow path. Never throws. */
export type ScanBody = (body: Uint8Array) => Scan | undefined;

/** @param open makes a scanner. It is called again after an error, which may have left the memory in any state. */
export function createScanBody({ meter, onError }: ScanBodyPorts, open: () => BodyScanner = openScanner): ScanBody {
  let failures = 0;
  let scanner: BodyScanner | undefined;
  return (body) => {
    if (failures === MAX_FAILURES) return undefined;
    try {
      scanner ??= open();
      const scan = scanner.scan(body);
      meter.scanned(scan ? "accepted" : "unsure");
      return scan;
    } catch (error) {
      // A runtime without SIMD will not have it later.
      failures = scanner ? failures + 1 : MAX_FAILURES;
      scanner = undefined;
      meter.scanned("failed");
      onError(error, "scan body");
      return undefined;
    }
  };
}

const openScanner = (): BodyScanner => new WasmScanner(compiledScanner());
