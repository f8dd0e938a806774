import type { Context } from '../intake/http/page-route.ts';
import type { Rights } from './organization-map.ts';

/** A person who looks at the console. */
export interface Viewer extends Partial<Rights> {
  /** Who it is, for logs and limits: two people may have the same name. */
  readonly subject: string;
  /** A name for people, and for logs. */
  readonly name: string;
  /** The organizations that the viewer may see. */
  readonly organizations: readonly string[];
}

/**
 * Finds who sends a request; undefined when nobody is logged in.
 * @throws {RequestError} when Postgres or the tokens cannot be asked now.
 */
export type FindViewer = (ctx: Context) => Promise<Viewer | undefined>;

/** Longest time since the login in which a person may make or revoke a token, in seconds. */
export const recentSeconds = 3_600;
