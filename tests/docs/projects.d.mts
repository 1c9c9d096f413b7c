/** A project made of examples. */
export interface Project {
  readonly folder: string;
  /** A path in it. */
  at(...parts: string[]): string;
  remove(): void;
}

export function makeProject(parts: { from?: readonly string[]; files?: Readonly<Record<string, string>>; flags?: readonly string[] }): Project;

/** Runs a program in the project to its end, with the commands of a2a-edge and of the checkout in its PATH. */
export function runIn(project: Project, program: string, args: readonly string[]): Promise<{ code: number | null; output: string }>;

/** Checks the agents of the project, and writes `.a2a-edge/` and the types of its bindings. Throws what the commands say if one fails. */
export function generate(project: Project): Promise<void>;

/** The mistakes that the compiler finds in files of the project, strictly; empty text if there is none. */
export function typeMistakes(project: Project, include: readonly string[]): Promise<string>;

/** Serves the project by `a2a-edge start` while `work` runs, which gets the URL, and what the server has said so far. */
export function served<T>(project: Project, work: (url: string, output: () => string) => Promise<T>, options?: { port?: number }): Promise<T>;
