import { createHash } from 'node:crypto';
import { exportFormats, type FormatName } from '../formats/formats.ts';
import type { Queries } from '../queries.ts';
import type { DayPosition } from '../page-of-day.ts';
import type { EventPosition, ProvenEvent } from '../stored-event.ts';
import { isoDay } from '../../store/partitions/days.ts';
import type { RowChanges } from '../../store/partitions/event-days.ts';
import { IdSet } from './id-set.ts';
import { folderOfDay, objectName, partOf, writeManifest, type ArchivedDay, type Manifest } from './manifest.ts';
import type { ManifestActs } from './manifest-acts.ts';
import type { Objects } from './objects.ts';

/** Events of one query. */
const pageSize = 2_000;

/** The source and the destination of one day's export. */
export interface DayExport {
  record: Pick<Queries, 'pageOfDay'>;
  objects: Objects;
  format: FormatName;
  /** Resolves with the newest checkpoint of an organization's log. Absent without a log. */
  checkpointOf?: ((organization: string) => Promise<string | undefined>) | undefined;
  /** Writes manifests to the log. Absent without a log. */
  acts?: ManifestActs | undefined;
  /** Ends the export, and leaves nothing of the object that it was writing. */
  signal?: AbortSignal | undefined;
  /** What had changed the rows of the day, counted before the export reads them. */
  changes: RowChanges;
  /** Called after each page with its number of events. */
  onPage?: ((events: number) => void) | undefined;
}

/**
 * Writes the events of a day that Postgres has, by automation, execution and time, and then the
 * manifest.
 */
export async function exportDay(
  { record, objects, format, checkpointOf, acts, signal, changes, onPage }: DayExport,
  day: ArchivedDay,
  number: number,
): Promise<Manifest> {
  const { organization } = day;
  const [object, folder] = [objectName(number, format), folderOfDay(day)];
  const [hash, set] = [createHash('sha256'), new IdSet()];
  const parts: string[] = [];
  let bytes = 0;
  const ends = new Ends();

  async function* pieces(): AsyncGenerator<Uint8Array> {
    const encoder = exportFormats[format].begin(false);
    for await (const events of pagesOf(record, day)) {
      for (const event of events) {
        set.add(event.id);
        ends.add(event);
      }
      yield* counted(encoder.add(events));
      onPage?.(events.length);
    }
    yield* counted(encoder.end());
  }
  const counted = (piece: string | Uint8Array): Uint8Array[] => {
    const buffer = Buffer.from(piece);
    if (buffer.length === 0) return [];
    hash.update(buffer);
    bytes += buffer.length;
    parts.push(partOf(buffer));
    return [buffer];
  };

  // Read before the events, so that the object has each event that the checkpoint covers.
  const checkpoint = (await checkpointOf?.(organization)) ?? null;
  await objects.write(`${folder}${object}`, pieces(), signal);
  const manifest: Manifest = {
    version: 1,
    id: acts?.newId() ?? null,
    by: acts?.by ?? null,
    organization,
    day: isoDay(day.day),
    object,
    format,
    rows: set.rows,
    bytes,
    sha256: hash.digest('hex'),
    parts,
    ids: set.ids,
    erased_texts: changes.erasedTexts,
    sealings: changes.sealings,
    first: ends.first,
    last: ends.last,
    checkpoint,
  };
  const content = await writeManifest(objects, folder, manifest);
  await acts?.append(manifest, content);
  return manifest;
}

async function* pagesOf(record: DayExport['record'], { organization, day }: ArchivedDay) {
  let after: DayPosition | undefined;
  do {
    const page = await record.pageOfDay(organization, day, { limit: pageSize, after });
    yield page.items;
    after = page.next;
  } while (after !== undefined);
}

/** The first and the last of the events, in the order of acceptance; null without any. */
class Ends {
  first: EventPosition | null = null;
  last: EventPosition | null = null;

  add({ created_at: createdAt, id }: ProvenEvent): void {
    const position = { createdAt, id };
    if (this.first === null || isBefore(position, this.first)) this.first = position;
    if (this.last === null || isBefore(this.last, position)) this.last = position;
  }
}

/** Times and ids have one form each, so their texts sort as they do. */
function isBefore(a: EventPosition, b: EventPosition): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);
}
