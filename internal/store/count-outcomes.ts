import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The outcomes of one automation. */
export interface AutomationOutcomes {
  organization: string;
  automation: string;
  running: number;
  succeeded: number;
  failed: number;
  /** Recorded events of every kind. */
  events: number;
}

/** Counts outcomes by organization and automation: for the given automations, or for all. */
export async function countOutcomes(db: Database, automations: readonly string[]): Promise<AutomationOutcomes[]> {
  const { rows } = await sql<AutomationOutcomes>`
    select
      organization,
      automation_id as automation,
      count(*) filter (where state = 'running')::integer as running,
      count(*) filter (where state = 'succeeded')::integer as succeeded,
      count(*) filter (where state = 'failed')::integer as failed,
      sum(start_count + event_count + warning_count + error_count + end_count)::integer as events
    from executions
    where ${automations.length} = 0 or automation_id::text = any(${automations.map((id) => id.toLowerCase())}::text[])
    group by organization, automation_id
    order by organization, automation_id
  `.execute(db);
  return rows;
}
