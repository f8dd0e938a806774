let last = { time: Number.NaN, text: '' };

/** A time in ms as ISO 8601 in UTC, formatted once: events of a batch share many times. */
export function isoTime(time: number): string {
  if (time !== last.time) last = { time, text: new Date(time).toISOString() };
  return last.text;
}
