import { type ReactNode } from "react";
import { Pressable, StyleSheet, Switch, Text, TextInput, View } from "react-native";
import { MONOSPACE, type Tone, usePalette } from "./theme";

/** The minimum height of buttons and entries. Apple recommends at least 44 points for a touch target, Android 48. */
const MIN_TARGET_SIZE = 48;

export function Card({ children }: { readonly children: ReactNode }) {
  const { card, line } = usePalette();
  return <View style={[styles.card, { backgroundColor: card, borderColor: line }]}>{children}</View>;
}

export function Heading({ children }: { readonly children: string }) {
  const { text } = usePalette();
  return (
    <Text accessibilityRole="header" style={[styles.heading, { color: text }]}>
      {children}
    </Text>
  );
}

export function Note({ children, live = false }: { readonly children: string; readonly live?: boolean }) {
  const { muted } = usePalette();
  return (
    <Text accessibilityLiveRegion={live ? "polite" : "none"} style={[styles.note, { color: muted }]}>
      {children}
    </Text>
  );
}

interface ButtonProps {
  readonly title: string;
  readonly onPress: () => void;
  readonly disabled?: boolean;
  /** Whether this is the main button of the screen. */
  readonly main?: boolean;
}

export function Button({ title, onPress, disabled = false, main = false }: ButtonProps) {
  const { accent, onAccent, line } = usePalette();
  const colors = main ? { backgroundColor: accent, borderColor: accent } : { borderColor: line };
  return (
    <Pressable
      accessibilityRole="button"
      accessibilityState={{ disabled }}
      disabled={disabled}
      onPress={onPress}
      style={({ pressed }) => [styles.button, colors, (pressed || disabled) && styles.faded]}
    >
      <Text style={[styles.buttonText, { color: main ? onAccent : accent }]}>{title}</Text>
    </Pressable>
  );
}

/** A word about a state, on a tinted background. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  const { ink, tint } = usePalette().tones[tone];
  return <Text style={[styles.badge, { color: ink, backgroundColor: tint }]}>{children}</Text>;
}

interface ToggleProps {
  /** The text for a screen reader; the visible text may be shorter. */
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
  readonly disabled?: boolean;
}

export function Toggle({ label, value, onChange, disabled = false }: ToggleProps) {
  const { accent, muted } = usePalette();
  return (
    <Switch
      accessibilityLabel={label}
      disabled={disabled}
      onValueChange={onChange}
      thumbColor="#ffffff"
      trackColor={{ true: accent, false: muted }}
      value={value}
    />
  );
}

interface EntryProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly secret?: boolean;
}

/** A labelled line for text that is no prose: a URL, a token, an id. */
export function Entry({ label, value, onChange, secret = false }: EntryProps) {
  const { text, muted, page } = usePalette();
  return (
    <View>
      <Text style={[styles.entryLabel, { color: muted }]}>{label}</Text>
      <TextInput
        accessibilityLabel={label}
        autoCapitalize="none"
        autoComplete="off"
        autoCorrect={false}
        onChangeText={onChange}
        secureTextEntry={secret}
        style={[styles.entry, { color: text, borderColor: muted, backgroundColor: page }]}
        value={value}
      />
    </View>
  );
}

const styles = StyleSheet.create({
  card: { borderRadius: 16, borderWidth: 1, gap: 12, padding: 16 },
  heading: { fontSize: 17, fontWeight: "600" },
  note: { fontSize: 14, lineHeight: 20 },
  button: {
    alignItems: "center",
    borderRadius: 12,
    borderWidth: 1,
    justifyContent: "center",
    minHeight: MIN_TARGET_SIZE,
    paddingHorizontal: 16,
  },
  buttonText: { fontSize: 16, fontWeight: "600" },
  faded: { opacity: 0.5 },
  badge: {
    alignSelf: "flex-start",
    borderRadius: 8,
    fontSize: 13,
    fontWeight: "600",
    overflow: "hidden",
    paddingHorizontal: 8,
    paddingVertical: 3,
  },
  entryLabel: { fontSize: 13, marginBottom: 4 },
  entry: {
    borderRadius: 10,
    borderWidth: 1,
    fontFamily: MONOSPACE,
    fontSize: 14,
    minHeight: MIN_TARGET_SIZE,
    paddingHorizontal: 12,
  },
});
