import { type ReactNode, useEffect, useId, useRef } from "react";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A modal dialog of the platform: it keeps the focus inside, and Esc closes it. */
export function Dialog({ title, close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // The first field, and not the button that closes the dialog.
    dialog.current?.querySelector<HTMLElement>("textarea, input, select")?.focus();
  }, []);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={heading} onClose={close}>
      <div className="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" className="button quiet-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}
