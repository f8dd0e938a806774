import { isoDay } from './partitions/days.ts';
import type { DayRange } from './partitions/partitions.ts';

/** Adds the partition's days to an error's message, and keeps its code. */
export async function withDaysInError(range: DayRange, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) error.message = `partition of ${describe(range)}: ${error.message}`;
    throw error;
  }
}

function describe({ from, to }: DayRange): string {
  const [first, last] = [isoDay(from), isoDay(to - 1)];
  return first === last ? first : `${first} to ${last}`;
}
