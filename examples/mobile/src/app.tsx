import type { FetchFunction } from "@device-risk-signals/host-client";
import { useState } from "react";
import { KeyboardAvoidingView, Platform, Pressable, ScrollView, StatusBar, StyleSheet, Text, View } from "react-native";
import { Checklist, useTicks } from "./checklist";
import { Inspector } from "./inspector";
import type { Endpoint } from "./send-event";
import { Sender } from "./sender";
import { usePalette } from "./theme";
import { useIntel } from "./use-intel";

const SCREENS = ["Inspect", "Send", "Checklist"] as const;

/**
 * The values of `npm start` that are always the same: its address (through `adb reverse` on Android), and the type and
 * session of its action. The user enters the token and the id of the action.
 */
const LOCAL: Endpoint = {
  baseUrl: "http://localhost:8080",
  token: "",
  actionId: "",
  actionType: "try",
  session: "session-1",
};

/** @param fetch tests replace it; default: the platform's. */
export function App({ fetch = globalThis.fetch }: { readonly fetch?: FetchFunction }) {
  const { page, text, muted } = usePalette();
  const [screen, setScreen] = useState<(typeof SCREENS)[number]>("Inspect");
  const [endpoint, setEndpoint] = useState(LOCAL);
  const [ticked, toggle] = useTicks();
  const intel = useIntel();
  return (
    <KeyboardAvoidingView behavior="padding" style={[styles.page, { backgroundColor: page }]}>
      <StatusBar barStyle="default" />
      <ScrollView
        contentContainerStyle={styles.content}
        contentInsetAdjustmentBehavior="automatic"
        keyboardShouldPersistTaps="handled"
      >
        <Text accessibilityRole="header" style={[styles.title, { color: text }]}>
          Device Risk Signals
        </Text>
        <Text style={[styles.subtitle, { color: muted }]}>
          What the SDK observes on this device. Nothing leaves it unless you send it.
        </Text>
        <View accessibilityRole="tablist" style={styles.tabs}>
          {SCREENS.map((each) => (
            <Tab key={each} title={each} selected={each === screen} onPress={() => setScreen(each)} />
          ))}
        </View>
        {screen === "Inspect" && <Inspector intel={intel} sessionId={endpoint.session} />}
        {screen === "Send" && (
          <Sender event={intel.collected?.event} endpoint={endpoint} onChange={setEndpoint} fetch={fetch} />
        )}
        {screen === "Checklist" && <Checklist ticked={ticked} onToggle={toggle} />}
      </ScrollView>
    </KeyboardAvoidingView>
  );
}

interface TabProps {
  readonly title: string;
  readonly selected: boolean;
  readonly onPress: () => void;
}

function Tab({ title, selected, onPress }: TabProps) {
  const { accent, muted } = usePalette();
  return (
    <Pressable
      accessibilityRole="tab"
      accessibilityState={{ selected }}
      onPress={onPress}
      style={[styles.tab, { borderColor: selected ? accent : "transparent" }]}
    >
      <Text style={[styles.tabText, { color: selected ? accent : muted }]}>{title}</Text>
    </Pressable>
  );
}

/** On Android the status bar covers the page; on iOS the scroll view avoids it. */
const TOP = Platform.OS === "android" ? (StatusBar.currentHeight ?? 0) : 0;

const styles = StyleSheet.create({
  page: { flex: 1 },
  content: {
    alignSelf: "center",
    gap: 12,
    maxWidth: 720,
    padding: 16,
    paddingBottom: 64,
    paddingTop: 16 + TOP,
    width: "100%",
  },
  title: { fontSize: 28, fontWeight: "700", letterSpacing: -0.4 },
  subtitle: { fontSize: 15, lineHeight: 21 },
  tabs: { flexDirection: "row", gap: 8 },
  tab: { borderBottomWidth: 2, justifyContent: "center", minHeight: 48, paddingHorizontal: 8 },
  tabText: { fontSize: 16, fontWeight: "600" },
});
