import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../telemetry/logger.ts';
import type { Probes } from '../ops/probes.ts';
import type { Component } from './component.ts';
import { messageOf } from '../errors/message-of.ts';

/** SIGTERM comes from an orchestrator, SIGINT from Ctrl-C. */
const stopSignals = ['SIGTERM', 'SIGINT'] as const;

export interface ProcessOptions {
  main: Component;
  probes: Probes;
  logger: Logger;
  /** Time between failing readiness and the stop, in ms, so that load balancers notice. */
  drainDelayMs: number;
  /** Longest duration of a graceful stop, in ms. */
  shutdownTimeoutMs: number;
  onReady?: () => void;
}

/** The process could not start. The message is one line for the person who started it. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(cause: unknown) {
    super(`could not start: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Runs a process until SIGTERM or SIGINT, then stops it (docs/design/stopping.md). Exits with 0
 * after a clean stop, and 1 if the stop took too long. A second signal exits immediately.
 * @throws {StartError}
 */
export async function runProcess(options: ProcessOptions): Promise<void> {
  const { main, logger, onReady } = options;
  const signal = nextSignal();
  ignoreHangUp(logger);
  const started = main.start().then(
    () => 'started' as const,
    (error: unknown) => ({ error }),
  );
  const first = await Promise.race([started, signal]);
  if (typeof first === 'object') {
    logger.fatal({ error: first.error }, 'could not start');
    throw new StartError(first.error);
  }
  if (first === 'started') {
    freeMemoryOfStart();
    logger.info('started');
    onReady?.();
  }
  const name = await signal;
  for (const again of stopSignals) process.once(again, () => process.exit(1));
  await stopGracefully(options, name);
}

/**
 * Frees the memory that loading the program used: 29 MB of an idle process (test/bench/README.md).
 * Takes about 50 ms. Needs Node's `--expose-gc`, which the image sets.
 */
function freeMemoryOfStart(): void {
  globalThis.gc?.({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}

/** As under `nohup`, a closed terminal does not end the process; SIGTERM stops it later. */
function ignoreHangUp(logger: Logger): void {
  process.on('SIGHUP', () => logger.warn('SIGHUP ignored: SIGTERM stops the process'));
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const take = (name: NodeJS.Signals): void => {
      for (const signal of stopSignals) process.off(signal, take);
      resolve(name);
    };
    for (const signal of stopSignals) process.on(signal, take);
  });
}

async function stopGracefully(options: ProcessOptions, signal: string): Promise<void> {
  const { main, probes, logger, drainDelayMs, shutdownTimeoutMs } = options;
  logger.info({ signal }, 'stopping');
  const deadline = setTimeout(() => {
    logger.error('stop took too long, or a part did not end: exiting');
    process.exit(1);
  }, shutdownTimeoutMs);
  probes.ready.set('lifecycle', () => 'the process is stopping');
  await sleep(drainDelayMs);
  await main.stop();
  logger.info('stopped');
  process.exitCode = 0;
  // The process ends once nothing is left, or at the deadline with exit code 1.
  deadline.unref();
}
