// Finding and keys over the whole page: the button, the palette, and the list of keys.
import { useEffect } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import type { Pages } from "./found.ts";
import { hasSingleKeys, KEYS, listenToKeys, opened, PALETTE_KEY, setSingleKeys } from "./keys.ts";
import { Palette } from "./palette.tsx";
import "./find.css";

/** The button that opens the palette. */
export function FindButton() {
  return (
    <button type="button" class="find-button small" aria-keyshortcuts="Control+K Meta+K" onClick={() => (opened.value = "palette")}>
      <Icon name="search" />
      <span>Find</span>
      <kbd aria-hidden="true">{PALETTE_KEY}</kbd>
    </button>
  );
}

/** What is open of the two. */
export function Finding({ pages }: { pages: Pages }) {
  useEffect(() => listenToKeys(), []);
  const close = () => (opened.value = undefined);
  if (opened.value === "palette") return <Palette pages={pages} close={close} />;
  return opened.value === "keys" ? <Keys close={close} /> : null;
}

function Keys({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <div class="stack">
        <dl class="keys">
          {KEYS.map(([key, does]) => (
            <div key={key}>
              <dt>{key.split(", ").map((one) => <kbd key={one}>{one}</kbd>)}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <label class="row">
          <input type="checkbox" checked={hasSingleKeys.value} onChange={(event) => setSingleKeys(event.currentTarget.checked)} />
          Single keys, without Ctrl or ⌘
        </label>
        <p class="quiet">They do nothing while you type.</p>
      </div>
    </Dialog>
  );
}
