import type { Arguments, Context, Declaration, Run } from './command.ts';
import { erase } from './erase/options.ts';
import { exportOptions } from './export/options.ts';
import { migrate } from './migrate/options.ts';
import { move } from './move/options.ts';
import { seal } from './seal/options.ts';
import { createToken, ledgerKey, revokeToken, rotateToken, tokenSecret, verifyToken } from './token/options.ts';
import { verify } from './verify/options.ts';

/** A command. Its code is loaded only when it runs. */
export interface Command {
  readonly declaration: Declaration;
  readonly load: () => Promise<(args: object, context: Context) => ReturnType<Run<Declaration>>>;
}

/** All commands of `runledger-admin`, by name. */
export const commands: Readonly<Record<string, Command>> = {
  migrate: command(migrate, async () => (await import('./migrate/run.ts')).run),
  'token create': command(createToken, async () => (await import('./token/tokens.ts')).create),
  'token secret': command(tokenSecret, async () => (await import('./token/tokens.ts')).secret),
  'token rotate': command(rotateToken, async () => (await import('./token/tokens.ts')).rotate),
  'token revoke': command(revokeToken, async () => (await import('./token/tokens.ts')).revoke),
  'token verify': command(verifyToken, async () => (await import('./token/tokens.ts')).verify),
  'token ledger-key': command(ledgerKey, async () => (await import('./token/ledger-key.ts')).run),
  export: command(exportOptions, async () => (await import('./export/run.ts')).run),
  erase: command(erase, async () => (await import('./erase/run.ts')).run),
  move: command(move, async () => (await import('./move/run.ts')).run),
  seal: command(seal, async () => (await import('./seal/run.ts')).run),
  verify: command(verify, async () => (await import('./verify/run.ts')).run),
};

/** `run` receives what the declaration says, since the frame parses by it. */
function command<D extends Declaration>(declaration: D, load: () => Promise<Run<D>>): Command {
  return {
    declaration,
    load: async () => {
      const run = await load();
      return (args, context) => run(args as Arguments<D>, context);
    },
  };
}
