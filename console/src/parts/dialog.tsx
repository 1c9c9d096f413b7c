// A native dialog of the browser: it keeps the focus, and Escape closes it.
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    // The browser closes the dialog by itself when Escape is pressed repeatedly.
    const closed = () => latest.current();
    if (shown !== null && !shown.open) shown.showModal();
    shown?.addEventListener("close", closed);
    return () => {
      shown?.removeEventListener("close", closed);
      shown?.close();
      // The dialog may be removed from the page by now; the browser then does not restore the focus.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={heading} onCancel={(event) => (event.preventDefault(), close())}>
      <div class="dialog-head">
        <h2 id={heading}>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
