import type { FieldState } from "@device-risk-signals/react-native";
import { StyleSheet, Text, View } from "react-native";
import type { Field } from "./probes";
import { MONOSPACE, usePalette } from "./theme";

interface FieldRowProps {
  readonly name: string;
  readonly field: Field;
  /** The state of the field; `undefined` before a collection. */
  readonly state: FieldState<unknown> | undefined;
}

/**
 * A field with its value. An omitted field is shown with a dashed frame and in italics, so that it looks different from
 * `false` or `0`. The states `skipped`, `timeout` and `error` are those of the whole probe, so the card of the probe
 * shows them once.
 */
export function FieldRow({ name, field, state }: FieldRowProps) {
  const { text, muted, line } = usePalette();
  if (field.fields && state?.state === "observed") {
    return <Members name={name} field={field} value={state.value as object} />;
  }
  const value = state?.state === "observed" ? valueText(state.value, field.unit) : undefined;
  const isOmitted = state?.state === "omitted";
  const said = value ?? (isOmitted ? "omitted, not observed" : "no value");
  return (
    <View
      accessible
      accessibilityLabel={`${name}: ${said}. ${field.meaning}`}
      style={[styles.row, { borderColor: line }]}
    >
      <View style={styles.first}>
        <Text style={[styles.name, { color: text }]}>{name}</Text>
        {value !== undefined && (
          <Text selectable style={[styles.value, { color: text }]}>
            {value}
          </Text>
        )}
        {isOmitted && <Text style={[styles.omitted, { color: muted, borderColor: muted }]}>omitted</Text>}
      </View>
      <Text style={[styles.meaning, { color: muted }]}>{field.meaning}</Text>
    </View>
  );
}

/** The members of an object, shown as fields. A member that is missing is omitted, too. */
function Members({ name, field, value }: { readonly name: string; readonly field: Field; readonly value: object }) {
  return Object.entries(field.fields ?? {}).map(([member, memberField]) => {
    const found = Object.entries(value).find(([key]) => key === member);
    const state = found
      ? ({ state: "observed", value: found[1] as unknown } as const)
      : ({ state: "omitted" } as const);
    return <FieldRow key={member} name={`${name}.${member}`} field={memberField} state={state} />;
  });
}

const NO_UNIT = new Set<string | undefined>([undefined, "none"]);

/** Shows a value as the event contains it, without rounding and in the same unit. */
export function valueText(value: unknown, unit: string | undefined): string {
  const text = typeof value === "string" ? `“${value}”` : JSON.stringify(value);
  return NO_UNIT.has(unit) ? text : `${text} ${unit}`;
}

const styles = StyleSheet.create({
  row: { borderTopWidth: StyleSheet.hairlineWidth, gap: 4, paddingVertical: 10 },
  first: { alignItems: "flex-start", columnGap: 12, flexDirection: "row", flexWrap: "wrap", rowGap: 4 },
  name: { flexGrow: 1, fontFamily: MONOSPACE, fontSize: 13, lineHeight: 20 },
  value: { flexShrink: 1, fontSize: 15, fontWeight: "600", lineHeight: 20 },
  omitted: {
    borderRadius: 6,
    borderStyle: "dashed",
    borderWidth: 1,
    fontSize: 13,
    fontStyle: "italic",
    lineHeight: 18,
    paddingHorizontal: 6,
  },
  meaning: { fontSize: 13, lineHeight: 18 },
});
