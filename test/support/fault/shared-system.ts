import { logKey } from '../sealed-ledger.ts';
import { System } from './system.ts';

let system: Promise<System> | undefined;

/**
 * A system for all suites of this run that leave it as they found it. The first one starts it. Its
 * workers seal the log.
 */
export function sharedSystem(): Promise<System> {
  system ??= System.start({ worker: { LEDGER_KEY: logKey } });
  return system;
}

export async function mochaGlobalTeardown(): Promise<void> {
  await (await system)?.stop();
}
