import type { Kysely } from 'kysely';
import type { AcceptedEvent } from '../event/event.ts';
import { optionalFields } from '../event/fields.ts';
import { holdsText } from '../event/folded-text.ts';
import type { Tables } from './database.ts';
import type { ErasureScope } from './erasure-scope.ts';

/** A dead letter. One that somebody wrote by hand may lack a field. */
type Letter = Partial<AcceptedEvent>;

/** Letters that are read at once. */
const pageSize = 100;

/** The dead letters that an erasure concerns. */
export interface ErasableLetters {
  /** The ids of those that it deletes. */
  ids: string[];
  /** Letters that have the text in the id of their execution only: these stay. */
  byName: number;
}

/**
 * Finds the dead letters of a scope. Each is read here and not by Postgres, which reads no JSON
 * with U+0000 or half of a surrogate pair.
 */
export async function findLetters(db: Kysely<Tables>, scope: ErasureScope): Promise<ErasableLetters> {
  const found: ErasableLetters = { ids: [], byName: 0 };
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('dead_letters')
      .select(['id', 'event'])
      .where('organization', '=', scope.organization)
      .where('created_at', '<', scope.before)
      .where('id', '>', after)
      .orderBy('id')
      .limit(pageSize)
      .execute();
    for (const { id, event } of rows) {
      const letter = JSON.parse(Buffer.from(event).toString()) as Letter;
      if (isChosen(letter, scope)) found.ids.push(id);
      else if (scope.text !== undefined && holds(letter.executionId, scope.text)) found.byName += 1;
      after = id;
    }
    if (rows.length < pageSize) return found;
  }
}

/** Deletes the dead letters of a scope. */
export async function eraseLetters(db: Kysely<Tables>, scope: ErasureScope): Promise<void> {
  const { ids } = await findLetters(db, scope);
  for (let at = 0; at < ids.length; at += pageSize) {
    await db
      .deleteFrom('dead_letters')
      .where('organization', '=', scope.organization)
      .where('id', 'in', ids.slice(at, at + pageSize))
      .execute();
  }
}

function isChosen(letter: Letter, { automationId, executionId, text }: ErasureScope): boolean {
  if (text !== undefined) return optionalFields.some(({ property }) => holds(letter[property], text));
  const isOfAutomation =
    automationId === undefined || letter.automationId?.toLowerCase() === automationId.toLowerCase();
  return isOfAutomation && (executionId === undefined || letter.executionId === executionId);
}

/** True if a text contains another one, in any letter case. */
function holds(text: string | undefined, part: string): boolean {
  return text !== undefined && holdsText(text, part);
}
