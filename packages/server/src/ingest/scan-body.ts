import { type BodyScanner, openScanner, renewedScanner, type Scan } from "@device-risk-signals/scanner";
import type { Meter, OnError } from "../base/ports.ts";

export interface ScanBodyPorts {
  readonly meter: Pick<Meter, "scanned">;
  readonly onError: OnError;
}

/** Scans a body, or leaves it to the slow path. Never throws. */
export type ScanBody = (body: Uint8Array) => Scan | undefined;

/** @param open makes a scanner. It is called again after an error. */
export function createScanBody({ meter, onError }: ScanBodyPorts, open: () => BodyScanner = openScanner): ScanBody {
  const withScanner = renewedScanner(open, (error) => {
    meter.scanned("failed");
    onError(error, "scan body");
  });
  return (body) =>
    withScanner((scanner) => {
      const scan = scanner.scan(body);
      meter.scanned(scan ? "accepted" : "unsure");
      return scan;
    });
}
