// A field that filters a list during typing, with the number of remaining entries.
import { Icon } from "./icon.tsx";

interface SearchProps {
  name: string;
  sought: string;
  placeholder: string;
  /** The number of entries, for example `3 of 60 skills`. */
  told: string;
  search: (text: string) => void;
}

export function Search({ name, sought, placeholder, told, search }: SearchProps) {
  return (
    <div class="found">
      <label class="search">
        <span>{name}</span>
        <span class="search-field">
          <Icon name="search" />
          <input type="search" value={sought} placeholder={placeholder} onInput={(event) => search(event.currentTarget.value)} />
        </span>
      </label>
      <p class="quiet" role="status">
        {told}
      </p>
    </div>
  );
}

/** True if all searched words occur in the texts. */
export function fits(texts: readonly string[], sought: string): boolean {
  const text = texts.join(" ").toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
