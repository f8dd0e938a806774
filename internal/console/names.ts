import { foldedText } from '../event/folded-text.ts';
import type { Declaration } from '../record/declaration.ts';
import { nameOf } from './parts/verdicts.ts';
import type { Console, Visit } from './visit.ts';

/** Returns the name of an automation; undefined if it has none. */
export type NameOfAutomation = (automation: string) => string | undefined;

/** The names of the organization's automations by their ids, up to 10 s old. */
export function readNameMap(
  { organization }: Pick<Visit, 'organization'>,
  { names, record }: Pick<Console, 'names' | 'record'>,
): Promise<ReadonlyMap<string, string>> {
  return names.get(organization, async () => {
    const rows = await record.listDeclarations(organization);
    return namesOf(rows);
  });
}

/** The names of the automations that have one, by their ids. */
export function namesOf(rows: readonly Declaration[]): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap((declaration): [string, string][] => {
      const name = nameOf(declaration);
      return name === undefined ? [] : [[declaration.automation, name]];
    }),
  );
}

/** As {@link readNameMap}, as a function. */
export async function readNames(visit: Visit, console: Console): Promise<NameOfAutomation> {
  const known = await readNameMap(visit, console);
  return (automation) => known.get(automation);
}

/** A name normalized for comparison: letter case and Unicode form do not matter. */
export function comparable(name: string): string {
  return foldedText(name).replaceAll(/\s+/g, ' ').trim();
}

/** The automations with exactly this name, or else those whose names contain the text. */
export function findByName(names: ReadonlyMap<string, string>, text: string): { id: string; name: string }[] {
  const wanted = comparable(text);
  const all = Array.from(names, ([id, name]) => ({ id, name }));
  const equal = all.filter(({ name }) => comparable(name) === wanted);
  return equal.length > 0 ? equal : all.filter(({ name }) => comparable(name).includes(wanted));
}
