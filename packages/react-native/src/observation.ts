import type { Native } from "./native/native-interface.ts";
import { quietly } from "./quietly.ts";

export interface ObservationWindow {
  /** Ends the window. Further calls have no effect. */
  stop(): void;
}

/**
 * The running windows of each native half. Native code makes one observation for all windows: it begins with the first
 * window and ends with the last one.
 */
const runningWindows = new WeakMap<Native, Set<ObservationWindow>>();

export function beginObservation(native: Native, window: ObservationWindow): void {
  const windows = runningWindows.get(native) ?? new Set();
  runningWindows.set(native, windows.add(window));
  if (windows.size > 1) return;
  const failed = (): void => windows.forEach((each) => each.stop());
  quietly(() => native.startObservation().catch(failed));
}

export function endObservation(native: Native, window: ObservationWindow): void {
  const windows = runningWindows.get(native);
  if (windows?.delete(window) && windows.size === 0) quietly(() => native.stopObservation());
}
