import { Dialog } from "../ui/dialog.tsx";

const KEYS = [
  ["/", "search an account, an event id or an idempotency key"],
  ["Tab, Enter", "go to a row, open it"],
  ["o", "open the observations of the event that is shown"],
  ["p", "pause and resume the live view"],
  ["Esc", "close a dialog"],
  ["?", "this list"],
] as const;

export const KeysDialog = ({ close }: { readonly close: () => void }) => (
  <Dialog title="Keyboard" close={close}>
    <dl className="keys">
      {KEYS.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
