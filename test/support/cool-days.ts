import { createQueries } from '../../internal/record/queries.ts';
import { makeCold, withArchive } from './cold-days.ts';
import { openDatabase } from './store.ts';

/*
 * `node test/support/cool-days.ts cool|read <address> <folder> <organization>…`: makes old days
 * cold, or reads all events. Tests kill it.
 */

const [, , what, url = '', folder = '', ...organizations] = process.argv;
await using db = openDatabase(url);
console.log('begun');
if (what === 'cool') await makeCold({ db, url }, folder);
else {
  const record = createQueries(withArchive(db, folder));
  for (const organization of organizations) {
    for await (const { items } of record.exportEvents(organization, {}, { limit: 100 })) console.log(items.length);
  }
}
