import { useState } from "react";
import { Pressable, StyleSheet, Text } from "react-native";
import { Card, Heading, Note } from "./controls";
import { usePalette } from "./theme";

/** The checklist for tests on phones in docs/integrator-mobile.md, word for word. */
export const CHECKLIST = [
  "Android 7, 10, 13, 15; a phone, a tablet, a Chromebook, an emulator of Android Studio",
  "iOS 15, 17, 18; an iPhone, an iPad, the simulator, the iPad app on a Mac",
  "each probe that the dictionary lists for the platform is `success`, with plausible values",
  "`isCallActive` during a call on iOS, with and without CallKit in the app; `executableMemoryMappings` on Android",
  "a work profile, a clone of the app and LiveContainer: `androidUserId`, `isDataFolderOwn`, `runsInsideAnotherApp`",
  "a tap by `adb`, an added certificate authority, a wrong clock: their counts and `networkTimeOffsetMs`",
  "a stock phone shows no root, hook, emulator or jailbreak marker",
  "no prompt appears, and nothing is written to the app's storage",
  "a running benchmark ends when the collection is aborted, and when consent is withdrawn",
  "a rooted phone and a jailbroken phone show the expected markers",
] as const;

/**
 * The ticks of a checklist for tests on phones. They are kept only in memory, because one item of the list is that the
 * app writes nothing.
 */
export function useTicks(): readonly [ticked: ReadonlySet<string>, toggle: (item: string) => void] {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const toggle = (item: string) =>
    setTicked(new Set(ticked.has(item) ? [...ticked].filter((each) => each !== item) : [...ticked, item]));
  return [ticked, toggle];
}

interface ChecklistProps {
  readonly ticked: ReadonlySet<string>;
  readonly onToggle: (item: string) => void;
}

export function Checklist({ ticked, onToggle }: ChecklistProps) {
  const { text, muted, accent, onAccent } = usePalette();
  return (
    <Card>
      <Heading>On a device</Heading>
      <Note
        live
      >{`${ticked.size} of ${CHECKLIST.length} done. The app stores no ticks: they are lost when it ends.`}</Note>
      {CHECKLIST.map((item) => {
        const checked = ticked.has(item);
        return (
          <Pressable
            key={item}
            accessibilityRole="checkbox"
            accessibilityState={{ checked }}
            accessibilityLabel={item}
            onPress={() => onToggle(item)}
            style={styles.item}
          >
            <Text
              style={[
                styles.box,
                {
                  borderColor: checked ? accent : muted,
                  backgroundColor: checked ? accent : undefined,
                  color: onAccent,
                },
              ]}
            >
              {checked ? "✓" : ""}
            </Text>
            <Text style={[styles.text, { color: text }]}>{item}</Text>
          </Pressable>
        );
      })}
    </Card>
  );
}

const styles = StyleSheet.create({
  item: { flexDirection: "row", gap: 12, minHeight: 48, paddingVertical: 6 },
  box: {
    borderRadius: 6,
    borderWidth: 2,
    fontSize: 14,
    fontWeight: "700",
    height: 24,
    lineHeight: 20,
    textAlign: "center",
    width: 24,
  },
  text: { flex: 1, fontSize: 15, lineHeight: 22 },
});
