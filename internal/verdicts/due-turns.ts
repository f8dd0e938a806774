import type { AutomationKey } from './due-automations.ts';

/** Automations that are evaluated at once: bounds the memory of a tick. */
const chunkSize = 200;

/** A part of the due automations of a tick. */
export interface DuePart {
  readonly keys: readonly AutomationKey[];
  /** False if it may wait for the next tick: its organizations had their turn. */
  readonly mustRun: boolean;
}

/**
 * Divides due automations into parts. First come the first 200 of each organization, then in turns
 * their next ones: who declares 10,000 automations delays the others by 200.
 */
export function turnsOf(due: readonly AutomationKey[]): DuePart[] {
  const turns: AutomationKey[][] = [];
  for (const own of Map.groupBy(due, ({ organization }) => organization).values()) {
    for (const [index, key] of own.entries()) (turns[Math.floor(index / chunkSize)] ??= []).push(key);
  }
  return turns.flatMap((turn, index) =>
    Array.from({ length: Math.ceil(turn.length / chunkSize) }, (_, part) => ({
      keys: turn.slice(part * chunkSize, (part + 1) * chunkSize),
      mustRun: index === 0,
    })),
  );
}
