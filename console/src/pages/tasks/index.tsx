// The tasks of this Worker: the list, or one of them.
import { place } from "../../route.ts";
import { TaskList } from "./list.tsx";
import { TaskPage } from "./task.tsx";
import "./tasks.css";

export function TasksPage() {
  const { path, query } = place.value;
  const [, agent, id] = path;
  if (agent === undefined || id === undefined) return <TaskList />;
  const owner = query.get("owner") ?? undefined;
  return <TaskPage key={`${agent}/${id}/${owner ?? ""}`} task={{ agent, id, owner }} />;
}
