import { createHash } from 'node:crypto';
import { exportFormats, type FormatName } from '../formats/formats.ts';
import type { Queries } from '../queries.ts';
import type { EventPosition, StoredEvent } from '../stored-event.ts';
import { smallestId } from '../windows.ts';
import { dayAfter, isoDay } from '../../store/partitions/days.ts';
import type { RowChanges } from '../../store/partitions/event-days.ts';
import { IdSet } from './id-set.ts';
import { folderOfDay, objectName, writeManifest, type ArchivedDay, type Manifest } from './manifest.ts';
import type { ManifestActs } from './manifest-acts.ts';
import type { Objects } from './objects.ts';

/** Events of one query. */
const pageSize = 2_000;

/** The source and the destination of one day's export. */
export interface DayExport {
  record: Pick<Queries, 'exportEvents'>;
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
  /**
   * Called after each page with its number of events, and when the last one was accepted, in ms.
   */
  onPage?: ((events: number, upTo: number) => void) | undefined;
}

/** Writes all events of a day, in the order of acceptance, and then the manifest. */
export async function exportDay(
  { record, objects, format, checkpointOf, acts, signal, changes, onPage }: DayExport,
  day: ArchivedDay,
  number: number,
): Promise<Manifest> {
  const { organization } = day;
  const [object, folder] = [objectName(number, format), folderOfDay(day)];
  const [hash, set] = [createHash('sha256'), new IdSet()];
  let bytes = 0;
  let [first, last]: (StoredEvent | undefined)[] = [];

  async function* pieces(): AsyncGenerator<Uint8Array> {
    const encoder = exportFormats[format].begin(false);
    for await (const events of pagesOf(record, day)) {
      first ??= events[0];
      last = events.at(-1) ?? last;
      for (const { id } of events) set.add(id);
      yield counted(encoder.add(events));
      if (last !== undefined) onPage?.(events.length, Date.parse(last.created_at));
    }
    yield counted(encoder.end());
  }
  const counted = (piece: string | Uint8Array): Uint8Array => {
    const buffer = Buffer.from(piece);
    hash.update(buffer);
    bytes += buffer.length;
    return buffer;
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
    ids: set.ids,
    erased_texts: changes.erasedTexts,
    sealings: changes.sealings,
    first: positionOf(first),
    last: positionOf(last),
    checkpoint,
  };
  const content = await writeManifest(objects, folder, manifest);
  await acts?.append(manifest, content);
  return manifest;
}

async function* pagesOf(record: Pick<Queries, 'exportEvents'>, { organization, day }: ArchivedDay) {
  const window = { from: new Date(day), to: new Date(dayAfter(day)) };
  const after = { createdAt: window.from.toISOString(), id: smallestId };
  for await (const { items } of record.exportEvents(organization, window, { limit: pageSize, after })) yield items;
}

function positionOf(event: StoredEvent | undefined): EventPosition | null {
  return event === undefined ? null : { createdAt: event.created_at, id: event.id };
}
