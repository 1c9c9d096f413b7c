export function kindOf(command: string): string | undefined;
export function npmProblem(command: string): string | undefined;
export function wranglerProblem(command: string): string | undefined;
export function configProblem(lines: string, folder: string): string | undefined;
