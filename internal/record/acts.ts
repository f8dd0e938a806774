import type { Ending } from '../event/closing.ts';
import type { MacKey } from '../ledger/mac.ts';
import { isMade } from '../store/acts/act-mac.ts';
import { readMutes } from '../store/acts/read-mutes.ts';
import type { Database } from '../store/database.ts';
import { sql, type Selectable } from '../store/sql.ts';
import type { ActKind, ActsTable, MuteWindow } from '../store/tables/acts-table.ts';
import { readAs, type Reading } from './read-as.ts';

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
export function listMutes(db: Database, actKeys: readonly MacKey[], organization: string): Promise<Act[]> {
  return readAs(db, organization, async (reading) =>
    (await readMutes(reading, sql`now()`, actKeys, organization)).map(actOf),
  );
}

/** The newest acts about an automation, or about one of its executions; newest first. */
export function listActsOn(
  db: Database,
  actKeys: readonly MacKey[],
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
    return rows.filter((row) => isMade(actKeys, row)).map(actOf);
  });
}

/** Who has acknowledged open alerts: by automation and kind, with a space between. */
export function listAcknowledged(
  db: Database,
  actKeys: readonly MacKey[],
  organization: string,
): Promise<ReadonlyMap<string, Acknowledgement>> {
  return readAs(db, organization, async (reading) => {
    const { rows } = await sql<Row & { key: string }>`
      select c.*, concat_ws(' ', a.automation_id, a.kind) as key
      from alerts a join acts c on c.organization = a.organization and c.about = a.id
      where a.organization = ${organization} and a.resolved_at is null and c.kind = 'acknowledge'
      order by c.made_at
    `.execute(reading);
    return new Map(rows.filter((row) => isMade(actKeys, row)).map((row) => [row.key, acknowledgementOf(row)]));
  });
}

/** Who last acknowledged each of these alerts, by the alert's id. */
export async function readAcknowledged(
  reading: Reading,
  actKeys: readonly MacKey[],
  organization: string,
  alerts: readonly string[],
): Promise<ReadonlyMap<string | null, Acknowledgement>> {
  const { rows } = await sql<Row>`
    select * from acts
    where organization = ${organization} and kind = 'acknowledge' and about = any(${alerts}::uuid[])
    order by made_at
  `.execute(reading);
  return new Map(rows.filter((row) => isMade(actKeys, row)).map((row) => [row.about, acknowledgementOf(row)]));
}

function acknowledgementOf({ made_by: by, made_at, note }: Row): Acknowledgement {
  return { by, at: made_at.toISOString(), note };
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
