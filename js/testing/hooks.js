// Lets Node load modules that import those of the platform, such as `cloudflare:workers`. "a2a-edge" itself imports none in Node.
//
// Modules that are imported by statements are resolved before this one is evaluated. Where such a module imports `cloudflare:workers`, Node has to
// evaluate this one first: node --import a2a-edge/testing. Vitest resolves imports itself, and needs an alias in its configuration:
// resolve: { alias: { "cloudflare:workers": "a2a-edge/testing/cloudflare-workers" } }.
import * as modules from "node:module";
import { compileFunction } from "node:vm";

const STUB = new URL("./cloudflare-workers.js", import.meta.url).href;

// In a context of node:vm, what the engine makes would be of other classes than those of the test.
if (compileFunction("return Object")() !== Object) {
  throw new Error('a2a-edge/testing does not run in contexts of node:vm. For vitest, set pool to "forks" or "threads"; Jest is not supported');
}

if (typeof modules.registerHooks === "function") {
  modules.registerHooks({
    resolve: (specifier, context, next) => (specifier === "cloudflare:workers" ? { url: STUB, shortCircuit: true } : next(specifier, context)),
  });
} else {
  // Before Node 22.15, hooks are in a thread of their own.
  const source = `export function resolve(specifier, context, next) {
    return specifier === "cloudflare:workers" ? { url: ${JSON.stringify(STUB)}, shortCircuit: true } : next(specifier, context);
  }`;
  modules.register(`data:text/javascript,${encodeURIComponent(source)}`);
}
