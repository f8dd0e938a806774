import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { dayOf } from '../../internal/store/partitions/days.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { anEvent, someEvent } from '../support/events.ts';
import { namesIn, runExport, temporaryFolder } from '../support/export.ts';
import { day } from '../support/maintenance-day.ts';
import { migratedDatabase } from '../support/store.ts';
import { installClients } from './clients.ts';

describe('an export as Parquet', function suite() {
  this.timeout(180_000);

  it('holds the same events as NDJSON, for DuckDB and for pyarrow', async () => {
    const python = join(await installClients('parquet-requirements.txt'), 'python');
    await using database = await migratedDatabase();
    await using folder = await temporaryFolder();
    const long = Array.from({ length: 9 }, (_, at) => anEvent({ errorDescription: `${at}é\u2028`.repeat(400_000) }));
    const events = [...fc.sample(someEvent, 400), ...long].map((event) => ({ ...event, organization: 'acme' }));
    await recordEvents(database.db, events);

    const exported = async (format: string): Promise<Buffer> => {
      const to = new Date(Date.now() + 60_000).toISOString();
      const args = ['-', '--organization', 'acme', '--format', format, '--to', to];
      const { code, stdout, stderr } = await runExport({ DATABASE_URL: database.url }, args);
      expect(code, stderr).to.equal(0);
      return stdout;
    };
    const file = join(folder.path, 'events.parquet');
    await writeFile(file, await exported('parquet'));
    const lines = await exported('ndjson');
    const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, 'read_parquet.py'), file]);
    const { groups, ...checksums } = JSON.parse(stdout) as Record<string, unknown>;
    const sha256 = createHash('sha256').update(lines).digest('hex');
    expect(checksums).to.deep.equal({ duckdb: sha256, pyarrow: sha256 });
    expect(groups).to.be.above(1);
    expect(lines.toString().trimEnd().split('\n')).to.have.lengthOf(409);
  });

  it('lets DuckDB and pyarrow skip the row groups that an execution is not in', async () => {
    const python = join(await installClients('parquet-requirements.txt'), 'python');
    await using database = await migratedDatabase();
    await using folder = await temporaryFolder();
    const at = dayOf(Date.now()) - 5 * day;
    const rows = 21_000;
    const events = Array.from({ length: rows }, (_, number) =>
      anEvent({ createdAt: at + number, executionId: `run ${String(number % (rows / 3)).padStart(6, '0')}` }),
    );
    for (let from = 0; from < rows; from += 3_000) await recordEvents(database.db, events.slice(from, from + 3_000));
    const { code, stderr } = await runExport({ DATABASE_URL: database.url }, [folder.path]);
    expect(code, stderr).to.equal(0);
    const object = (await namesIn(folder.path)).find((name) => name.endsWith('.parquet')) ?? '';
    const [wanted = anEvent()] = events.slice(4_321);
    const args = [
      join(folder.path, object),
      wanted.automationId,
      wanted.executionId,
      join(folder.path, 'profile.json'),
    ];
    const script = join(import.meta.dirname, 'skip_row_groups.py');
    const { stdout } = await promisify(execFile)(python, [script, ...args]);
    const found = JSON.parse(stdout) as unknown;
    const ids = events.filter(({ executionId }) => executionId === wanted.executionId).map(({ id }) => id);
    const all = ids.toSorted();
    expect(found).to.deep.equal({
      groups: 5,
      read_by_pyarrow: 1,
      read_by_duckdb: 1,
      by_pyarrow: all,
      by_duckdb: all,
    });
  });
});
