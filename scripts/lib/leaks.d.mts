/** A secret that a test uses. */
export interface Secret {
  name: string;
  value: string;
}

export function secretsOf(vars: Record<string, string>): Secret[];
export function leaksIn(text: string, secrets: readonly Secret[]): string[];
export function findLeaks(folder: string): { lines: number; secrets: number; leaks: string[] };
