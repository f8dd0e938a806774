import type { AutomationFilters } from '../record/filters.ts';
import { malformedQuery, type Values } from './query.ts';
import { storableText, uuid } from './parameters.ts';
import type { ReadOptions } from './read-options.ts';

type Record = Pick<ReadOptions['record'], 'namesOf' | 'findByName' | 'findDeclared'>;

/** The filters by automation: by id, by id or name, by owner, and by tag. */
export const automationFilter = {
  automation_id: uuid,
  automation: storableText(1, 500),
  owner: storableText(1, 200),
  tag: storableText(1, 50),
} as const;

/** Most automations that an error names. */
const mostNamed = 5;

/**
 * The automations that a request asks for, as filters of the record.
 * @throws {RequestError} as {@link findAutomation}.
 */
export async function chosenAutomations(
  record: Record,
  organization: string,
  { owner, tag, ...one }: Values<typeof automationFilter>,
): Promise<AutomationFilters> {
  const automationId = await findAutomation(record, organization, one);
  if (owner === undefined && tag === undefined) return { automationId };
  return { automationId, automationIds: await record.findDeclared(organization, { owner, tag }) };
}

/**
 * The id of the automation that a request names by id or name; undefined for all.
 * @throws {RequestError} for both parameters together, and for a name of no or several automations.
 */
async function findAutomation(
  record: Record,
  organization: string,
  { automation_id: id, automation: name }: { automation_id?: string; automation?: string },
): Promise<string | undefined> {
  if (name === undefined) return id;
  const refuse = (detail: string) => malformedQuery([{ parameter: 'automation', detail }]);
  if (id !== undefined) throw refuse('must not be given with automation_id');
  const asId = uuid(name);
  if (typeof asId === 'string') return asId;
  const found = await record.findByName(organization, name);
  const [first] = found;
  if (first === undefined) throw refuse('is the name of no automation: give its name in full, or its id');
  if (found.length === 1) return first;
  const more = found.length > mostNamed ? `, and ${found.length - mostNamed} more` : '';
  throw refuse(
    `is the name of ${found.length} automations, give an id: ${found.slice(0, mostNamed).join(', ')}${more}`,
  );
}

/** Adds the name of an automation to one of its executions. */
export function nameExecution<One extends object | null>(execution: One, automation_name: string | null): One {
  return execution === null ? execution : { ...execution, automation_name };
}

/** Adds the names of their automations to items; null for an automation without one. */
export async function withNames<Item extends { automation: string }>(
  record: Record,
  organization: string,
  items: readonly Item[],
): Promise<(Item & { automation_name: string | null })[]> {
  if (items.length === 0) return [];
  const ids = [...new Set(items.map(({ automation }) => automation.toLowerCase()))];
  const names = await record.namesOf(organization, ids);
  return items.map((item) => ({ ...item, automation_name: names.get(item.automation.toLowerCase()) ?? null }));
}
