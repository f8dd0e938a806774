import { ConfigError } from '../../../internal/config/read.ts';
import { macKeysOf } from '../../../internal/ledger/mac.ts';
import { countUnsealed, sealOlder, type OlderStep } from '../../../internal/store/ledger/seal-older.ts';
import { listColdObjects } from '../../../internal/store/partitions/cold-days.ts';
import type { Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import type { seal } from './options.ts';

/** Events of a step, which takes about a second, and of a page, which blocks for 10 ms. */
const step = { most: 50_000, pageSize: 2_000 };

export const run: Run<typeof seal> = async ({ yes, ...given }, { settings, print, show }) => {
  const { organization } = given;
  const config = settings();
  const [key] = macKeysOf(config);
  if (key === undefined) throw new ConfigError('LEDGER_MAC_KEY or LEDGER_KEY is required');
  await using databases = openDatabases(config, { command: 'seal', most: 1 });
  const db = await databases.databaseOf(organization);
  const cold = await listColdObjects(db, organization);
  if (cold.length > 0)
    print(`${cold.length} objects of the archive hold older events, which this command leaves alone.\n`);
  if (!yes) {
    const unsealed = await countUnsealed(db, organization, step.pageSize);
    print(`${unsealed} events of ${organization} have no leaf. Add --yes to seal them.\n`);
    return;
  }
  const events = db.selectFrom('events').where('organization', '=', organization);
  const { total } = await events.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow();
  let [sealed, looked, ends] = [0, 0, false];
  const segments: string[] = [];
  for (let after: OlderStep['after']; !ends;) {
    const report = await sealOlder(db, key, { ...given, ...step, after, segments });
    segments.push(...report.segments);
    sealed += report.added;
    looked += report.looked;
    after = report.last;
    ends = report.looked < step.most;
    show({ done: looked, total: Number(total), events: looked });
  }
  print(`${sealed} events of ${organization} got their leaves.\n`);
};
