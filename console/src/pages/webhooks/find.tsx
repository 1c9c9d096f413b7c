// A form for opening the webhooks of a task whose webhooks work and so are not in the list.
import { useState } from "preact/hooks";
import { Choice } from "../../parts/choice.tsx";
import { go, href } from "../../route.ts";

export function FindTask({ agents, agent }: { agents: readonly string[]; agent: string }) {
  const [chosen, setChosen] = useState(agent);
  const [task, setTask] = useState("");
  const slug = chosen || agent || agents[0] || "";
  const open = (event: Event) => {
    event.preventDefault();
    if (slug !== "" && task.trim() !== "") go(href(["webhooks", slug, task.trim()]));
  };
  if (slug === "") return null;
  return (
    <details class="card">
      <summary>The webhooks of a task</summary>
      <form class="row hook-find" onSubmit={open}>
        <Choice name="Agent of the task" value={slug} of={[...new Set([...agents, slug])].map((one) => [one, one])} choose={setChosen} />
        <label class="hook-wide">
          Task
          <input required value={task} placeholder="the id of the task" onInput={(event) => setTask(event.currentTarget.value)} />
        </label>
        <button type="submit">Open</button>
      </form>
    </details>
  );
}
