import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects all garbage. Not in this turn of the event loop: a weak reference lets go of what it has
 * shown in an earlier one only.
 */
export async function collectGarbage(): Promise<void> {
  await turn();
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
