import type { Context } from '../intake/http/page-route.ts';
import { maySee, type FindViewer } from './viewer.ts';

/** How long a stream may go on without an answer about the session, in ms. */
const longestDoubtMs = 30_000;

/**
 * Returns a function that says whether a viewer may still see an organization. It returns the last
 * answer of Postgres at once and asks again in the background; after half a minute without an
 * answer it returns false.
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
      // Postgres does not answer: the last answer stands for a while.
    } finally {
      asking = false;
    }
  };
  return () => {
    if (!asking) void ask();
    return allowed && performance.now() - answeredAt < longestDoubtMs;
  };
}
