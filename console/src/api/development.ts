// What a page can ask of the server in development alone (dev/); no deployment answers these.
import { send } from "./http.ts";
import { Problem } from "./problem.ts";

/** Has the server killed, and started again, by the command that serves. @throws {Problem} if it is not. */
export async function killServer(): Promise<void> {
  try {
    await send({ agent: "", path: "/_dev/kill", body: {}, isQuiet: true });
  } catch (error) {
    // The server may be gone before its answer has come.
    if (!(error instanceof Problem && error.status === 0)) throw error;
  }
}
