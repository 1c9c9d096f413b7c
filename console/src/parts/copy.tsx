// A button that copies a text to the clipboard.
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { notify } from "./notice.tsx";

/** `of` returns the text when the button is pressed. */
export function CopyButton({ of, label = "Copy", isBare = false }: { of: () => string; label?: string; isBare?: boolean }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(of());
      setDone(true);
      setTimeout(() => setDone(false), 1500);
      notify("Copied.");
    } catch {
      notify("The browser does not let this page use the clipboard.", { isBad: true });
    }
  };
  return (
    <button type="button" class={isBare ? "plain" : "small"} onClick={() => void copy()} aria-label={isBare ? label : undefined} title={isBare ? label : undefined}>
      <Icon name={isDone ? "check" : "copy"} />
      {!isBare && <span>{label}</span>}
    </button>
  );
}
