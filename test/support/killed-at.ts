import type { Database } from '../../internal/store/database.ts';

/** The database, whose statement of a number fails: as if the process were killed there. */
export function killedAt(db: Database, counter: { left: number }): Database {
  return db.withPlugin({
    transformQuery({ node }) {
      counter.left -= 1;
      if (counter.left === 0) throw new Error('killed');
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
}
