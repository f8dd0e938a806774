import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { Child, compileCache } from '../support/child.ts';
import { runExport, temporaryFolder } from '../support/export.ts';
import { day } from '../support/maintenance-day.ts';
import { storeEvents } from '../support/reading.ts';
import { eachDatabase } from '../support/store.ts';

describe('the command export, when there is nothing to write or something is wrong', () => {
  const database = eachDatabase();

  it('says which day is due when there is none to export', async () => {
    await using folder = await temporaryFolder();
    const newestOf = (hours: number): string =>
      new Date(Date.now() - hours * 3_600_000 - day).toISOString().slice(0, 10);
    for (const [hours, inWords] of [
      [24, '24 hours'],
      [1, '1 hour'],
    ] as const) {
      const before = newestOf(hours);
      const { code, stdout, stderr } = await runExport({ DATABASE_URL: database.url }, [
        folder.path,
        '--settle-hours',
        `${hours}`,
      ]);
      const sentence = (newest: string): string =>
        `${pathToFileURL(folder.path).href}: nothing to export: the newest day that is due is ${newest} ` +
        `(a day is due ${inWords} after its end, see --settle-hours)\n`;
      expect([code, stdout.toString()]).to.deep.equal([0, '']);
      // Midnight may pass.
      expect(stderr).to.be.oneOf([sentence(before), sentence(newestOf(hours))]);
    }
  });

  it('says that a place is wrong also when no day is due', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    const { code, stderr } = await runExport({ DATABASE_URL: database.url }, [file]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^export: file:.*\/file: ENOTDIR: not a directory/);

    const env = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'x', AWS_ACCESS_KEY_ID: 'x' };
    const child = new Child(process.execPath, ['cmd/admin/main.ts', 'export', 's3://record/archive'], {
      env: { PATH: process.env['PATH'], DATABASE_URL: database.url, AWS_SECRET_ACCESS_KEY: 'x', ...env },
    });
    expect(await child.exited, child.output.join('\n')).to.equal(1);
    expect(child.output).to.deep.equal(['export: s3://record/archive: connect ECONNREFUSED 127.0.0.1:1']);
  });

  it('says that a signal has stopped standard output', async () => {
    const description = 'x'.repeat(18_000);
    await storeEvents(database.db, ...Array.from({ length: 100 }, () => ({ description })));
    const child = spawn(process.execPath, ['cmd/admin/main.ts', 'export', '-', '--organization', 'acme'], {
      env: { PATH: process.env['PATH'], ...compileCache, DATABASE_URL: database.url },
    });
    const [said, exited] = [text(child.stderr), once(child, 'exit')];
    // More than a pipe holds, and nobody reads it.
    await once(child.stdout, 'readable');
    child.kill('SIGINT');
    expect(await exited).to.deep.equal([130, null]);
    expect(await said).to.equal('export: stopped by SIGINT; the output may lack events, and end within a line\n');
  });
});
