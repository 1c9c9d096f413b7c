// The front of development (dev/) before a Worker: as a source for wrangler, which bundles it, and as one module for tests.
import { pathToFileURL } from "node:url";
import { inNpmPackage } from "./packages.mjs";
import { inPackage } from "./paths.mjs";

/** The module that puts the front before the Worker whose entry module is at `entry`. `front` is the path or name of dev/main.js. */
export const developmentSource = (entry, front = "a2a-edge/development") => `import product from "${entry}";
import { development } from "${front}";

export * from "${entry}";
export default development(product);
`;

/** The same as one bundled module, which imports the entry module of the Worker as `./index.js`. */
export async function developmentModule() {
  const { default: esbuild } = await import(pathToFileURL(inNpmPackage("esbuild", "lib", "main.js")).href);
  const { outputFiles } = await esbuild.build({
    stdin: { contents: developmentSource("./index.js", "./main.js"), resolveDir: inPackage("dev") },
    bundle: true, format: "esm", target: "esnext", write: false, logLevel: "silent", external: ["./index.js", "cloudflare:*"],
  });
  return outputFiles[0].text;
}
