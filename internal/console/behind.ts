import type { PageZone } from './page-zone.ts';
import type { Blindness } from '../record/get-blindness.ts';

/** Ages of the last tick and of the watermark from which a page counts as out of date, in ms. */
const [lateTickMs, lateWatermarkMs] = [60_000, 90_000];

/** Says that the console does not see the newest events. Times are ISO 8601. */
export interface Behind {
  /** Later events may be missing. */
  since: string;
  /** One sentence. */
  reason: string;
}

/** Until when the verdicts on a page are known; undefined if the record is not behind. */
export function knownUpTo(behind: Behind | undefined, zone: PageZone): string | undefined {
  return behind && zone.minute(Date.parse(behind.since));
}

/** Says why the record is behind; undefined if it is not, or if no controller has ever run. */
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
