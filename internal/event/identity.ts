import { randomBytes, randomInt } from 'node:crypto';
import type { EventIdentity } from './event.ts';

/**
 * A counter of 26 bits begins below this: random enough to tell processes apart, and 33 million
 * events from its end, which no process accepts even while time stands still.
 */
const counterSeed = 2 ** 25;

/**
 * Longest that time may stand still while a clock that stepped back catches up, in ms. Past it the
 * clock was wrong before and is right now: the true time matters more than the order of events
 * across the correction.
 */
const longestStandstill = 10_000;

/**
 * Stamps events: each identity is greater than the one before, also within a millisecond and when
 * the clock steps back by a little. One per process. The UUID of version 7 has a counter behind its
 * time, which begins anywhere in each millisecond (RFC 9562, section 6.2, method 1); the 48 bits
 * behind it are drawn once and tell processes apart (section 6.4), and once more when the clock is
 * set back, because its milliseconds come again then. Drawing them for each event took 8 % of
 * ingest's CPU time and a tenth of the memory of a queued event.
 */
export function createIdentitySource(now: () => number = Date.now): () => EventIdentity {
  let node = drawNode();
  let createdAt = -Infinity;
  let timeText = '';
  let counter = 0;
  return () => {
    const time = now();
    const setBack = time < createdAt - longestStandstill;
    if (setBack) node = drawNode();
    if (time > createdAt || setBack) {
      createdAt = time;
      timeText = timeOfUuid(time);
      counter = randomInt(counterSeed);
    } else {
      counter += 1;
    }
    const version7 = (0x7000 | (counter >>> 14)).toString(16);
    const variant = (0x8000 | (counter & 0x3fff)).toString(16);
    return { id: `${timeText}-${version7}-${variant}-${node}`, createdAt };
  };
}

function drawNode(): string {
  return randomBytes(6).toString('hex');
}

/** The 48 bits that are the time, as a UUID begins with them. */
function timeOfUuid(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
