import { alertmanagerNamespace } from '../../expectation/read-channel.ts';
import { unavailable } from '../../kit/errors/request-error.ts';
import type { Database } from '../../store/database.ts';
import { isForbidden, isTimeout, isUnavailable } from '../../store/errors.ts';
import { noAutomation } from '../../store/reader-role.ts';
import { sql } from '../../store/sql.ts';
import { testEvent } from './cloud-event.ts';
import { insertMessages } from './insert-messages.ts';
import { ConsoleLinks } from './links.ts';

const missingRight =
  "The console's user of Postgres may not send tests: run runledger-admin migrate, or grant select on channels and on deliveries, " +
  'and insert on deliveries.';

/**
 * Puts a test of a channel, or of the Alertmanagers, into the outbox. Resolves with `waiting` if
 * the last test of this channel has not been sent, and with `gone` if there is no such channel.
 * @throws {RequestError} if Postgres cannot write it now.
 */
export async function sendTest(
  db: Database,
  publicUrl: URL,
  channel: { organization: string; namespace: string; name: string },
): Promise<'sent' | 'waiting' | 'gone'> {
  try {
    return await enqueueTest(db, publicUrl, channel);
  } catch (error) {
    if (isForbidden(error)) throw unavailable(missingRight, error);
    if (!isTimeout(error) && !isUnavailable(error)) throw error;
    throw unavailable('The test cannot be stored now.', error);
  }
}

function enqueueTest(
  db: Database,
  publicUrl: URL,
  channel: { organization: string; namespace: string; name: string },
): Promise<'sent' | 'waiting' | 'gone'> {
  const { organization, namespace, name } = channel;
  const receiver =
    namespace === alertmanagerNamespace
      ? sql`controller_state where alertmanagers <> '{}'`
      : sql`channels where organization = ${organization} and namespace = ${namespace} and name = ${name}`;
  return db.transaction().execute(async (trx) => {
    // A user in runledger_reader sees and writes only rows of this organization.
    await sql`select set_config('runledger.organization', ${organization}, true)`.execute(trx);
    const { rows } = await sql<{ waiting: boolean }>`
      select exists (
        select from deliveries d where d.organization = ${organization} and d.automation_id = ${noAutomation}::uuid
          and d.channel_namespace = ${namespace} and d.channel_name = ${name}
          and d.delivered_at is null and d.given_up_at is null
      ) as waiting
      from ${receiver}
    `.execute(trx);
    const [found] = rows;
    if (found === undefined) return 'gone';
    if (found.waiting) return 'waiting';
    const event = testEvent(organization, new ConsoleLinks(publicUrl));
    await insertMessages(trx, [{ channel, automationId: noAutomation, event }]);
    return 'sent';
  });
}
