import type { Tables } from './database.ts';
import { isOfStatement } from './errors.ts';
import { sql, type Transaction } from './sql.ts';

/** An item whose work failed even alone. */
export interface Failed<T> {
  readonly item: T;
  readonly error: unknown;
}

/**
 * How one transaction works for several organizations. {@link together} is the fast way: one call
 * for all, and an error fails them all. {@link Apart} takes over after such an error.
 */
export interface Turns {
  /** The organizations whose work failed, or that wait, with the error or undefined. */
  readonly setAside: ReadonlyMap<string, unknown>;
  /** Calls `work` for all items, and resolves with the result of each call that succeeded. */
  run<T extends { readonly organization: string }, R>(
    trx: Transaction<Tables>,
    items: readonly T[],
    work: (part: readonly T[]) => Promise<R>,
  ): Promise<R[]>;
  /** As `run`, but singles out the items that fail. The others are done. */
  runEach<T>(
    trx: Transaction<Tables>,
    items: readonly T[],
    work: (part: readonly T[]) => Promise<void>,
  ): Promise<Failed<T>[]>;
}

/** One call for all items, without savepoints. */
export const together: Turns = {
  setAside: new Map(),
  run: async (_trx, items, work) => (items.length === 0 ? [] : [await work(items)]),
  runEach: async (_trx, items, work) => {
    if (items.length > 0) await work(items);
    return [];
  },
};

/**
 * Works within savepoints, and halves the items of a call that fails: among 1,000 organizations, 20
 * more calls find the faulty one. It is set aside for the rest of the transaction.
 */
export class Apart implements Turns {
  readonly setAside = new Map<string, unknown>();
  readonly #suspects: ReadonlySet<string>;

  /** @param suspects are tried alone. @param waiting are not tried. */
  constructor(suspects: Iterable<string> = [], waiting: Iterable<string> = []) {
    this.#suspects = new Set(suspects);
    for (const organization of waiting) this.setAside.set(organization, undefined);
  }

  async run<T extends { readonly organization: string }, R>(
    trx: Transaction<Tables>,
    items: readonly T[],
    work: (part: readonly T[]) => Promise<R>,
  ): Promise<R[]> {
    const groups = Map.groupBy(items, ({ organization }) => organization);
    for (const organization of this.setAside.keys()) groups.delete(organization);
    const results: R[] = [];
    const workOn = async (part: readonly (readonly T[])[]): Promise<void> => {
      results.push(await work(part.flat()));
    };
    const alone = [...groups].filter(([organization]) => this.#suspects.has(organization)).map(([, group]) => [group]);
    const others = [...groups].filter(([organization]) => !this.#suspects.has(organization)).map(([, group]) => group);
    for (const part of [others, ...alone]) {
      for (const { item, error } of await halving(trx, part, workOn)) {
        const [first] = item;
        if (first !== undefined) this.setAside.set(first.organization, error);
      }
    }
    return results;
  }

  runEach<T>(
    trx: Transaction<Tables>,
    items: readonly T[],
    work: (part: readonly T[]) => Promise<void>,
  ): Promise<Failed<T>[]> {
    return halving(trx, items, work);
  }
}

/** @throws an error after which the connection is unusable. */
async function halving<T>(
  trx: Transaction<Tables>,
  items: readonly T[],
  work: (part: readonly T[]) => Promise<void>,
): Promise<Failed<T>[]> {
  const [first] = items;
  if (first === undefined) return [];
  await sql`savepoint apart`.execute(trx);
  try {
    await work(items);
    await sql`release savepoint apart`.execute(trx);
    return [];
  } catch (error) {
    if (!isOfStatement(error)) throw error;
    await sql`rollback to savepoint apart`.execute(trx);
    await sql`release savepoint apart`.execute(trx);
    if (items.length === 1) return [{ item: first, error }];
  }
  const middle = Math.ceil(items.length / 2);
  return [...(await halving(trx, items.slice(0, middle), work)), ...(await halving(trx, items.slice(middle), work))];
}
