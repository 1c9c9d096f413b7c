// A choice of a period, as a row of radio buttons.

interface PeriodsProps<Name extends string> {
  /** The names of the periods with their labels, in the order in which they are shown. */
  of: Readonly<Record<Name, { word: string }>>;
  value: Name;
  choose: (name: Name) => void;
}

export function Periods<Name extends string>({ of, value, choose }: PeriodsProps<Name>) {
  return (
    <fieldset class="periods">
      <legend class="sr">Period</legend>
      {(Object.keys(of) as Name[]).map((name) => (
        <label key={name}>
          <input type="radio" name="period" checked={name === value} onChange={() => choose(name)} />
          <span>{of[name].word}</span>
        </label>
      ))}
    </fieldset>
  );
}
