import type { Tables } from '../store/database.ts';
import { sql, type Transaction } from '../store/sql.ts';
import type { Declarations } from './declarations.ts';
import { syncAutomations, syncSilent, syncWebhooks } from './sync-tables.ts';

/**
 * Keeps the tables equal to the declarations. It reads all rows only after a change of the
 * declarations or of the table: Postgres digests 10,000 rows in 20 ms, and comparing them here
 * would take half of the CPU time of a tick with nothing due.
 */
export class TableSync {
  /** The last declarations that the table was equal to, and its digest then. */
  #synced: { automations: Declarations['automations']; digest: string } | undefined;

  /** Runs in the transaction of a tick. Rules whose meaning changed hold from `now` on. */
  async run(trx: Transaction<Tables>, { automations, webhooks, silent = [] }: Declarations, now: Date): Promise<void> {
    if (this.#synced?.automations !== automations || this.#synced.digest !== (await digestOf(trx))) {
      await syncAutomations(trx, automations, now);
      this.#synced = { automations, digest: await digestOf(trx) };
    }
    await syncWebhooks(trx, webhooks);
    await syncSilent(trx, silent);
  }
}

/** A text that changes with the version of any automation in the table. */
async function digestOf(trx: Transaction<Tables>): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select coalesce(sum(hashtextextended(
      concat_ws('/', organization, automation_id, namespace, name, uid, generation), 0)), 0)::text as digest
    from automations where declared
  `.execute(trx);
  return rows[0]?.digest ?? '';
}
