/** A class of Durable Objects that counts the rows that its objects write. */
export const Noting = (Base) => class extends Base {
  #cursors;

  constructor(ctx, env) {
    const cursors = [];
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    sql.exec = (...args) => {
      const cursor = exec(...args);
      cursors.push(cursor);
      return cursor;
    };
    super(ctx, env);
    this.#cursors = cursors;
  }

  forget() {
    this.#cursors.length = 0;
  }

  rows() {
    return this.#cursors.reduce((all, { rowsWritten }) => all + rowsWritten, 0);
  }
};
