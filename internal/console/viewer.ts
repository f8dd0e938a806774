import type { Context } from '../intake/http/page-route.ts';
import type { Act, Viewer } from '../login/viewer.ts';

export type { Act, FindViewer, Viewer } from '../login/viewer.ts';

/** What a viewer does, for the access log. Looking is not an action. */
export type Action = 'tested' | 'issued' | 'rotated' | 'revoked' | 'named' | 'refused';

/** Notes that a viewer looks at an organization. Called before the record is read. */
export type NoteAccess = (
  ctx: Context,
  viewer: Viewer,
  organization: string,
  action?: Action,
  detail?: string,
) => Promise<void> | void;

/** Records an act before it is done. @throws {RequestError} if it cannot be recorded now. */
export type NoteFirst = (ctx: Context, viewer: Viewer, organization: string, act: Act, detail: string) => Promise<void>;

/** True if the viewer may see the organization, including a new one that the viewer may create. */
export function maySee({ organizations, administers }: Viewer, organization: string): boolean {
  return organizations.includes(organization) || (administers === true && isOrganizationName(organization));
}

/** True if the viewer manages the organization. */
export function owns({ owned = [], administers }: Viewer, organization: string): boolean {
  return owned.includes(organization) || (administers === true && isOrganizationName(organization));
}

/** True if an organization may have this name: Kubernetes must accept it as a label value. */
export function isOrganizationName(name: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(name);
}
