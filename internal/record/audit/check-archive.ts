import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { folderOfDay, folderOfOrganization, manifestSuffix, parseManifest } from '../archive/manifest.ts';
import { NoSuchObject, type Objects } from '../archive/objects.ts';
import { openObjects } from '../archive/open-objects.ts';
import type { Act } from '../../ledger/act.ts';
import type { ColdObject } from '../../store/tables/cold-days-table.ts';
import { timeOfId } from '../../ledger/leaf.ts';
import { expiredBefore } from './acts.ts';
import { count, type Outcome } from './exit-code.ts';

type Found = Pick<Outcome, 'findings' | 'problems' | 'notes'>;

/** How long a manifest may wait for its leaf, in ms. */
const waitsMs = 3_600_000;

/** What an archive must have: the manifests in the acts of the log, and the cold days. */
export interface WantedArchive {
  organization: string;
  acts: readonly Act[];
  /** Objects with the only copy of their events, as Postgres knows them. */
  cold?: readonly ColdObject[] | undefined;
}

/**
 * Compares the objects of an archive with what it must have: each manifest and its object must be
 * there with the right SHA-256.
 */
export async function checkArchive(
  place: string,
  wanted: WantedArchive,
  config: Parameters<typeof openObjects>[1],
): Promise<Found> {
  const objects = await openObjects(place, config);
  try {
    return await compare(objects, wanted);
  } finally {
    objects.close();
  }
}

async function compare(objects: Objects, { organization, acts, cold = [] }: WantedArchive): Promise<Found> {
  const [findings, problems]: [string[], string[]] = [[], []];
  const known = new Set<string>();
  const nameOf = (day: number, object: string): string => `${folderOfDay({ organization, day })}${object}`;
  const kept = new Map(cold.map(({ day, object, manifestSha256 }) => [nameOf(day, object), manifestSha256]));
  const ofLog = acts
    .filter(({ kind }) => kind === 'manifest')
    .map((act) => {
      const { day = '', object = '', sha256 = '' } = act.details;
      const name = nameOf(Date.parse(day), object);
      return { name, sha256, isReplaced: hasNewer(acts, act) && !kept.has(name) };
    });
  for (const { name } of ofLog) kept.delete(name);
  const ofDays = Array.from(kept, ([name, sha256]) => ({ name, sha256, isReplaced: false }));
  for (const { name, sha256, isReplaced } of [...ofLog, ...ofDays]) {
    known.add(`${name}${manifestSuffix}`);
    const content = await readText(objects, `${name}${manifestSuffix}`);
    // After an erasure, a newer object has the day, and the older one should be deleted.
    if (content === undefined && isReplaced) continue;
    if (content === undefined)
      findings.push(
        `The archive lacks ${name}${manifestSuffix}, which the ${kept.has(name) ? 'database' : 'log'} has: it was removed.`,
      );
    else if (sha256Of(content) !== sha256)
      findings.push(
        `${name}${manifestSuffix} is not the one that the ${kept.has(name) ? 'database' : 'log'} has: it was changed.`,
      );
    else findings.push(...(await checkObject(objects, name, parseManifest(name, content).sha256)));
  }
  const names = await objects.list(folderOfOrganization(organization));
  for (const name of names.filter((one) => one.endsWith(manifestSuffix) && !known.has(one))) {
    const { id } = parseManifest(name, (await readText(objects, name)) ?? '{}');
    if (id === null) problems.push(`${name} was written without a log, so nothing proves it.`);
    else if (timeOfId(id) > Date.now() - waitsMs) problems.push(`${name} is not in the log yet.`);
    else findings.push(`${name} is not in the log: it was added, or its id was changed.`);
  }
  return {
    findings,
    problems,
    notes: [`The archive has ${count(known.size, 'object')} that the log knows, unchanged.`],
  };
}

/**
 * True if the log has a later object with the whole day in the same format. One that was written
 * after retention had dropped the day has only the events that came later.
 */
function hasNewer(acts: readonly Act[], { id, details: { day = '', object = '' } }: Act): boolean {
  const [number, format] = partsOf(object);
  return acts.some((newer) => {
    const [other, itsFormat] = partsOf(newer.details['object'] ?? '');
    const isNewer = newer.kind === 'manifest' && newer.details['day'] === day && itsFormat === format && other > number;
    const between = acts.filter((act) => act.id > id && act.id < newer.id);
    return isNewer && expiredBefore(between) <= Date.parse(day);
  });
}

/** The number and the format of an object, as `objectName` makes its name. */
function partsOf(object: string): [number, string] {
  const [, number = '1', format = ''] = /^events(?:-(\d+))?\.(\w+)$/.exec(object) ?? [];
  return [Number(number), format];
}

async function checkObject(objects: Objects, name: string, sha256: string): Promise<string[]> {
  const hash = createHash('sha256');
  try {
    for await (const piece of objects.read(name)) hash.update(piece);
  } catch (error) {
    if (error instanceof NoSuchObject)
      return [`The archive lacks ${name}, of which the log has the manifest: it was removed.`];
    throw error;
  }
  return hash.digest('hex') === sha256 ? [] : [`${name} has not the SHA-256 of its manifest: it was changed.`];
}

async function readText(objects: Objects, name: string): Promise<string | undefined> {
  try {
    return await text(objects.read(name));
  } catch (error) {
    if (error instanceof NoSuchObject) return undefined;
    throw error;
  }
}

function sha256Of(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
