import type { AutomationSpec } from '../../expectation/automation.ts';
import {
  readConsoleAutomations,
  versionOfConsoleAutomations,
  type ConsoleAutomation,
} from '../../store/console-automations.ts';
import type { Tables } from '../../store/database.ts';
import { consoleNamespace } from '../../expectation/read-automation.ts';
import type { Transaction } from '../../store/sql.ts';
import type { DeclaredAutomation } from './declarations.ts';

/** The declarations that owners make in the console: the same list until one changes. */
export class ConsoleDeclarations {
  #version = '';
  #automations: readonly DeclaredAutomation[] = [];

  /** The declarations in the database, read again only after a change. */
  async read(trx: Transaction<Tables>): Promise<readonly DeclaredAutomation[]> {
    const version = await versionOfConsoleAutomations(trx);
    if (version !== this.#version) this.#automations = (await readConsoleAutomations(trx)).map(declaredOf);
    this.#version = version;
    return this.#automations;
  }
}

function declaredOf({ organization, automation_id: id, spec, generation }: ConsoleAutomation): DeclaredAutomation {
  const place = { namespace: consoleNamespace, name: id, uid: id };
  return { ...(spec as AutomationSpec), organization, ...place, generation: Number(generation) };
}
