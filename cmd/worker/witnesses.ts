import { fileURLToPath } from 'node:url';
import { s3Credentials } from '../../internal/config/credentials.ts';
import { ConfigError, type Config } from '../../internal/config/read.ts';
import {
  readVerifierKey,
  readWitnessKey,
  verifierKeyText,
  type SigningKey,
  type VerifierKey,
} from '../../internal/ledger/keys.ts';
import type { WitnessQuorum } from '../../internal/store/ledger/cosignatures.ts';
import { BucketWitness } from '../../internal/ledger/witness/bucket-witness.ts';
import { FolderMemory } from '../../internal/ledger/witness/folder-memory.ts';
import { HttpWitness } from '../../internal/ledger/witness/http-witness.ts';
import { messageOf } from '../../internal/kit/errors/message-of.ts';

type WitnessConfig = Config<'LEDGER_WITNESSES'>;

/** The folders of LEDGER_WITNESSES, which remember each checkpoint before it is stored. */
export function folderMemories(config: WitnessConfig, keys: readonly SigningKey[]): FolderMemory[] {
  return entriesOf(config, 'file:').map((url) => new FolderMemory(fileURLToPath(url), publicKeysOf(keys)));
}

/** The buckets of LEDGER_WITNESSES, which remember each checkpoint once it is stored. */
export function bucketWitnesses(
  config: WitnessConfig,
  keys: readonly SigningKey[],
  now: () => Promise<number>,
  onAway: (witness: string, error: unknown) => void,
): BucketWitness[] {
  return entriesOf(config, 's3:').map(({ href, searchParams }) => {
    const [name = ''] = href.split('?');
    return new BucketWitness({
      name,
      keys: publicKeysOf(keys),
      days: Number(searchParams.get('days')),
      now,
      open: async () => {
        // Loaded only when needed, since it is large.
        const { LockedS3 } = await import('../../internal/record/archive/locked-s3.ts');
        return new LockedS3(name, s3Credentials());
      },
      onAway: (error) => onAway(name, error),
    });
  });
}

/** The witnesses of LEDGER_WITNESSES that answer requests. @throws {ConfigError} */
export function httpWitnesses(config: WitnessConfig): HttpWitness[] {
  return entriesOf(config, 'http:', 'https:').map((url) => {
    try {
      return new HttpWitness(url, readWitnessKey(decodeURIComponent(url.hash.slice(1))));
    } catch (error) {
      const message = messageOf(error);
      throw new ConfigError(`LEDGER_WITNESSES: the key of ${url.host} ${message}`, { cause: error });
    }
  });
}

/**
 * How many witnesses must cosign a checkpoint before the console shows it: `quorum:N` in
 * LEDGER_WITNESSES, or all of them. @throws {ConfigError}
 */
export function quorumOf(config: WitnessConfig, witnesses: readonly { readonly name: string }[]): WitnessQuorum {
  const [entry, ...more] = entriesOf(config, 'quorum:');
  const least = entry === undefined ? witnesses.length : Number(entry.pathname);
  if (more.length === 0 && least <= witnesses.length) return { names: witnesses.map(({ name }) => name), least };
  throw new ConfigError(`LEDGER_WITNESSES: one quorum:N, of at most the ${witnesses.length} that cosign`);
}

function entriesOf({ LEDGER_WITNESSES: witnesses }: WitnessConfig, ...protocols: string[]): URL[] {
  return witnesses.filter(({ protocol }) => protocols.includes(protocol));
}

/** The public keys of signing keys. */
export function publicKeysOf(keys: readonly SigningKey[]): VerifierKey[] {
  return keys.map((key) => readVerifierKey(verifierKeyText(key)));
}
