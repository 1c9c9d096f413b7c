export interface Checked {
  agents?: { version: string; index: string; agents: Record<string, string> };
  problems: { shown: string; file: string | null; line: number | null; key: string; text: string }[];
  read: string[];
}
export function check(project: { folder: string; joins: boolean; now?: number }): Checked;
export function checkTexts(project: { texts: Record<string, string>; joins: boolean; now: number }): Omit<Checked, "read">;
