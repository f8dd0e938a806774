import type { Context } from '../intake/http/page-route.ts';
import { maySee, type FindViewer } from './viewer.ts';

/** Without an answer about the session for so long, in ms, a long answer ends. */
const longestDoubtMs = 30_000;

/**
 * Returns a function that says whether a viewer may still see an organization. It answers at once
 * with what Postgres said last, and asks again. False half a minute after Postgres last answered.
 */
export function stillViewer(ctx: Context, organization: string, findViewer: FindViewer): () => boolean {
  let allowed = true;
  let asking = false;
  let answeredAt = performance.now();
  const ask = async (): Promise<void> => {
    asking = true;
    try {
      const viewer = await findViewer(ctx);
      allowed = viewer !== undefined && maySee(viewer, organization);
      answeredAt = performance.now();
    } catch {
      // Postgres does not answer: the last answer holds for a while.
    } finally {
      asking = false;
    }
  };
  return () => {
    if (!asking) void ask();
    return allowed && performance.now() - answeredAt < longestDoubtMs;
  };
}
