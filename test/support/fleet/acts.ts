import { randomUUID } from 'node:crypto';
import type { Database } from '../../../internal/store/database.ts';
import { executionWith, openAlertIn } from '../some-execution.ts';

const hourMs = 3_600_000;

/** What the owners of acme did: mutes, an acknowledgement, and notes on the newest failure. */
export async function storeActs(db: Database, mutedAutomation: string): Promise<void> {
  const now = Date.now();
  const by = { organization: 'acme', made_by: 'Olga Ruiz', recorded_at: new Date(now) };
  const [automation = '', run = ''] = (await executionWith({ db }, 'failed')).split('/');
  const ofRun = { automation_id: automation, execution_id: decodeURIComponent(run) };
  const alert = await openAlertIn({ db });
  const window = { schedule: '0 2 * * 0', timeZone: 'Europe/Madrid', duration: '2h' };
  await db
    .insertInto('acts')
    .values([
      {
        ...by,
        id: randomUUID(),
        kind: 'mute',
        automation_id: mutedAutomation,
        note: 'The provider changes its interface this morning; Marta follows it',
        until_at: new Date(now + 3 * hourMs),
        details: '{}',
      },
      {
        ...by,
        id: randomUUID(),
        kind: 'mute',
        note: 'Weekly patches of the hosts',
        details: JSON.stringify({ window }),
      },
      {
        ...by,
        id: randomUUID(),
        kind: 'acknowledge',
        about: alert,
        note: 'I look into it with the bank',
        details: '{}',
      },
      { ...by, ...ofRun, id: randomUUID(), kind: 'note', note: 'Same cause as last week: ticket 4711', details: '{}' },
    ])
    .execute();
}
