// A labelled choice of one value.

interface ChoiceProps {
  name: string;
  /** The CSS class of the label. */
  class?: string;
  value: string;
  /** The options: each with its value and its label. */
  of: readonly (readonly [value: string, word: string])[];
  choose: (value: string) => void;
}

export function Choice({ name, class: look, value, of, choose }: ChoiceProps) {
  return (
    <label class={look}>
      <span>{name}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {of.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
