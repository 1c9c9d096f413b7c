import type { SpawnOptions } from "node:child_process";

export interface Shell {
  run(command: string): Promise<{ code: number; output: string }>;
  close(): void;
}

export function commandsOf(block: { lang: string; text: string }): { command: string; output: string | undefined }[];
export function matches(shown: string, output: string): boolean;
export function openShell(options: SpawnOptions): Shell;
