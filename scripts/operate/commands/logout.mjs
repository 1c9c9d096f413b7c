// `a2a-edge logout`: deletes kept keys. The server is not asked.
import { EXIT, Failure } from "../failure.mjs";
import { forget, originsKept } from "../keys.mjs";
import { URL_OPTION } from "../operate.mjs";

export default {
  does: "Deletes the keys of a server from this machine. At the server they stay valid.",
  options: {
    ...URL_OPTION,
    agent: { type: "string", value: "AGENT", does: "only the key that was kept for this agent alone" },
    all: { type: "boolean", does: "the keys of all servers" },
  },
  async run({ print, values, origin: chosen }) {
    const origins = values.all ? originsKept() : [chosen()];
    const gone = origins.filter((origin) => forget(origin, values.agent));
    if (gone.length === 0)
      throw new Failure(
        values.all
          ? "There are no keys on this machine."
          : `There is no key for ${values.agent === undefined ? "" : `${values.agent} of `}${origins[0]} on this machine.`,
        EXIT.notSignedIn,
      );
    for (const origin of gone) print.note(`Signed out of ${values.agent === undefined ? "" : `${values.agent} of `}${origin}.`);
  },
};
