import { Foreign, visible } from "./foreign.tsx";

const UUID = /\b([0-9a-f]{8})-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g;

/** Who acted, and with which credential: its id is cut, because the title has the whole of it. */
export function Actor({ text }: { readonly text: string }) {
  const end = text.indexOf(" (");
  if (end < 0) return <Foreign text={text} />;
  return (
    <span title={visible(text)}>
      <Foreign text={text.slice(0, end)} />{" "}
      <span className="quiet">
        <Foreign text={text.slice(end + 1).replaceAll(UUID, "$1…")} />
      </span>
    </span>
  );
}
