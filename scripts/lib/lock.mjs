// Allows one set-up at a time per directory: a second one waits for the first instead of undoing its work.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isAlive } from "./guard.mjs";
import { say } from "./ui.mjs";

/** Runs `work` while holding the lock file. A lock whose owner has ended is replaced. */
export async function locked(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  for (let told = false; !take(file); ) {
    const owner = ownerOf(file);
    if (owner === undefined || !isAlive(owner)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!told) say(`==> Waiting for another set-up to finish (process ${owner}, lock ${file})`);
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const release = () => rmSync(file, { force: true });
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

function take(file) {
  // A link appears together with its content, so a lock never appears without an owner.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function ownerOf(file) {
  try {
    return Number(readFileSync(file, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}
