// A problem, with the possible actions.
import { agentOf } from "../api/agents.ts";
import { Problem } from "../api/problem.ts";
import { askToSignIn } from "../session/asking.ts";
import { isSignedIn } from "../session/credentials.ts";
import { isOperator } from "../session/operator.ts";
import { Icon } from "./icon.tsx";
import { sentence } from "./words.ts";

interface ProblemProps {
  problem: unknown;
  /** Repeats the request; called by a button. */
  retry?: (() => void) | undefined;
  /** The agents with this problem, if not all; otherwise empty. */
  agents?: readonly string[];
}

export function ProblemBox({ problem, retry, agents = [] }: ProblemProps) {
  const told = problem instanceof Problem ? problem : new Problem(problem instanceof Error ? problem.message : String(problem));
  const { status, agent = "" } = told;
  const signIn = () => void askToSignIn(agent).then((isDone) => isDone && retry?.());
  const mayBeOfOthers = status === 404 && isSignedIn() && !isOperator.value && agentOf(agent)?.access?.hasOperators === true;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p class="problem-text">{sentence(told.message)}</p>
        {agents.length > 0 && <p>{agents.join(", ")}</p>}
        {told.violations.length > 0 && (
          <ul>
            {told.violations.map(({ field, description }) => (
              <li key={field}>
                <code>{field}</code>: {description}
              </li>
            ))}
          </ul>
        )}
        {mayBeOfOthers && <p>What belongs to another caller is not found by you. Operators find it.</p>}
        <p class="quiet">
          {[status > 0 ? `Status ${status}` : "", told.reason ?? "", told.requestId === undefined ? "" : `request ${told.requestId}`]
            .filter((text) => text !== "")
            .join(" · ")}
        </p>
        <div class="row">
          {status === 401 && agent !== "" && (
            <button type="button" onClick={signIn}>
              Sign in
            </button>
          )}
          {mayBeOfOthers && (
            <button type="button" onClick={() => (isOperator.value = true)}>
              Act as an operator
            </button>
          )}
          {retry !== undefined && (
            <button type="button" onClick={retry}>
              Try again
            </button>
          )}
        </div>
      </div>
    </div>
  );
}
