import type { AutomationSpec } from '../../expectation/automation.ts';
import { readConsoleAutomations, versionOfConsole, type ConsoleAutomation } from '../../store/console-automations.ts';
import type { Tables } from '../../store/database.ts';
import { consoleNamespace } from '../../expectation/read-automation.ts';
import type { Transaction } from '../../store/sql.ts';
import { readConsoleChannels, type ConsoleChannel } from '../../store/console-channels.ts';
import type { ChannelSpec } from '../../expectation/read-channel.ts';
import type { DeclaredAutomation, DeclaredChannel, Declarations } from './declarations.ts';

type OwnedDeclarations = Pick<Declarations, 'automations' | 'channels'>;

/** The declarations that owners make in the console: the same lists until one changes. */
export class ConsoleDeclarations {
  #version = '';
  #declarations: OwnedDeclarations = { automations: [], channels: [] };

  /** The declarations in the database, read again only after a change. */
  async read(trx: Transaction<Tables>): Promise<OwnedDeclarations> {
    const version = await versionOfConsole(trx);
    if (version !== this.#version) {
      const automations = (await readConsoleAutomations(trx)).map(declaredOf);
      this.#declarations = { automations, channels: (await readConsoleChannels(trx)).map(channelOf) };
    }
    this.#version = version;
    return this.#declarations;
  }
}

function channelOf({ organization, name, spec }: ConsoleChannel): DeclaredChannel {
  return { ...(spec as ChannelSpec), organization, namespace: consoleNamespace, name };
}

function declaredOf({ organization, automation_id: id, spec, generation }: ConsoleAutomation): DeclaredAutomation {
  const place = { namespace: consoleNamespace, name: id, uid: id };
  return { ...(spec as AutomationSpec), organization, ...place, generation: Number(generation) };
}
