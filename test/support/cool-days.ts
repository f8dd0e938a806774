import { readFile } from 'node:fs/promises';
import type { AcceptedEvent } from '../../internal/event/event.ts';
import { createQueries } from '../../internal/record/queries.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { makeCold, withArchive } from './cold-days.ts';
import { compactAll } from './compacted.ts';
import { openDatabase } from './store.ts';

/*
 * `node test/support/cool-days.ts cool|read <address> <folder> <organization>…`: makes old days
 * cold, or reads all events. With `compact <address>`, compacts executions, and with
 * `late <address> <file>` records the batches of events of a file. Tests kill it.
 */

const [, , what, url = '', place = '', ...organizations] = process.argv;
await using db = openDatabase(url);
console.log('begun');
if (what === 'cool') await makeCold({ db, url }, place);
else if (what === 'compact') await compactAll(db);
else if (what === 'late') {
  const batches = JSON.parse(await readFile(place, 'utf8')) as AcceptedEvent[][];
  for (const batch of batches) await recordEvents(db, batch);
} else {
  const record = createQueries(withArchive(db, place));
  for (const organization of organizations) {
    for await (const { items } of record.exportEvents(organization, {}, { limit: 100 })) console.log(items.length);
  }
}
