/** The Worker's own module, made by a build. In development, the modules of dev/ wrap it. */
declare const product: { fetch(request: Request, env: unknown, context: unknown): Promise<Response> };
export default product;
