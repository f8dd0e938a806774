import { foldedText, holdsText } from '../event/folded-text.ts';
import type { Declaration } from '../record/declaration.ts';
import { nameOf } from './parts/verdicts.ts';
import type { Console, KnownNames, Visit } from './visit.ts';

/** Returns the name of an automation; undefined if it has none. */
export type NameOfAutomation = (automation: string) => string | undefined;

type Known = [Pick<Visit, 'organization'>, Pick<Console, 'names' | 'record'>];

function readKnown(...[{ organization }, { names, record }]: Known): Promise<KnownNames> {
  return names.get(organization, async () => {
    const rows = await record.listDeclarations(organization);
    const others = rows.flatMap(({ automation, owner, tags }): [string, string[]][] =>
      owner === '' && tags.length === 0 ? [] : [[automation, [owner, ...tags]]],
    );
    return { names: namesOf(rows), others: new Map(others) };
  });
}

/** The names of the organization's automations by their ids, up to 10 s old. */
export async function readNameMap(...known: Known): Promise<ReadonlyMap<string, string>> {
  return (await readKnown(...known)).names;
}

/** Automations that a text finds by name, or else by owner or tag. Up to 10 s old. */
export async function searchAutomations(text: string, ...known: Known): Promise<{ id: string; name: string }[]> {
  const { names, others } = await readKnown(...known);
  const named = findByName(names, text);
  if (named.length > 0) return named;
  const holding = Array.from(others).filter(([, words]) => words.some((word) => holdsText(word, text)));
  return holding.map(([id]) => ({ id, name: names.get(id) ?? id }));
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
