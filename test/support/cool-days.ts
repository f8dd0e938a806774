import { makeCold } from './cold-days.ts';
import { openDatabase } from './store.ts';

/* `node test/support/cool-days.ts <address> <folder>`: makes old days cold. Tests kill it. */

const [, , url = '', folder = ''] = process.argv;
await using db = openDatabase(url);
await makeCold({ db, url }, folder);
