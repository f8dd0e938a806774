import { v7 } from 'uuid';
import type { EventIdentity } from './event.ts';

/**
 * Stamps events: each identity is greater than the one before, also within a millisecond and when the clock steps
 * back (RFC 9562, section 6.2: a counter of the millisecond leads the random bits). One per process.
 */
export function createIdentitySource(now: () => number = Date.now): () => EventIdentity {
  let createdAt = 0;
  let sequence = 0;
  return () => {
    const time = now();
    if (time > createdAt) {
      createdAt = time;
      sequence = 0;
    } else {
      sequence += 1;
    }
    return { id: v7({ msecs: createdAt, seq: sequence }), createdAt };
  };
}
