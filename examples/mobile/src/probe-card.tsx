import { type ProbeId, readField } from "@device-risk-signals/react-native";
import { useState } from "react";
import { Pressable, StyleSheet, Text, View } from "react-native";
import { Badge, Card, Note, Toggle } from "./controls";
import { FieldRow } from "./field-row";
import { outcomeWords } from "./outcome";
import { fieldsOn, phonePlatform, probeOf } from "./probes";
import { MONOSPACE, usePalette } from "./theme";
import type { Collected } from "./use-intel";

interface ProbeCardProps {
  readonly id: ProbeId;
  readonly consented: boolean;
  readonly onConsent: (consented: boolean) => void;
  readonly collected: Collected | undefined;
}

/** One probe: its consent, its outcome and duration, and its fields when the card is open. */
export function ProbeCard({ id, consented, onConsent, collected }: ProbeCardProps) {
  const { text, muted, accent } = usePalette();
  const [isOpen, setOpen] = useState(false);
  const probe = probeOf(id);
  const platform = phonePlatform();
  const fields = fieldsOn(probe, platform);
  const words = collected && outcomeWords(collected.event.probes[id]);
  const duration = collected?.durations.get(id);
  const stateOf = (name: string) => collected && readField(collected.event, id, name as never, platform);
  const observed = fields.filter(([name]) => stateOf(name)?.state === "observed").length;
  const count = `${words?.tone === "good" ? `${observed} of ` : ""}${fields.length} field${fields.length === 1 ? "" : "s"}`;
  return (
    <Card>
      <View style={styles.first}>
        <View style={styles.names}>
          <Text accessibilityRole="header" style={[styles.title, { color: text }]}>
            {probe.title}
          </Text>
          <Text style={[styles.id, { color: muted }]}>{id}</Text>
        </View>
        <Toggle label={`Consent to ${probe.title}`} value={consented} onChange={onConsent} />
      </View>
      <Pressable
        accessibilityLabel={`${probe.title}: ${words?.badge ?? "not collected"}, ${count}`}
        accessibilityRole="button"
        accessibilityState={{ expanded: isOpen }}
        onPress={() => setOpen(!isOpen)}
        style={styles.state}
      >
        {words && <Badge tone={words.tone}>{words.badge}</Badge>}
        {words && duration !== undefined && <Note>{`${duration.toFixed(1)} ms`}</Note>}
        <Text style={[styles.fold, { color: accent }]}>
          {count}
          {isOpen ? "  ▴" : "  ▾"}
        </Text>
      </Pressable>
      {isOpen && (
        <View>
          <Note>{words && words.tone !== "good" ? words.meaning : probe.meaning}</Note>
          <View style={styles.fields}>
            {fields.map(([name, field]) => (
              <FieldRow key={name} name={name} field={field} state={stateOf(name)} />
            ))}
          </View>
        </View>
      )}
    </Card>
  );
}

const styles = StyleSheet.create({
  first: { alignItems: "center", flexDirection: "row", gap: 12 },
  names: { flex: 1, gap: 2 },
  title: { fontSize: 17, fontWeight: "600" },
  id: { fontFamily: MONOSPACE, fontSize: 13 },
  state: {
    alignContent: "center",
    alignItems: "center",
    columnGap: 10,
    flexDirection: "row",
    flexWrap: "wrap",
    minHeight: 44,
  },
  fold: { flexGrow: 1, fontSize: 14, fontWeight: "600", textAlign: "right" },
  fields: { marginTop: 10 },
});
