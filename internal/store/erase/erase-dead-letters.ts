import type { Kysely } from 'kysely';
import type { AcceptedEvent } from '../../event/event.ts';
import { containing } from '../../event/folded-text.ts';
import { optionalFields } from '../../event/fields.ts';
import type { Tables } from '../database.ts';
import { noteDeletedLetters } from '../dead-letters.ts';
import type { ErasureRequest, ErasureScope } from './erasure-scope.ts';

/** A dead letter. It may lack a field if an earlier release wrote it. */
type Letter = Partial<AcceptedEvent>;

/** Letters that are read at once. */
const pageSize = 100;

/** The dead letters that an erasure concerns. */
export interface ErasableLetters {
  /** The ids of the letters that it deletes. */
  ids: string[];
  /** Letters with the text only in their execution's id: these stay. */
  byName: number;
}

/**
 * Finds the dead letters of a scope. Parses each here: Postgres rejects JSON with U+0000 or half of
 * a surrogate pair.
 */
export async function findLetters(db: Kysely<Tables>, scope: ErasureScope): Promise<ErasableLetters> {
  const found: ErasableLetters = { ids: [], byName: 0 };
  const holds = containing(scope.text ?? '');
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
      if (isChosen(letter, scope, holds)) found.ids.push(id);
      else if (scope.text !== undefined && holds(letter.executionId ?? '')) found.byName += 1;
      after = id;
    }
    if (rows.length < pageSize) return found;
  }
}

/** Deletes the dead letters of a scope. With a log, it gets an act that names them. */
export async function eraseLetters(db: Kysely<Tables>, scope: ErasureRequest): Promise<void> {
  const { ids } = await findLetters(db, scope);
  for (let at = 0; at < ids.length; at += pageSize) {
    const page = ids.slice(at, at + pageSize);
    await db
      .deleteFrom('dead_letters')
      .where('organization', '=', scope.organization)
      .where('id', 'in', page)
      .execute();
    await noteDeletedLetters(db, scope.macKey, scope.organization, page, scope.by);
  }
}

function isChosen(
  letter: Letter,
  { automationId, executionId, text }: ErasureScope,
  holds: (text: string) => boolean,
): boolean {
  if (text !== undefined) return optionalFields.some(({ property }) => holds(letter[property] ?? ''));
  const isOfAutomation =
    automationId === undefined || letter.automationId?.toLowerCase() === automationId.toLowerCase();
  return isOfAutomation && (executionId === undefined || letter.executionId === executionId);
}
