import { eventColumnNames } from '../stored-event.ts';
import { archivedEvents } from '../archived-events.ts';
import { listColdObjects } from '../../store/partitions/cold-days.ts';
import type { ColdArchive, ColdObject, WantedEvents } from '../../store/tables/cold-days-table.ts';
import type { Database } from '../../store/database.ts';
import { isoDay } from '../../store/partitions/days.ts';
import { createPartition, partitionOf } from '../../store/partitions/partitions.ts';
import { withMaintenanceLock } from '../../store/partitions/with-maintenance-lock.ts';
import { sql, type RawBuilder } from '../../store/sql.ts';
import { ArchiveAway } from './archive-errors.ts';

/** The cold days of an organization with a wanted event, in ms. Reads the archive. */
export async function coldDaysWith(db: Database, organization: string, wanted: WantedEvents): Promise<number[]> {
  const days = new Set<number>();
  for (const object of await listColdObjects(db, organization)) {
    if (!days.has(object.day) && (await has(archiveOf(db), object, wanted))) days.add(object.day);
  }
  return [...days];
}

async function has(archive: ColdArchive, object: ColdObject, wanted: WantedEvents): Promise<boolean> {
  for await (const events of archive.read(object, wanted)) if (events.length > 0) return true;
  return false;
}

/**
 * Puts a cold day of an organization back into Postgres, whole or not at all. The next export
 * writes it again, and then it becomes cold again.
 */
export async function thawDay(db: Database, organization: string, day: number): Promise<void> {
  const archive = archiveOf(db);
  await withMaintenanceLock(db, async (trx, present) => {
    const objects = (await listColdObjects(trx, organization, { from: day, until: day })).filter(
      (one) => one.day === day,
    );
    const columns = sql.raw(['organization', ...eventColumnNames].join(', '));
    const fill = async (table: RawBuilder<unknown>): Promise<void> => {
      for (const object of objects) {
        for await (const events of archive.read(object, {})) {
          await sql`insert into ${table} (${columns}) ${archivedEvents(events)} on conflict do nothing`.execute(trx);
        }
      }
    };
    // A table of its own is filled before anybody waits for it: reading a day takes long.
    const isNew = objects.length > 0 && partitionOf(day, present) === undefined;
    if (!isNew || (await createPartition(trx, day, fill)) === undefined) await fill(sql.table('events'));
    await trx.deleteFrom('cold_days').where('organization', '=', organization).where('day', '=', isoDay(day)).execute();
  });
}

function archiveOf({ archive }: Database): ColdArchive {
  if (archive !== undefined) return archive;
  throw new ArchiveAway('older days are in the archive only: set ARCHIVE_URL');
}
