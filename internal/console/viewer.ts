import type { Context } from '../api/page-route.ts';

/** A person who looks at the console. */
export interface Viewer {
  /** Who it is, for logs and limits: two people may have the same name. */
  readonly subject: string;
  /** A name for people, and for logs. */
  readonly name: string;
  /** The organizations that the viewer may see; `*` allows all. */
  readonly organizations: readonly string[];
}

/** Finds who sends a request; undefined when nobody is logged in. */
export type FindViewer = (ctx: Context) => Promise<Viewer | undefined>;

/** Notes that a viewer looks at an organization. Called before the record is read. */
export type NoteAccess = (ctx: Context, viewer: Viewer, organization: string) => Promise<void> | void;

/** True if the viewer may see the organization. */
export function maySee({ organizations }: Viewer, organization: string): boolean {
  return organizations.includes(organization) || organizations.includes('*');
}
