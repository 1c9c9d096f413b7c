// A filter that is typed: it applies with Enter, or when the field is left.
import { useEffect, useState } from "preact/hooks";

interface TextFilterProps {
  name: string;
  /** What applies now. */
  value: string;
  placeholder: string;
  apply: (text: string) => void;
}

export function TextFilter({ name, value, placeholder, apply }: TextFilterProps) {
  // What is typed stays while the page is read anew.
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <label class="wide">
      {name}
      <input type="search" value={text} placeholder={placeholder} autocomplete="off" spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} onChange={() => apply(text.trim())} />
    </label>
  );
}
