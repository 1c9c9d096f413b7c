// A choice of one of some values, with its name.

interface ChoiceProps {
  name: string;
  /** The class of the label. */
  class?: string;
  value: string;
  /** What can be chosen: its value and how people call it. */
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
