import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { CannotCheck } from './finding.ts';
import type { GivenManifest } from './check-manifest.ts';
import { leafOfManifest } from '../archive/manifest-act.ts';
import { manifestSuffix, parseManifest, type Manifest } from '../archive/manifest.ts';
import { openShown } from './shown-checkpoint.ts';
import { dayAfter } from '../../store/partitions/days.ts';
import type { ProofOptions } from './check-proof.ts';

/** The manifest beside an export, and how the export deviates from it. */
export interface ExportManifest extends GivenManifest {
  readonly findings: readonly string[];
}

/**
 * Reads the manifest beside a file, and compares its SHA-256 with the file. Undefined if there is
 * none. @throws {CannotCheck} if it is no manifest, or one of another organization.
 */
export async function readExportManifest(
  file: string,
  { organization, publicKeys }: Pick<ProofOptions, 'organization' | 'publicKeys'>,
): Promise<ExportManifest | undefined> {
  const name = `${file}${manifestSuffix}`;
  const text = await readFile(name, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const manifest = manifestOf(name, text);
  if (manifest.organization !== organization) {
    throw new CannotCheck(`${name} is of ${manifest.organization}, not of ${organization}.`);
  }
  const from = Date.parse(manifest.day);
  const shown =
    manifest.checkpoint === null ? undefined : openShown(manifest.checkpoint, { organization, keys: publicKeys });
  const findings = shown !== undefined && 'finding' in shown ? [shown.finding.sentence] : [];
  const covered = shown !== undefined && 'head' in shown ? shown.head.size : 0;
  const isSame = (await sha256Of(file)) === manifest.sha256;
  return {
    name,
    leaf: leafOfManifest(name, text),
    range: { from, to: dayAfter(from), covered },
    findings: isSame ? findings : [`${file} has not the SHA-256 of its manifest: it was changed.`, ...findings],
  };
}

function manifestOf(name: string, text: string): Manifest {
  try {
    return parseManifest(name, text);
  } catch (error) {
    throw new CannotCheck(`${name} cannot be read.`, { cause: error });
  }
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
