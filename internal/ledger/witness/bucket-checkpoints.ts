import { openCheckpoint, type TreeHead } from '../checkpoint.ts';
import { originOf, type VerifierKey } from '../keys.ts';

/** Objects that nobody can change or delete before their date. */
export interface LockedObjects {
  /** Where they are, for people. */
  readonly where: string;
  /**
   * All versions whose names begin with `prefix`, in the order of their names, including those that
   * a later version or a deletion has hidden. A request gets `pageSize` of them. Default: 1,000.
   */
  list(prefix: string, pageSize?: number): AsyncIterable<ObjectVersion>;
  read(version: ObjectVersion): Promise<string>;
  /** Rejects if the objects cannot be locked. */
  write(name: string, text: string, until: Date): Promise<void>;
  close(): void;
}

export interface ObjectVersion {
  readonly name: string;
  readonly version: string | undefined;
}

/** Names count down from this, so that a list begins with the newest checkpoint. */
const mostLeaves = 10 ** 15;

/** Objects that are read at once. */
const atOnce = 25;

/** Versions that are listed to find the newest, since deletions may be among them. */
const fewVersions = 10;

/** The name of a checkpoint's object. @param name that of the key, which is part of the log's. */
export function objectOf(name: string, organization: string, size: number): string {
  return `${folderOf(name, organization)}${nameOf(size)}`;
}

function nameOf(size: number): string {
  return `${String(mostLeaves - size).padStart(15, '0')}-${size}`;
}

/** The newest checkpoint of a log. */
export interface Newest {
  readonly head: TreeHead;
  readonly note: string;
}

/** The newest checkpoint of a log; undefined if there is none. */
export async function readNewest(
  objects: LockedObjects,
  organization: string,
  keys: readonly VerifierKey[],
): Promise<Newest | undefined> {
  for (const folder of foldersOf(organization, keys)) {
    for await (const version of objects.list(folder, fewVersions)) {
      const newest = await readCheckpointOf(objects, version, organization, keys);
      const { head } = newest;
      // An older checkpoint under a newer name would otherwise hide the newest one.
      if (version.name.endsWith(`/${nameOf(head.size)}`)) return newest;
      throw new Error(`${addressOf(objects, version)} has a checkpoint of ${head.size} leaves, which is not its name`);
    }
  }
  return undefined;
}

/** The heads of all checkpoints of a log, in all their versions. */
export async function readAll(
  objects: LockedObjects,
  organization: string,
  keys: readonly VerifierKey[],
): Promise<TreeHead[]> {
  const heads: TreeHead[] = [];
  let versions: ObjectVersion[] = [];
  const headOf = async (version: ObjectVersion): Promise<TreeHead> =>
    (await readCheckpointOf(objects, version, organization, keys)).head;
  const flush = async (): Promise<void> => {
    heads.push(...(await Promise.all(versions.map(headOf))));
    versions = [];
  };
  for (const folder of foldersOf(organization, keys)) {
    for await (const version of objects.list(folder)) {
      if (versions.push(version) === atOnce) await flush();
    }
  }
  await flush();
  return heads;
}

function foldersOf(organization: string, keys: readonly VerifierKey[]): string[] {
  return [...new Set(keys.map(({ name }) => folderOf(name, organization)))];
}

function folderOf(name: string, organization: string): string {
  return `${encodeURIComponent(originOf(name, organization))}/`;
}

async function readCheckpointOf(
  objects: LockedObjects,
  version: ObjectVersion,
  organization: string,
  keys: readonly VerifierKey[],
): Promise<Newest> {
  const note = await objects.read(version);
  try {
    return { head: openCheckpoint(note, organization, keys), note };
  } catch (error) {
    throw new Error(`${addressOf(objects, version)} cannot be read as a checkpoint of this key`, { cause: error });
  }
}

function addressOf({ where }: LockedObjects, { name, version }: ObjectVersion): string {
  return `${where}/${name}${version === undefined ? '' : `?versionId=${version}`}`;
}
