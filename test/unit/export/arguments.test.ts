import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { runExport } from '../../support/export.ts';

describe('the arguments of export', () => {
  it('are explained when they are wrong', async () => {
    const stream = ['-', '--organization', 'acme'];
    for (const [args, sentence] of [
      [[], 'name one folder or s3:// address, or - for standard output; or set ARCHIVE_URL'],
      [['-'], 'standard output takes the events of one --organization'],
      [['/x', '--format', 'xml'], '--format must be ndjson, csv, parquet'],
      [['/x', '--from', 'yesterday'], '--from must be a day such as 2026-11-21'],
      [['/x', '--from', '2026-11-21T10:00:00Z'], '--from must be a day such as 2026-11-21'],
      [['/x', '--to', '2026-02-30'], '--to must be a day such as 2026-11-21'],
      [[...stream, '--from', 'yesterday'], '--from must be a day or a time in RFC 3339'],
      [[...stream, '--from', '2026-02-30'], '--from must be a day or a time in RFC 3339'],
      [[...stream, '--to', '2026-02-30T10:00:00Z'], '--to must be a day or a time in RFC 3339'],
      [[...stream, '--recheck'], '--recheck is not for standard output'],
      [[...stream, '--settle-hours', '24'], '--settle-hours is not for standard output'],
      [[...stream, '--after', '2026-11-20T12:00:00Z,x'], '--after must be created_at and id'],
      [['/x', '--after', `2026-11-20T12:00:00Z,${randomUUID()}`], '--after is for standard output only'],
      [['/x', '--after', 'foo'], '--after is for standard output only'],
      [['/x', '--from', '2026-11-22', '--to', '2026-11-21'], '--from must be before --to'],
      [[...stream, '--from', '2026-11-21', '--to', '2026-11-21T00:00:00Z'], '--from must be before --to'],
      [[...stream, '--after', 'foo'], '--after must be created_at and id of an event, with a comma between'],
      [['/x', '--settle-hours', 'day'], '--settle-hours must be a whole number'],
      [['/x', '--wrong'], "Unknown option '--wrong'"],
    ] as const) {
      const { code, stderr } = await runExport({ DATABASE_URL: 'postgres://127.0.0.1:1/none' }, args);
      expect(code, stderr).to.equal(2);
      expect(stderr).to.contain(`export: ${sentence}`).and.contain('runledger-admin export --help');
    }
  });

  it('need the address of a database', async () => {
    const { code, stderr } = await runExport({}, ['/x']);
    expect([code, stderr]).to.deep.equal([
      2,
      'export: DATABASE_URL is required: postgres://user:password@host:5432/database\n',
    ]);
  });
});
