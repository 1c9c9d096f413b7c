// A text filter: it applies with Enter, or when the field loses the focus.
import { useEffect, useState } from "preact/hooks";

interface TextFilterProps {
  name: string;
  /** The applied filter. */
  value: string;
  placeholder: string;
  maxLength?: number;
  apply: (text: string) => void;
}

export function TextFilter({ name, value, placeholder, maxLength, apply }: TextFilterProps) {
  // The typed text stays while the page is loaded again.
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <label class="wide">
      {name}
      <input type="search" value={text} placeholder={placeholder} maxLength={maxLength} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} onChange={() => apply(text.trim())} />
    </label>
  );
}
