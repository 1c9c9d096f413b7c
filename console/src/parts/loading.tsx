// What stands where something is not there yet.
import { catalogueProblem, loadCatalogue } from "../api/agents.ts";
import { ProblemBox } from "./problem.tsx";

export function Loading() {
  return <p class="quiet" role="status">Loading…</p>;
}

/** As long as the catalogue is not there: that it is loaded, or why it was not. */
export function NoCatalogue() {
  const problem = catalogueProblem.value;
  return problem === undefined ? <Loading /> : <ProblemBox problem={problem} retry={() => void loadCatalogue()} />;
}
