// A dialog of the browser's own: focus stays in it, Escape closes it.
import { useEffect, useId, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    if (shown !== null && !shown.open) shown.showModal();
    return () => {
      shown?.close();
      // The dialog may be out of the page by now, and then the browser does not give the focus back.
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
