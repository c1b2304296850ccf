import {
  AbortError,
  type CollectedEvent,
  consentFor,
  DeviceIntel,
  MisuseError,
  type ObservationWindow,
  type ProbeId,
} from "@device-risk-signals/react-native";
import { useRef, useState } from "react";
import { PROBE_IDS } from "./probes";

export interface Collected {
  readonly event: CollectedEvent;
  /** Durations in milliseconds, as `onProbe` reported them. */
  readonly durations: ReadonlyMap<ProbeId, number>;
}

export interface Intel {
  readonly consented: ReadonlySet<ProbeId>;
  readonly collected: Collected | undefined;
  /** The reason why there is no event, if the screen does not show it otherwise. */
  readonly notice: string | undefined;
  readonly isCollecting: boolean;
  /** Whether the observation window of `transaction_safety` is open. */
  readonly isObserving: boolean;
  readonly consentTo: (probes: readonly ProbeId[]) => void;
  readonly collect: (sessionId: string) => Promise<void>;
  readonly stop: () => void;
  readonly observe: (on: boolean) => void;
}

const OBSERVED_PROBE: ProbeId = "transaction_safety";

/**
 * The SDK in the form that a screen needs. Every probe is enabled, so only the consent decides whether a probe runs.
 */
export function useIntel(): Intel {
  const durations = useRef(new Map<ProbeId, number>());
  const running = useRef<AbortController>(undefined);
  const [intel] = useState(
    () =>
      new DeviceIntel({
        probes: Object.fromEntries(PROBE_IDS.map((probe) => [probe, { enabled: true }])),
        // The deadline is long, because probes that measure time run one after the other.
        deadlineMs: 30_000,
        onProbe: ({ probe, durationMs }) => durations.current.set(probe, durationMs),
      }),
  );
  const [consented, setConsented] = useState<ReadonlySet<ProbeId>>(new Set());
  const [collected, setCollected] = useState<Collected>();
  const [notice, setNotice] = useState<string>();
  const [isCollecting, setCollecting] = useState(false);
  const [window, setWindow] = useState<ObservationWindow>();

  return {
    consented,
    collected,
    notice,
    isCollecting,
    isObserving: window !== undefined,
    consentTo(probes) {
      intel.setConsent(consentFor(...probes));
      const withdrawn = [...consented].filter((probe) => !probes.includes(probe));
      setConsented(new Set(probes));
      if (withdrawn.includes(OBSERVED_PROBE)) setWindow(undefined);
      if (!withdrawn.some((probe) => collected?.event.probes[probe].status === "success")) return;
      // The SDK does not keep the event, but the app does. So the app must drop an event with values of a probe whose
      // consent was withdrawn.
      setCollected(undefined);
      setNotice("Consent was withdrawn, and the event that held the withdrawn values was dropped. Collect again.");
    },
    async collect(sessionId) {
      const controller = new AbortController();
      running.current = controller;
      setCollecting(true);
      setNotice(undefined);
      durations.current = new Map();
      try {
        const event = await intel.collect({ sessionId, signal: controller.signal });
        setCollected({ event, durations: durations.current });
      } catch (error) {
        if (!(error instanceof AbortError || error instanceof MisuseError)) throw error;
        setNotice(error instanceof AbortError ? "Stopped. There is no event." : error.message);
        setCollected(undefined);
      } finally {
        setCollecting(false);
      }
    },
    stop: () => running.current?.abort(),
    observe(on) {
      window?.stop();
      setWindow(on ? intel.observeTransaction() : undefined);
    },
  };
}
