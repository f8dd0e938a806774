import { expect } from 'chai';
import {
  acme20,
  globex20,
  manifestOf,
  namesIn,
  runExport,
  temporaryFolder,
  withManifest,
} from '../../support/export.ts';
import { storeEvents } from '../../support/reading.ts';
import { place, twoDatabases } from '../../support/two-databases.ts';

describe('the command export with several databases', () => {
  it('exports each organization from the database where it is', async () => {
    await using databases = await twoDatabases();
    const { first, eu, settings } = databases;
    await place(first.db, 'globex', 'eu');
    await storeEvents(first.db, {}, { organization: 'globex', executionId: 'left behind' });
    await storeEvents(eu.db, { organization: 'globex' }, { organization: 'globex' }, { executionId: 'of acme' });
    await using folder = await temporaryFolder();
    const all = await runExport(settings, [folder.path, '--format', 'ndjson']);
    expect(all.stderr).to.contain('wrote 2 days of organizations with 3 events');
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(acme20, globex20));
    expect((await manifestOf(folder.path, globex20)).rows).to.equal(2);
    const stream = await runExport(settings, ['-', '--organization', 'globex']);
    expect(stream.stderr).to.match(/^2 events/);
  });

  it('exports the other databases if one is unavailable, and explains a missing one', async () => {
    await using databases = await twoDatabases();
    const { first, eu, settings } = databases;
    await place(first.db, 'globex', 'eu');
    await place(first.db, 'initech', 'asia');
    await storeEvents(eu.db, { organization: 'globex' });
    await using folder = await temporaryFolder();
    const args = [folder.path, '--format', 'ndjson'];
    expect(await runExport(settings, args)).to.deep.include({
      code: 1,
      stderr: 'export: DATABASE_URLS lacks the database asia, where initech is\n',
    });
    await storeEvents(first.db, { organization: 'globex', executionId: 'left behind' });
    expect(await runExport({ DATABASE_URL: first.url }, args)).to.deep.include({
      code: 1,
      stderr: 'export: DATABASE_URLS lacks the database eu, where globex is\n',
    });
    expect(await namesIn(folder.path)).to.deep.equal([]);
    const urls = `asia=${first.url}_gone africa=${first.url}_lost ${settings.DATABASE_URLS}`;
    const { code, stderr } = await runExport({ ...settings, DATABASE_URLS: urls }, args);
    expect(code).to.equal(1);
    expect(stderr.split('\n')).to.have.lengthOf(3);
    expect(stderr).to.match(/^export: database asia: database ".*_gone" does not exist$/m);
    expect(stderr).to.match(/^export: database africa: database ".*_lost" does not exist$/m);
    expect(await namesIn(folder.path)).to.deep.equal(withManifest(globex20));
  });
});
