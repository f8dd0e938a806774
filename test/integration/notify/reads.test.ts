import { expect } from 'chai';
import { executionSteps } from '../../../internal/controller/notify/execution-steps.ts';
import { runsOfAlerts } from '../../../internal/controller/notify/alert-runs.ts';
import { giveUpOld } from '../../../internal/controller/notify/note-result.ts';
import { alertsToTell } from '../../../internal/controller/notify/told-alerts.ts';
import { recordEvents } from '../../../internal/store/record-events.ts';
import { anEvent } from '../../support/events.ts';
import { readsOf, type Reads } from '../../support/explained.ts';
import { declare, declareChannel, invoices, storeAlert, transition } from '../../support/notify/expectations.ts';
import { query } from '../../support/postgres-server.ts';
import { migratedDatabase, type TestDatabase } from '../../support/store.ts';

const organization = 'acme';
const begin = Date.parse('2026-11-20T12:00:00Z');

/** A long history: alerts that are over, deliveries that wait, and a run with many events. */
async function fill({ db, url }: TestDatabase, count: number): Promise<void> {
  await declare(db);
  await storeAlert(db, transition('opened'));
  await query(
    url,
    `with over as (
       insert into alerts (id, organization, automation_id, kind, occurrence, reason, facts, opened_at, seen_at, resolved_at)
       select gen_random_uuid(), '${organization}', '${invoices}', 'missing', number::text, 'x', '{}', now(), now(), now()
       from generate_series(1, ${count}) as number returning id
     )
     insert into alert_notices (alert_id, receiver, organization, first_told_at, resolved_told_at)
     select id, 'a', '${organization}', now(), now() from over`,
  );
  await declareChannel(db, { url: 'https://acme.test/' });
  await query(
    url,
    `insert into deliveries (id, organization, automation_id, channel_namespace, channel_name, event)
     select gen_random_uuid(), organization, gen_random_uuid(), namespace, name, '{}'
     from generate_series(1, ${count}), channels`,
  );
  await recordEvents(db, [
    anEvent({ automationId: invoices, kind: 'START', createdAt: begin }),
    anEvent({ automationId: invoices, kind: 'ERROR', createdAt: begin + 1 }),
    anEvent({ automationId: invoices, kind: 'ERROR', createdAt: begin + 3_600_000 }),
  ]);
  await query(
    url,
    `insert into events (organization, created_at, id, automation_id, execution_id, kind, description, error_id, error_description)
     select organization, created_at + place, gen_random_uuid(), automation_id,
       case name when 'run 1' then name else name || number % 200 end, kind, '', '', ''
     from events, generate_series(1, ${count / 2}) as number,
       (values ('run 1', interval '1 second'), ('other run ', interval '-30 minutes')) as copies (name, place)
     where created_at = to_timestamp(${begin + 1} / 1000.0)::timestamptz(3)`,
  );
  await query(url, 'vacuum analyze');
}

describe('what notifications read', () => {
  it('is the same after 100,000 alerts, deliveries and events as after 1,000', async function () {
    this.timeout(120_000);
    const reads: Record<string, Reads[]> = {};
    for (const count of [1_000, 100_000]) {
      await using database = await migratedDatabase();
      await fill(database, count);
      const measure = async (what: string, work: Parameters<typeof readsOf>[1]): Promise<void> => {
        (reads[what] ??= []).push(await readsOf(database.url, work));
      };
      await measure('alerts to tell', (db) => alertsToTell(db, 'a'));
      await measure('deliveries to give up', giveUpOld);
      const window = { from: new Date(begin + 1_800_000), to: new Date(begin + 7_200_000), most: 100 };
      await measure('steps of executions', (db) =>
        db.transaction().execute((trx) => executionSteps(trx, organization, window)),
      );
      const alert = { id: invoices, organization, automationId: invoices, facts: { execution: 'run 1' } };
      await measure('the run of an alert', (db) => runsOfAlerts(db, [alert]));
    }
    for (const [what, [few, many]] of Object.entries(reads)) {
      const text = `${what}: ${few?.pages} and ${many?.pages} pages`;
      expect(many?.pages ?? Infinity, text).to.be.at.most(2 * (few?.pages ?? 0) + 20);
    }
  });
});
