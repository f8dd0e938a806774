import { largeTurn, Room } from '../../internal/queue/admission/room.ts';
import type { BatcherLimits } from '../../internal/worker/batcher.ts';

/** A room that no test fills. */
export function roomyRoom(): Room {
  return new Room(64 * 1_024 * 1_024, largeTurn());
}

/** Limits that no test reaches unless it sets others; nothing is waited for. */
export const roomyLimits: BatcherLimits = {
  batchEvents: 100,
  batchBytes: 1e6,
  jobs: 1_000,
  statementsInFlight: 1,
  intervalMs: 0,
  retryMinMs: 1,
  retryMaxMs: 5,
};
