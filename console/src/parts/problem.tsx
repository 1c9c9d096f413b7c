// A problem as the page shows it, with what can be done.
import { Problem } from "../api/problem.ts";
import { Icon } from "./icon.tsx";

/** Tells of a problem; with `retry` a button asks again. */
export function ProblemBox({ problem, retry }: { problem: unknown; retry?: (() => void) | undefined }) {
  const told = problem instanceof Problem ? problem : new Problem(problem instanceof Error ? problem.message : String(problem));
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p class="problem-text">{told.message}</p>
        {told.violations.length > 0 && (
          <ul>
            {told.violations.map(({ field, description }) => (
              <li key={field}>
                <code>{field}</code>: {description}
              </li>
            ))}
          </ul>
        )}
        <p class="quiet">
          {[told.status > 0 ? `Status ${told.status}` : "", told.reason ?? "", told.requestId === undefined ? "" : `request ${told.requestId}`]
            .filter((text) => text !== "")
            .join(" · ")}
        </p>
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}
