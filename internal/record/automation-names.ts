import { foldedText } from '../event/folded-text.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { readAs } from './read-as.ts';

/** Most automations searched for a name: those with the smallest ids. */
const most = 10_000;

/** The names of automations by lower-case id. Automations without a name are absent. */
export type AutomationNames = ReadonlyMap<string, string>;

interface NameRow {
  automation_id: string;
  namespace: string;
  name: string;
  display_name: string;
  declared: boolean;
}

const columns = sql.raw('automation_id, namespace, name, display_name, declared');

/** The names of some automations. */
export function namesOf(db: Database, organization: string, automations: readonly string[]): Promise<AutomationNames> {
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<NameRow>`
      select ${columns} from automations
      where organization = ${organization} and automation_id = any(${[...automations]}::uuid[])
    `.execute(trx);
    return new Map(rows.map((row) => [row.automation_id, nameOf(row)] as const).filter(([, name]) => name !== ''));
  });
}

/**
 * The automations with this display name, or this name in Kubernetes with or without the namespace,
 * in any letter case. In the order of their ids.
 */
export function findByName(db: Database, organization: string, name: string): Promise<string[]> {
  const wanted = foldedText(name.trim());
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<NameRow>`
      select ${columns} from automations where organization = ${organization}
      order by automation_id limit ${sql.lit(most)}
    `.execute(trx);
    return rows
      .filter((row) => allNamesOf(row).some((one) => foldedText(one) === wanted))
      .map((row) => row.automation_id);
  });
}

/** Empty for one that nobody declared or named. */
function nameOf({ display_name, name, declared }: NameRow): string {
  return display_name !== '' || !declared ? display_name : name;
}

function allNamesOf(row: NameRow): string[] {
  const { namespace, name, display_name, declared } = row;
  return [display_name, ...(declared ? [name, `${namespace}/${name}`] : [])];
}

/** Automations with this owner and this tag, as declared, in any letter case; by their ids. */
export function findDeclared(
  db: Database,
  organization: string,
  wanted: { owner?: string | undefined; tag?: string | undefined },
): Promise<string[]> {
  const isLike = (text: string, given: string | undefined): boolean =>
    given === undefined || foldedText(text) === foldedText(given.trim());
  return readAs(db, organization, async (trx) => {
    const { rows } = await sql<{ automation_id: string; owner: string; tags: string[] }>`
      select automation_id, owner, tags from automations
      where organization = ${organization} and (owner <> '' or tags <> '{}')
      order by automation_id limit ${sql.lit(most)}
    `.execute(trx);
    return rows
      .filter(
        ({ owner, tags }) =>
          isLike(owner, wanted.owner) && (wanted.tag === undefined || tags.some((tag) => isLike(tag, wanted.tag))),
      )
      .map((row) => row.automation_id);
  });
}
