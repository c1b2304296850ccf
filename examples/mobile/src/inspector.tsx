import { useState } from "react";
import { Share, StyleSheet, Text, View } from "react-native";
import { Button, Card, Heading, Note, Toggle } from "./controls";
import { summaryOf } from "./outcome";
import { ProbeCard } from "./probe-card";
import { PROBE_IDS } from "./probes";
import { MONOSPACE, usePalette } from "./theme";
import type { Collected, Intel } from "./use-intel";

interface InspectorProps {
  readonly intel: Intel;
  readonly sessionId: string;
}

/** Shows the consent, the collection, and the values of each probe. */
export function Inspector({ intel, sessionId }: InspectorProps) {
  const { consented, collected, notice, isCollecting } = intel;
  const consent = (id: (typeof PROBE_IDS)[number], on: boolean) =>
    intel.consentTo(PROBE_IDS.filter((each) => (each === id ? on : consented.has(each))));
  return (
    <>
      <Card>
        <Heading>Collect</Heading>
        <Note live>{notice ?? (collected ? summaryOf(collected.event) : "Without consent nothing is read.")}</Note>
        {isCollecting ? (
          <Button main title="Stop" onPress={intel.stop} />
        ) : (
          <Button main title="Collect" onPress={() => void intel.collect(sessionId)} />
        )}
        <View style={styles.pair}>
          <View style={styles.half}>
            <Button title="Consent to all" onPress={() => intel.consentTo(PROBE_IDS)} />
          </View>
          <View style={styles.half}>
            <Button title="Withdraw all" onPress={() => intel.consentTo([])} />
          </View>
        </View>
        <TransactionWindow intel={intel} />
      </Card>
      {PROBE_IDS.map((id) => (
        <ProbeCard
          key={id}
          id={id}
          consented={consented.has(id)}
          onConsent={(on) => consent(id, on)}
          collected={collected}
        />
      ))}
      {collected && <EventText collected={collected} />}
    </>
  );
}

/** `transaction_safety` reports screenshots and similar events while this window is open. */
function TransactionWindow({ intel }: { readonly intel: Intel }) {
  const { text } = usePalette();
  return (
    <View style={styles.window}>
      <Text style={[styles.windowText, { color: text }]}>Observe a transaction</Text>
      <Toggle
        label="Observe a transaction"
        value={intel.isObserving}
        onChange={intel.observe}
        disabled={!intel.consented.has("transaction_safety")}
      />
    </View>
  );
}

/** The event in the form in which it would be sent. The system's share sheet copies it. */
function EventText({ collected: { event } }: { readonly collected: Collected }) {
  const { text } = usePalette();
  const [isOpen, setOpen] = useState(false);
  return (
    <Card>
      <Heading>Event</Heading>
      <Note>{`Session ${event.session_id}, collected at ${event.collected_at}.`}</Note>
      <Button title="Copy or share the JSON" onPress={() => void Share.share({ message: JSON.stringify(event) })} />
      <Button title={isOpen ? "Hide the JSON" : "Show the JSON"} onPress={() => setOpen(!isOpen)} />
      {isOpen && (
        <Text selectable style={[styles.json, { color: text }]}>
          {JSON.stringify(event, undefined, 2)}
        </Text>
      )}
    </Card>
  );
}

const styles = StyleSheet.create({
  pair: { flexDirection: "row", flexWrap: "wrap", gap: 12 },
  half: { flexBasis: 140, flexGrow: 1 },
  window: { alignItems: "center", flexDirection: "row", gap: 12, justifyContent: "space-between" },
  windowText: { flexShrink: 1, fontSize: 16 },
  json: { fontFamily: MONOSPACE, fontSize: 12, lineHeight: 17 },
});
