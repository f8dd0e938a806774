import { nameOf } from './parts/verdicts.ts';
import type { Console, Visit } from './visit.ts';

/** Finds the name of an automation; undefined if none is declared. */
export type NameOfAutomation = (automation: string) => string | undefined;

/** The names of the organization's declared automations, up to 10 s old. */
export async function readNames({ organization }: Visit, { names, record }: Console): Promise<NameOfAutomation> {
  const known = await names.get(organization, async () => {
    const declared = await record.listDeclarations(organization);
    return new Map(declared.map((declaration) => [declaration.automation, nameOf(declaration)]));
  });
  return (automation) => known.get(automation);
}
