import { expect } from 'chai';
import { isDataError } from '../../internal/store/errors.ts';
import { maintain } from '../../internal/store/partitions/maintain.ts';
import { recordEvents } from '../../internal/store/record-events.ts';
import { runAdmin } from '../support/admin.ts';
import { anEvent } from '../support/events.ts';
import { failureOf } from '../support/failure.ts';
import { query, PostgresServer } from '../support/postgres-server.ts';
import { migrate, openDatabase } from '../support/store.ts';
import { until } from '../support/until.ts';

/** Ways to make a database, by name. */
const locales = {
  C: `locale 'C'`,
  'en_US.utf8': `locale 'en_US.utf8'`,
  'C.utf8': `locale 'C.utf8'`,
  ICU: `locale 'C' locale_provider icu icu_locale 'en-US'`,
};

describe('erase, in a Postgres of its own', () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.stop());

  /** A migrated database; undefined if the machine lacks its locale. */
  async function databaseWith(name: string, how: string): Promise<string | undefined> {
    try {
      await server.query(`create database ${name} template template0 encoding 'UTF8' ${how}`);
    } catch (error) {
      if (/invalid|locale/.test(String(error))) return undefined;
      throw error;
    }
    await migrate(server.url(name));
    return server.url(name);
  }

  for (const [at, [locale, how]] of Object.entries(locales).entries()) {
    it(`finds a name in any spelling with ${locale}`, async function () {
      const url = await databaseWith(`locale_${at}`, how);
      if (url === undefined) {
        this.skip();
        return;
      }
      await using db = openDatabase(url);
      const texts = ['Frau MÜLLER', 'Frau Mu\u0308ller', 'Ｍüｌｌｅｒ', 'Muller', 'нет', 'Straße 1'];
      await recordEvents(
        db,
        texts.map((description, place) => anEvent({ description, createdAt: Date.now() - 100 + place })),
      );
      const erase = async (text: string): Promise<void> => {
        const args = [
          'erase',
          '--organization',
          'acme',
          '--by',
          'ana',
          '--reason',
          'ticket 7',
          '--text',
          text,
          '--yes',
        ];
        const { code, stderr } = await runAdmin(args, { env: { DATABASE_URL: url } });
        expect(code, stderr).to.equal(0);
      };
      await erase('müller');
      await erase('НЕТ');
      await erase('STRASSE');
      const left = await db.selectFrom('events').select('description').orderBy('created_at').execute();
      expect(left.map(({ description }) => description)).to.deep.equal(['', '', '', 'Muller', '', '']);
    });
  }

  it('need not search the log of Postgres: a refused row is not written there', async () => {
    const url = await databaseWith('refusing', locales.C);
    expect(url).to.not.equal(undefined);
    await using db = openDatabase(url ?? '');
    await maintain(db, { now: Date.now(), daysAhead: 1, retentionDays: 0 });
    await query(url ?? '', `alter table events add constraint odd check (description <> 'of Jane')`);
    const refused = anEvent({ createdAt: Date.now(), description: 'of Jane', errorDescription: 'Jane was here' });
    const error = await failureOf(recordEvents(db, [refused]));
    expect(isDataError(error), String(error)).to.equal(true);
    // Its statement follows it.
    await until('the refusal is in the log', () => /constraint "odd"[^]*STATEMENT/.test(server.log.join('\n')));
    expect(server.log.join('\n')).to.not.contain('Jane');
  });
});
