import type { FetchFunction } from "@device-risk-signals/host-client";
import type { CollectedEvent } from "@device-risk-signals/react-native";
import { useState } from "react";
import { View } from "react-native";
import { Badge, Button, Card, Entry, Heading, Note } from "./controls";
import { type Endpoint, resultWords, type ResultWords, sendEvent } from "./send-event";

interface SenderProps {
  readonly event: CollectedEvent | undefined;
  readonly endpoint: Endpoint;
  readonly onChange: (endpoint: Endpoint) => void;
  readonly fetch: FetchFunction;
}

/** Asks where to send the event, and shows the result. */
export function Sender({ event, endpoint, onChange, fetch }: SenderProps) {
  const [words, setWords] = useState<ResultWords>();
  const [isSending, setSending] = useState(false);
  const entry = (name: keyof Endpoint, label: string) => (
    <Entry
      label={label}
      secret={name === "token"}
      value={endpoint[name]}
      onChange={(value) => onChange({ ...endpoint, [name]: value })}
    />
  );
  const send = async (sent: CollectedEvent): Promise<void> => {
    setSending(true);
    setWords(undefined);
    try {
      setWords(resultWords(await sendEvent(sent, endpoint, fetch)));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      setWords({ tone: "bad", badge: "not sent", lines: [error.message] });
    } finally {
      setSending(false);
    }
  };
  return (
    <Card>
      <Heading>Send</Heading>
      <Note>To an endpoint of your own, such as the one that npm start begins: it prints all of this.</Note>
      {entry("baseUrl", "Base URL")}
      {entry("token", "Session token")}
      {entry("actionId", "Action id")}
      {entry("actionType", "Action type")}
      {entry("session", "Action session")}
      <Note live>{eventNote(event, endpoint)}</Note>
      <Button
        main
        title={isSending ? "Sending…" : "Send"}
        disabled={!event || isSending}
        onPress={() => event && void send(event)}
      />
      {words && (
        <View accessibilityLiveRegion="polite" style={{ gap: 6 }}>
          <Badge tone={words.tone}>{words.badge}</Badge>
          {words.lines.map((line) => (
            <Note key={line}>{line}</Note>
          ))}
        </View>
      )}
    </Card>
  );
}

function eventNote(event: CollectedEvent | undefined, { session }: Endpoint): string {
  if (!event) return "There is no event yet. Collect one first.";
  if (event.session_id === session) return `The event of ${event.collected_at} is sent.`;
  return `The event was collected for the session ${event.session_id}. Collect again for this one.`;
}
