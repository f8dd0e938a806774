import type { Spool } from './spool.ts';

/** In the place of a spool where no folder can be one. It takes nothing, for this reason. */
export function noSpool(reason: unknown): Pick<Spool, 'add' | 'waiting' | 'read' | 'remove' | 'setAside'> {
  return {
    add: () => Promise.reject(reason),
    waiting: () => Promise.resolve([]),
    read: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(),
    setAside: () => Promise.resolve(),
  };
}
