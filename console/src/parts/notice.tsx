// Short messages at the edge of the page, which screen readers announce.
import { signal } from "@preact/signals";
import { Icon } from "./icon.tsx";

interface Notice {
  id: number;
  text: string;
  isBad: boolean;
}

const notices = signal<readonly Notice[]>([]);
let count = 0;

/** How long a message about a success is shown. A message about a problem stays until it is closed. */
const STAYS_MS = 4000;

/** Shows a message. */
export function notify(text: string, { isBad = false } = {}): void {
  const notice = { id: ++count, text, isBad };
  notices.value = [...notices.value.slice(-3), notice];
  if (!isBad) setTimeout(() => close(notice.id), STAYS_MS);
}

function close(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, isBad }) => (
        <p key={id} class={isBad ? "notice bad" : "notice"}>
          <span>{text}</span>
          <button type="button" class="plain" aria-label="Close the message" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </div>
  );
}
