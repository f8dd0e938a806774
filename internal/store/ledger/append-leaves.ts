import { sql, type RawBuilder } from 'kysely';
import type { AcceptedEvent } from '../../event/event.ts';
import { bytesArray, textArray, uuidArray } from '../array-parameters.ts';
import { leafAt, segmentOf, segmentsOf, type BatchProof } from './leaves-of-batch.ts';

/**
 * The part of the statement that appends the leaves of the events in `inserted` to the log, with
 * their MAC. A statement that refuses duplicates inserts all events, so it appends one row per
 * organization. Otherwise each leaf is a row with its own MAC.
 */
export function appendLeaves(
  events: readonly AcceptedEvent[],
  { leaves, key }: BatchProof,
  duplicates: 'refuse' | 'skip',
): RawBuilder<unknown> {
  if (duplicates === 'refuse') {
    const segments = segmentsOf(events, leaves, key);
    const [only, ...others] = segments;
    if (only !== undefined && others.length === 0) {
      return sql`
        appended as (
          insert into log_segments (organization, leaves, mac) values (${only.organization}, ${only.leaves}, ${only.mac})
        ),
      `;
    }
    return sql`
      appended as (
        insert into log_segments (organization, leaves, mac)
        select * from unnest(
          ${textArray(segments.map(({ organization }) => organization))},
          ${bytesArray(segments.map((segment) => segment.leaves))},
          ${bytesArray(segments.map(({ mac }) => mac))}
        )
      ),
    `;
  }
  const single = events.map(({ organization }, at) => segmentOf(organization, leafAt(leaves, at), key));
  return sql`
    leaf as (
      select distinct on (organization, id) organization, id, leaf, mac from unnest(
        ${textArray(events.map((event) => event.organization))},
        ${uuidArray(events.map((event) => event.id))},
        ${bytesArray(single.map((segment) => segment.leaves))},
        ${bytesArray(single.map(({ mac }) => mac))}
      ) with ordinality as t (organization, id, leaf, mac, place)
      order by organization, id, place
    ),
    appended as (
      insert into log_segments (organization, leaves, mac)
      select organization, leaf, mac from inserted join leaf using (organization, id)
    ),
  `;
}
