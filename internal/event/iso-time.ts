let last = { time: Number.NaN, text: '' };

/**
 * A time in ms as ISO 8601 in UTC. Events of a batch share many times, so each is formatted once.
 */
export function isoTime(time: number): string {
  if (time !== last.time) last = { time, text: new Date(time).toISOString() };
  return last.text;
}
