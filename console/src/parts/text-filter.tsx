// A text filter: it applies with Enter, or when the field loses the focus.
import { useState } from "preact/hooks";

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
  const [applied, setApplied] = useState(value);
  // Not in an effect, which runs after the page is shown, and would drop what was typed by then.
  if (value !== applied) {
    setApplied(value);
    setText(value);
  }
  return (
    <label class="wide">
      {name}
      <input type="search" value={text} placeholder={placeholder} maxLength={maxLength} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} onChange={() => apply(text.trim())} />
    </label>
  );
}
