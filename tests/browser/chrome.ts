// The browser of the specs. On Linux x64 it is the one that the npm package @sparticuz/chromium brings, elsewhere an installed Chrome, and
// anywhere the one that CHROME_PATH names. It runs with its sandbox and its site isolation, without network but for this machine.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import puppeteer, { type Browser } from "puppeteer-core";
import { cacheDir, packageDir } from "../../scripts/lib/paths.mjs";

/** How long a start may take on a busy machine. */
const START_MS = 60_000;

/** Starts a browser without a window. It ends with `close`, or with this process. */
export async function launch(): Promise<Browser> {
  const { path, env } = findChrome();
  try {
    return await puppeteer.launch({ executablePath: path, headless: "shell", env: { ...process.env, ...env }, args: flags(), timeout: START_MS });
  } catch (error) {
    throw new Error(`The browser ${path} did not start: ${(error as Error).message}`, { cause: error });
  }
}

function flags(): string[] {
  return [
    // Names are not looked up, and proxies not used: what a page asks of another host fails, besides being seen by the test.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost", "--no-proxy-server",
    // Gives elements computedRole and computedName, by which the specs find them.
    "--enable-blink-features=ComputedAccessibilityInfo",
    "--disable-gpu", "--font-render-hinting=none", "--hide-scrollbars", "--no-default-browser-check", "--no-pings", "--mute-audio",
    // Chrome refuses to run as root with its sandbox, which is where containers run it.
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ...(process.platform === "linux" ? ["--disable-dev-shm-usage"] : []),
  ];
}

interface Chrome {
  path: string;
  env: Record<string, string>;
}

function findChrome(): Chrome {
  const given = process.env["CHROME_PATH"];
  if (given !== undefined && given !== "") {
    if (!existsSync(given)) throw new Error(`CHROME_PATH names ${given}, which does not exist`);
    return { path: given, env: {} };
  }
  if (process.platform === "linux" && process.arch === "x64") return packagedChrome();
  const installed = usualPlaces().find((path) => existsSync(path));
  if (installed !== undefined) return { path: installed, env: {} };
  throw new Error(
    `no Chrome was found for the browser specs on ${process.platform}-${process.arch}; ` +
      "install Chrome or Chromium, or set CHROME_PATH to the path of its program",
  );
}

function usualPlaces(): string[] {
  if (process.platform === "darwin") {
    const names = ["Google Chrome", "Chromium", "Google Chrome Canary", "Microsoft Edge"];
    return ["/Applications", join(homedir(), "Applications")].flatMap((folder) => names.map((name) => join(folder, `${name}.app/Contents/MacOS/${name}`)));
  }
  if (process.platform === "win32") {
    const folders = ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].map((name) => process.env[name]).filter((folder) => folder !== undefined);
    return folders.map((folder) => join(folder, "Google", "Chrome", "Application", "chrome.exe"));
  }
  const names = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
  return ["/usr/bin", "/usr/local/bin", "/snap/bin"].flatMap((folder) => names.map((name) => join(folder, name)));
}

const PACKAGE = "@sparticuz/chromium";

/**
 * The packaged browser, which is unpacked once into the cache that all checkouts share. The package unpacks itself into the temporary folder
 * of its process, without a lock: it gets one of its own, which is then moved into place at once.
 */
function packagedChrome(): Chrome {
  const { version } = JSON.parse(readFileSync(join(packageDir, "node_modules", PACKAGE, "package.json"), "utf8")) as { version: string };
  const folder = join(cacheDir, `chromium-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(cacheDir, { recursive: true });
    const own = mkdtempSync(join(cacheDir, "chromium-part-"));
    // As on Amazon Linux, so that it also unpacks the shared libraries that a small Linux may lack.
    const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
    const script = `import chromium from ${JSON.stringify(import.meta.resolve(PACKAGE))}; await chromium.executablePath();`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], { env, encoding: "utf8" });
    if (status !== 0) {
      rmSync(own, { recursive: true, force: true });
      throw new Error(`${PACKAGE} could not be unpacked: ${stderr.trim()}`);
    }
    try {
      renameSync(own, folder);
    } catch (error) {
      rmSync(own, { recursive: true, force: true });
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    }
  }
  const path = join(folder, "chromium");
  const fonts = existsSync("/etc/fonts/fonts.conf") ? {} : { FONTCONFIG_PATH: join(folder, "fonts") };
  return { path, env: { ...fonts, ...(lacksLibraries(path) ? { LD_LIBRARY_PATH: join(folder, "al2023", "lib") } : {}) } };
}

function lacksLibraries(program: string): boolean {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  return /not found/.test(stdout ?? "");
}
