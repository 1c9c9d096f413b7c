// Lets Node load modules that import those of the platform, such as `cloudflare:workers`.
//
// Modules that are imported statically by the file that imports "a2a-edge/testing" are resolved before this one is evaluated. For such a module, Node has
// to evaluate this one first: node --import a2a-edge/testing. Nothing else needs that: "a2a-edge" itself imports no such module in Node.
import * as modules from "node:module";

const STUB = new URL("./cloudflare-workers.js", import.meta.url).href;

if (typeof modules.registerHooks === "function") {
  modules.registerHooks({
    resolve: (specifier, context, next) => (specifier === "cloudflare:workers" ? { url: STUB, shortCircuit: true } : next(specifier, context)),
  });
} else {
  // Before Node 22.15, hooks are in a thread of their own.
  const source = `export const resolve = (specifier, context, next) => specifier === "cloudflare:workers" ? { url: ${JSON.stringify(STUB)}, shortCircuit: true } : next(specifier, context);`;
  modules.register(`data:text/javascript,${encodeURIComponent(source)}`);
}
