import type { Blindness } from '../record/get-blindness.ts';

/** From these ages on, in ms, a page is not up to date: of the last tick, and of the watermark. */
const [lateTickMs, lateWatermarkMs] = [60_000, 90_000];

/** That the console does not see what happens now. Times are ISO 8601. */
export interface Behind {
  /** What happened later may be missing. */
  since: string;
  /** One sentence. */
  reason: string;
}

/**
 * Whether the record is behind, and why. Without any controller yet, nothing is known, and nothing
 * is promised.
 */
export function behindOf({ ticked_at, watermark, reason, now }: Blindness): Behind | undefined {
  if (ticked_at === null) return undefined;
  const ageOf = (time: string): number => Date.parse(now) - Date.parse(time);
  const since = watermark ?? ticked_at;
  if (ageOf(ticked_at) > lateTickMs) {
    return { since, reason: 'No controller is at work: nothing is judged, and nobody is told.' };
  }
  if (watermark === null || ageOf(watermark) <= lateWatermarkMs) return undefined;
  return { since, reason: reason ?? 'The workers have not stored the newest events yet.' };
}
