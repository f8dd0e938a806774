import type { Context } from '../intake/http/page-route.ts';
import type { Rights } from './organization-map.ts';

/** A person who uses the console. */
export interface Viewer extends Partial<Rights> {
  /** Identifies the person for logs and limits: two people may have the same name. */
  readonly subject: string;
  /** A name for display and for logs. */
  readonly name: string;
  /** The organizations that the viewer may see. */
  readonly organizations: readonly string[];
}

/**
 * Finds the viewer who sends a request; undefined if nobody is logged in.
 * @throws {RequestError} if Postgres or the tokens cannot be read now.
 */
export type FindViewer = (ctx: Context) => Promise<Viewer | undefined>;

/** What an owner does about alerts and executions. The access log has it before it is done. */
export type Act = 'muted' | 'unmuted' | 'acknowledged' | 'closed' | 'noted';

/** How long after the login a person may create or revoke tokens, in seconds. */
export const recentSeconds = 3_600;
