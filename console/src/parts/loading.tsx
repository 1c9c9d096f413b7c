// A placeholder during loading.
import { catalogueProblem, loadCatalogue } from "../api/agents.ts";
import { ProblemBox } from "./problem.tsx";

export function Loading() {
  return <p class="quiet" role="status">Loading…</p>;
}

/** A placeholder for the missing catalogue: that it is being loaded, or why loading has failed. */
export function NoCatalogue() {
  const problem = catalogueProblem.value;
  return problem === undefined ? <Loading /> : <ProblemBox problem={problem} retry={() => void loadCatalogue()} />;
}
