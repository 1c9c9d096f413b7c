// Webhooks: those in trouble of all agents or of one agent, or all webhooks of one task.
import { place } from "../../route.ts";
import { WebhookList } from "./list.tsx";
import { TaskWebhooks } from "./task.tsx";
import "./webhooks.css";

export function WebhooksPage() {
  const [, agent, task] = place.value.path;
  if (agent !== undefined && task !== undefined) return <TaskWebhooks key={`${agent}/${task}`} agent={agent} task={task} />;
  return <WebhookList agent={agent ?? ""} />;
}
