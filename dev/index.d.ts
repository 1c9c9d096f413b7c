/** The Worker's own module, as a build makes it: the modules of dev/ stand before it. */
declare const product: { fetch(request: Request, env: unknown, context: unknown): Promise<Response> };
export default product;
