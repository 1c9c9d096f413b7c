/**
 * The modules of dev/ as the text of one module. It holds the JavaScript of the Worker's own module `product`, a path; without, it imports that
 * from `./index.js` beside it.
 */
export function developmentModule(product?: string): Promise<string>;
