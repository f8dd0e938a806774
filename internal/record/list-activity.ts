import type { Database } from '../store/database.ts';
import { readAs } from './read-as.ts';

/** An entry of the access log of an organization. */
export interface Activity {
  id: string;
  at: Date;
  name: string;
  action: string;
  detail: string;
  address: string;
  requests: number;
}

/** Reads entries of the access log, newest first, from before the given time and id. */
export function listActivity(
  db: Database,
  organization: string,
  limit: number,
  before?: { at: Date; id: string },
): Promise<Activity[]> {
  return readAs(db, organization, async (reading) => {
    const all = reading
      .selectFrom('access_log')
      .select(['id', 'at', 'name', 'action', 'detail', 'address', 'requests'])
      .where('organization', '=', organization)
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit);
    if (before === undefined) return all.execute();
    return all.where((row) => row(row.refTuple('at', 'id'), '<', row.tuple(before.at, before.id))).execute();
  });
}
