import type { Declaration } from '../record/declaration.ts';
import type { ReadOptions } from './read-options.ts';

/** Returns a function that finds the declaration of an automation; null if there is none. */
export async function declaredIn(
  record: ReadOptions['record'],
  organization: string,
  automations: readonly string[],
): Promise<(automation: string) => Omit<Declaration, 'automation'> | null> {
  const declarations = automations.length === 0 ? [] : await record.listDeclarations(organization, automations);
  const byId = new Map(declarations.map(({ automation, ...declaration }) => [automation, declaration]));
  return (automation) => byId.get(automation) ?? null;
}
