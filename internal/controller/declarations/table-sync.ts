import { together, type Failed, type Turns } from '../../store/apart.ts';
import type { Tables } from '../../store/database.ts';
import { sql, type Transaction } from '../../store/sql.ts';
import type { Declarations, DeclaredAutomation, DeclaredChannel } from './declarations.ts';
import { syncAutomations, syncSilent, syncChannels } from './sync-tables.ts';

/** The declarations that Postgres refuses. */
export interface Unstored {
  readonly automations: readonly Failed<DeclaredAutomation>[];
  readonly channels: readonly Failed<DeclaredChannel>[];
}

/**
 * Keeps the tables equal to the declarations. It compares rows only after a change of the
 * declarations or of a table, which a digest detects: Postgres digests 10,000 rows in 20 ms, but
 * comparing them here would take half of the CPU time of an idle tick.
 */
export class TableSync {
  /** The last declarations that the table was equal to, and its digest then. */
  #automations: { declared: Declarations['automations']; digest: string } | undefined;
  #channels: { declared: Declarations['channels']; digest: string } | undefined;

  /**
   * Runs in the transaction of a tick. Rules whose meaning changed hold from `now` on. Resolves
   * with what Postgres refuses, if `turns` isolates it.
   */
  async run(
    trx: Transaction<Tables>,
    { automations, channels, silent = [] }: Declarations,
    now: Date,
    turns: Turns = together,
  ): Promise<Unstored> {
    const unstored = { automations: [] as Failed<DeclaredAutomation>[], channels: [] as Failed<DeclaredChannel>[] };
    if (this.#automations?.declared !== automations || this.#automations.digest !== (await digestOf(trx, versions))) {
      unstored.automations = await syncAutomations(trx, automations, now, turns);
      this.#automations = { declared: automations, digest: await digestOf(trx, versions) };
    }
    if (this.#channels?.declared !== channels || this.#channels.digest !== (await digestOf(trx, contents))) {
      unstored.channels = await syncChannels(trx, channels, turns);
      this.#channels = { declared: channels, digest: await digestOf(trx, contents) };
    }
    await syncSilent(trx, silent);
    return unstored;
  }
}

const versions = sql`concat_ws('/', organization, automation_id, namespace, name, uid, generation) as text
  from automations where declared`;
const contents = sql`concat_ws('/', organization, namespace, name, type, url, "to", secret_ref, kinds, filter,
  quiet_hours) as text from channels`;

/** A digest that changes with any of the texts. */
async function digestOf(trx: Transaction<Tables>, texts: typeof versions): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select coalesce(sum(hashtextextended(text, 0)), 0)::text as digest from (select ${texts}) as texts
  `.execute(trx);
  return rows[0]?.digest ?? '';
}
