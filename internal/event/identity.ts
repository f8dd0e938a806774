import { randomBytes, randomInt } from 'node:crypto';
import type { EventIdentity } from './event.ts';

/**
 * The 26-bit counter starts below this value. That leaves 33 million events, more than a process
 * accepts while the clock stands still for a millisecond.
 */
const counterSeed = 2 ** 25;

/**
 * How long `createdAt` may stand still after the clock stepped back, in ms. After that the clock
 * was wrong before, and the true time matters more than order across the correction.
 */
const longestStandstill = 10_000;

/**
 * Creates the source of event identities, one per process. Each is greater than the one before,
 * even if the clock steps back a little. The UUIDv7 has a counter after its time (RFC 9562, section
 * 6.2, method 1). Its 48 random bits are drawn once, and again when the clock is set back (section
 * 6.4): drawing them for each event took 8 % of ingest's CPU time.
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
    return { id: `${timeText}${counterOf(counter)}-${node}`, createdAt };
  };
}

/** The groups of a UUIDv7 that hold the counter, after the time. */
function counterOf(counter: number): string {
  const version7 = (0x7000 | (counter >>> 14)).toString(16);
  const variant = (0x8000 | (counter & 0x3fff)).toString(16);
  return `-${version7}-${variant}`;
}

function drawNode(): string {
  return randomBytes(6).toString('hex');
}

/** The first 48 bits of the UUID, which hold the time. */
function timeOfUuid(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** The identity of a later event of a group: continues the counter of the first. */
export function laterIdentity({ id, createdAt }: EventIdentity, position: number): EventIdentity {
  if (position === 0) return { id, createdAt };
  const counter = ((parseInt(id.slice(15, 18), 16) << 14) | (parseInt(id.slice(19, 23), 16) & 0x3fff)) + position;
  return { id: `${id.slice(0, 13)}${counterOf(counter)}${id.slice(23)}`, createdAt };
}

/** The UUIDv7 of a time (ms) with the random bits of another UUID. */
export function idAt(time: number, uuid: string): string {
  return `${timeOfUuid(time)}-7${uuid.slice(15)}`;
}

/** The time of an id, in ms. */
export function timeOfId(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The 16 bytes of an id. */
export function bytesOfId(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** The id of 16 bytes. */
export function idOfBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
