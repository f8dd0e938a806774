import { UsageError } from '../../internal/config/arguments.ts';
import type { Command, Streams } from './command.ts';
import { create } from './create.ts';
import { logKey } from './ledger-key.ts';
import { rotate } from './rotate.ts';
import { verify } from './verify.ts';

const commands: Readonly<Record<string, Command>> = { create, rotate, verify, 'ledger-key': logKey };

const usage = `Tokens of organizations, as Kubernetes Secrets.

  token create --organization ID [--namespace NS] [--name NAME] [--label KEY] [--read | --ping] [--clear]
      Prints the manifest of a Secret with a new token on stdout, and the token, this once, on stderr.
  token rotate [--manifest FILE] [--name NAME] [--read | --ping] [--clear]
      Reads the manifest of a Secret, from stdin without --manifest, and prints it with one more token.
  token verify --manifest FILE [--label KEY]
      Reads a token from stdin and says which organization it belongs to and what it may do. Exit code 1: to none.
  token ledger-key --log-name NAME [--namespace NS] [--name SECRET | --key-only]
      Prints the manifest of a Secret with a new key of the log on stdout, and its public key on stderr.
  token ledger-key --public-key KEY --organization ID
      Prints the public key of an organization's log, for other programs that verify it.
  token ledger-key --mac-key
      Reads the key of the log from stdin and prints LEDGER_MAC_KEY, by which erase, export and seal write to the log.

  --read         makes a read token: it reads the record, and records no events
  --ping         makes a ping key: it serves in addresses under /ping/, and nowhere else
  --clear        keeps the token itself in the Secret, in place of its SHA-256
  --key-only     prints the key alone, for the file of LEDGER_KEY_FILE
  --label KEY    the label that names the organization (runledger.dev/organization)
`;

/**
 * Resolves with the exit code: 0 success, 1 failure, 2 wrong usage. Every failure prints a sentence
 * on stderr.
 */
export async function run([name = '', ...args]: string[], streams: Streams): Promise<number> {
  if (name === 'help' || [name, ...args].includes('--help')) {
    streams.stdout.write(usage);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (command === undefined) throw new UsageError(name === '' ? 'no command given' : `unknown command "${name}"`);
    return await command(args, streams);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const wrongCall = error instanceof UsageError;
    streams.stderr.write(wrongCall ? `token: ${message}\n\n${usage}` : `token: ${message}\n`);
    return wrongCall ? 2 : 1;
  }
}
