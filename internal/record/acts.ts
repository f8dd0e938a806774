import type { Ending } from '../event/closing.ts';
import { isMuteInForce } from '../store/acts/acts.ts';
import type { Database } from '../store/database.ts';
import { sql, type Selectable } from '../store/sql.ts';
import type { ActKind, ActsTable, MuteWindow } from '../store/tables/acts-table.ts';
import { readAs } from './read-as.ts';

export type { NewAct } from '../store/acts/acts.ts';
export type { ActKind, MuteWindow } from '../store/tables/acts-table.ts';

/** What an owner did. Times are ISO 8601, UTC. */
export interface Act {
  id: string;
  kind: ActKind;
  /** Null for a mute of the whole organization. */
  automation: string | null;
  execution_id: string | null;
  /** The alert that was acknowledged, or the mute that was ended. */
  about: string | null;
  /** Why, in that person's words; empty once it is erased. */
  note: string;
  by: string;
  at: string;
  /** When a mute ends; null for a window that repeats until somebody ends it. */
  until: string | null;
  /** The window of a mute that repeats. */
  window: MuteWindow | null;
  /** What became of a run that was closed. */
  as: Ending | null;
  /** False until a worker has recorded it: the events of a closing follow. */
  recorded: boolean;
}

/** Who knows of an alert, and since when. */
export interface Acknowledgement {
  by: string;
  at: string;
  note: string;
}

/** The mutes in force or to come, newest first. */
export function listMutes(db: Database, organization: string): Promise<Act[]> {
  return readAs(db, organization, async (reading) => {
    const { rows } = await sql<Row>`
      select * from acts m where m.organization = ${organization} and ${isMuteInForce(sql`now()`)}
      order by made_at desc
    `.execute(reading);
    return rows.map(actOf);
  });
}

/** The newest acts about an automation, or about one of its executions; newest first. */
export function listActsOn(
  db: Database,
  organization: string,
  { automationId, executionId }: { automationId: string; executionId?: string | undefined },
  limit: number,
): Promise<Act[]> {
  const ofExecution = executionId === undefined ? sql`` : sql`and execution_id = ${executionId}`;
  return readAs(db, organization, async (reading) => {
    const { rows } = await sql<Row>`
      select * from acts where organization = ${organization} and automation_id = ${automationId}::uuid ${ofExecution}
      order by made_at desc, id limit ${limit}
    `.execute(reading);
    return rows.map(actOf);
  });
}

/** Who has acknowledged open alerts: by automation and kind, with a space between. */
export function listAcknowledged(db: Database, organization: string): Promise<ReadonlyMap<string, Acknowledgement>> {
  return readAs(db, organization, async (reading) => {
    const { rows } = await sql<{ key: string; made_by: string; made_at: Date; note: string }>`
      select concat_ws(' ', a.automation_id, a.kind) as key, c.made_by, c.made_at, c.note
      from alerts a join acts c on c.organization = a.organization and c.about = a.id
      where a.organization = ${organization} and a.resolved_at is null and c.kind = 'acknowledge'
      order by c.made_at
    `.execute(reading);
    return new Map(
      rows.map(({ key, made_by, made_at, note }) => [key, { by: made_by, at: made_at.toISOString(), note }]),
    );
  });
}

type Row = Selectable<ActsTable>;

function actOf(row: Row): Act {
  return {
    id: row.id,
    kind: row.kind,
    automation: row.automation_id,
    execution_id: row.execution_id,
    about: row.about,
    note: row.note,
    by: row.made_by,
    at: row.made_at.toISOString(),
    until: row.until_at?.toISOString() ?? null,
    window: row.details.window ?? null,
    as: row.details.as ?? null,
    recorded: row.recorded_at !== null,
  };
}
