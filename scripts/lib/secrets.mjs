// The secrets of a deployment, by wrangler. Their values can be set, and not read.
import { wrangler } from "./wrangler.mjs";

const of = (environment) => (environment === undefined ? [] : [`--env=${environment}`]);

/** What the platform says of a Worker that was never deployed. */
const NO_WORKER = /\b10007\b/;

/** The names of the secrets in an environment of wrangler.toml; undefined if wrangler cannot list them, for example without a login. */
export async function secretNames(environment) {
  const { code, output } = await wrangler(["secret", "list", "--format=json", ...of(environment)], { quiet: true });
  if (code !== 0) return NO_WORKER.test(output) ? [] : undefined;
  try {
    // Behind warnings of wrangler, which have brackets within their lines.
    return JSON.parse(/^\[[^]*\]/m.exec(output)[0]).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** Sets a secret. Returns what wrangler says if it fails, and undefined otherwise. */
export function putSecret(name, value, environment) {
  return failureOf(["secret", "put", name, ...of(environment)], value);
}

/** Deletes a secret; as `putSecret`. */
export function deleteSecret(name, environment) {
  // Without a terminal wrangler does not ask.
  return failureOf(["secret", "delete", name, ...of(environment)], "");
}

async function failureOf(args, input) {
  const { code, output } = await wrangler(args, { quiet: true, input });
  return code === 0 ? undefined : output.trim();
}
