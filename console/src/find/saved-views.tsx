// The saved views above the list of tasks.
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { href } from "../route.ts";
import { isSame, MAX_NAME, removeView, saveView, viewOf, views } from "./views.ts";
import "./find.css";

/** `filters` are those of the shown list. */
export function SavedViews({ filters }: { filters: Readonly<Record<string, string>> }) {
  const [isSaving, setSaving] = useState(false);
  const shown = viewOf("", filters);
  const isFiltered = Object.keys(shown.query).length > 0;
  const isSaved = views.value.some((view) => isSame(view, shown));
  if (views.value.length === 0 && !isFiltered) return null;
  return (
    <nav class="views" aria-label="Saved views">
      <ul>
        {views.value.map((view) => (
          <li key={view.name}>
            <a href={href(["tasks"], view.query)} aria-current={isSame(view, shown) ? "page" : undefined}>
              {view.name}
            </a>
            <button type="button" class="plain" aria-label={`Remove the view ${view.name}`} onClick={() => removeView(view.name)}>
              <Icon name="close" />
            </button>
          </li>
        ))}
        {isFiltered && !isSaved && (
          <li>
            <button type="button" class="small" onClick={() => setSaving(true)}>
              <Icon name="plus" /> Save this view…
            </button>
          </li>
        )}
      </ul>
      {isSaving && <SaveDialog filters={filters} close={() => setSaving(false)} />}
    </nav>
  );
}

function SaveDialog({ filters, close }: { filters: Readonly<Record<string, string>>; close: () => void }) {
  const [wrong, setWrong] = useState<string>();
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget as HTMLFormElement).get("name") ?? "");
    const refused = saveView(viewOf(name, filters));
    if (refused === undefined) close();
    else setWrong(refused);
  };
  return (
    <Dialog title="Save this view" close={close}>
      <form class="stack" onSubmit={save}>
        <label>
          Name
          <input name="name" required maxLength={MAX_NAME} autocomplete="off" autofocus aria-describedby="view-wrong" onInput={() => setWrong(undefined)} />
        </label>
        <p class="quiet">It is kept in this browser. A view of the same name is replaced.</p>
        <p id="view-wrong" class="wrong" role="alert">
          {wrong}
        </p>
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
