import type { Context } from '../intake/http/page-route.ts';
import type { Viewer } from '../login/viewer.ts';

export type { FindViewer, Viewer } from '../login/viewer.ts';

/** Notes that a viewer looks at an organization. Called before the record is read. */
export type NoteAccess = (
  ctx: Context,
  viewer: Viewer,
  organization: string,
  action?: 'tested',
) => Promise<void> | void;

/** True if the viewer may see the organization. */
export function maySee({ organizations }: Viewer, organization: string): boolean {
  return organizations.includes(organization);
}
