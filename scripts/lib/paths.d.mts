export const packageDir: string;
export const cacheDir: string;
