import { readFile } from 'node:fs/promises';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { CannotCheck } from './finding.ts';
import { openCheckpoint, readCheckpoint, type TreeHead } from '../../ledger/checkpoint.ts';
import type { VerifierKey } from '../../ledger/keys.ts';
import { readAll } from '../../ledger/witness/bucket-checkpoints.ts';
import { replaceFile } from '../../ledger/witness/replace-file.ts';

/**
 * The checkpoint of a file, or all those that a worker wrote to a bucket, `s3://bucket/prefix`.
 * @throws an Error of one sentence when one of them is not a checkpoint of this log and these keys.
 */
export async function readKept(
  where: string,
  organization: string,
  keys: readonly VerifierKey[],
  config: S3ClientConfig,
): Promise<readonly TreeHead[]> {
  if (!where.startsWith('s3://')) return [openKept(where, await readFile(where, 'utf8'), organization, keys)];
  // Loaded only when needed: loading it takes as long as the rest of the command.
  const { LockedS3 } = await import('../archive/locked-s3.ts');
  const objects = new LockedS3(where, config);
  try {
    const heads = await readAll(objects, organization, keys);
    if (heads.length > 0) return heads;
  } finally {
    objects.close();
  }
  throw new CannotCheck(`The bucket ${objects.where} has no checkpoint of the log of ${organization}.`);
}

function openKept(file: string, text: string, organization: string, keys: readonly VerifierKey[]): TreeHead {
  try {
    return openCheckpoint(text, organization, keys);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} is no checkpoint of this log and key: ${reason}`, { cause: error });
  }
}

/** The checkpoint that an earlier run with --state left; none before the first run. */
export async function readState(
  file: string | undefined,
  organization: string,
  keys: readonly VerifierKey[],
): Promise<readonly TreeHead[]> {
  const text = file === undefined ? undefined : await textOf(file);
  return file === undefined || text === undefined ? [] : [openKept(file, text, organization, keys)];
}

/** Keeps a verified checkpoint unless the file has a newer one of the same log. */
export async function keepState(file: string, checkpoint: string): Promise<void> {
  const kept = await textOf(file);
  if (kept !== undefined && readCheckpoint(kept).size > readCheckpoint(checkpoint).size) return;
  await replaceFile(file, checkpoint);
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
