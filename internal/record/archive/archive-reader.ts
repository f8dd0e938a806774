import { parquetReadObjects, type FileMetaData, type RowGroup } from 'hyparquet';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { optionalFields } from '../../event/fields.ts';
import { BoundedCache } from '../../kit/async/bounded-cache.ts';
import { isoDay } from '../../store/partitions/days.ts';
import {
  happenedAt,
  type ColdArchive,
  type ColdObject,
  type WantedEvents,
} from '../../store/tables/cold-days-table.ts';
import type { Database } from '../../store/database.ts';
import type { EventRow } from '../../store/tables/events-table.ts';
import { keyColumns } from '../formats/columns.ts';
import { parquetReading } from '../formats/parquet-lines.ts';
import { ArchiveAway, ArchiveDamaged } from './archive-errors.ts';
import { CheckedObject } from './checked-object.ts';
import { NoSuchObject, type Objects } from './objects.ts';
import { openObjects } from './open-objects.ts';
import type { ReaderMetrics } from './reader-metrics.ts';

/**
 * Row groups whose footers are kept, up to 15 kB each, and bytes of row groups. One larger footer
 * is kept, too.
 */
const [keptGroups, keptBytes] = [2_000, 32 * 1_024 * 1_024];

/** A reader waits meanwhile. */
const impatient = { maxAttempts: 2, requestHandler: { connectionTimeout: 2_000, socketTimeout: 5_000 } };

interface Opened {
  readonly file: CheckedObject;
  readonly metadata: FileMetaData;
}

/**
 * Reads events of days that only the archive has: the footer of an object, and then the row groups
 * whose minima and maxima may have what is wanted.
 */
export class ArchiveReader implements ColdArchive {
  readonly #url: string;
  readonly #config: S3ClientConfig;
  readonly #onRead: ReaderMetrics['onRead'];
  #objects: Promise<Objects> | undefined;
  readonly #opened = new BoundedCache<Opened>(keptGroups, ({ metadata }) =>
    Math.min(metadata.row_groups.length, keptGroups),
  );
  readonly #parts = new BoundedCache<Uint8Array>(keptBytes, ({ length }) => length);

  constructor(url: string, config: S3ClientConfig = {}, onRead: ReaderMetrics['onRead'] = () => undefined) {
    this.#url = url;
    this.#config = { ...impatient, ...config };
    this.#onRead = onRead;
  }

  /** @throws {ArchiveAway} or {@link ArchiveDamaged}. */
  async *read(object: ColdObject, wanted: WantedEvents): AsyncGenerator<EventRow[]> {
    const begun = performance.now();
    let outcome: Parameters<ReaderMetrics['onRead']>[0] = 'read';
    try {
      const { file, metadata } = await this.#open(object);
      let rowStart = 0;
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows);
        if (mayHave(group, wanted)) {
          const events = await readGroup({ file, metadata, rowStart, rowEnd }, object, wanted);
          if (events.length > 0) yield events;
        }
        rowStart = rowEnd;
      }
    } catch (error) {
      const isDamaged = error instanceof ArchiveDamaged || error instanceof NoSuchObject;
      outcome = isDamaged ? 'damaged' : 'away';
      if (error instanceof ArchiveDamaged) throw error;
      const day = `${object.organization} on ${isoDay(object.day)}`;
      if (isDamaged) throw new ArchiveDamaged(`the archive lacks ${object.object} of ${day}`, { cause: error });
      throw new ArchiveAway(`the archive cannot be read for ${day}`, { cause: error });
    } finally {
      this.#onRead(outcome, performance.now() - begun);
    }
  }

  /** The same database, whose queries read cold days here. */
  of(db: Database): Database {
    return Object.assign(db, { archive: this });
  }

  async close(): Promise<void> {
    (await this.#objects?.catch(() => undefined))?.close();
  }

  async #open(object: ColdObject): Promise<Opened> {
    const objects = await this.#place();
    const { organization, day, object: name, manifestSha256 } = object;
    const key = [organization, day, name, manifestSha256].join(' ');
    return this.#opened.get(key, () => CheckedObject.open(objects, object, this.#parts));
  }

  /** After an error the next call tries again. */
  #place(): Promise<Objects> {
    this.#objects ??= openObjects(this.#url, this.#config).catch((error: unknown) => {
      this.#objects = undefined;
      throw error;
    });
    return this.#objects;
  }
}

/** Reads the columns of the filters first: most groups that may have a wanted event have none. */
async function readGroup(
  group: Opened & { rowStart: number; rowEnd: number },
  { organization }: ColdObject,
  wanted: WantedEvents,
): Promise<EventRow[]> {
  const isChosen = isWanted({ ...wanted, matches: undefined });
  const keys = await parquetReadObjects({ ...group, ...parquetReading, columns: [...keyColumns] });
  const chosen = keys.map((row) => isChosen(eventOf(organization, row as ParquetRow)));
  const [first, last] = [chosen.indexOf(true), chosen.lastIndexOf(true)];
  if (first === -1) return [];
  const [rowStart, rowEnd] = [group.rowStart + first, group.rowStart + last + 1];
  const rows = await parquetReadObjects({ ...group, ...parquetReading, rowStart, rowEnd });
  return rows
    .filter((_, at) => chosen[first + at])
    .map((row) => eventOf(organization, row as ParquetRow))
    .filter((event) => wanted.matches?.(event) ?? true);
}

type ParquetRow = Record<string, string> & { created_at: Date; occurred_at: Date | null };

function eventOf(organization: string, row: ParquetRow): EventRow {
  const { created_at, occurred_at, id = '', automation = '', automation_id = '', execution_id = '' } = row;
  return {
    organization,
    created_at,
    id,
    automation_id,
    automation_as_sent: automation === automation_id ? null : automation,
    execution_id,
    kind: row['type_of_event'] as EventRow['kind'],
    occurred_at: occurred_at ?? null,
    salt: bytesOf(row['salt']),
    texts_digest: bytesOf(row['texts_digest']),
    ...(Object.fromEntries(optionalFields.map(({ recorded, column }) => [column, row[recorded]])) as Pick<
      EventRow,
      (typeof optionalFields)[number]['column']
    >),
  };
}

function bytesOf(hex: string | null | undefined): Buffer | null {
  return (hex ?? null) === null ? null : Buffer.from(String(hex), 'hex');
}

function isWanted(wanted: WantedEvents): (event: EventRow) => boolean {
  const { automationIds, executionId, from, to, kind, happened, matches } = wanted;
  const automations = automationIds && new Set(automationIds.map((id) => id.toLowerCase()));
  return (event) =>
    (automations?.has(event.automation_id) ?? true) &&
    (executionId === undefined || event.execution_id === executionId) &&
    (from === undefined || event.created_at.getTime() >= from) &&
    (to === undefined || event.created_at.getTime() < to) &&
    (kind === undefined || event.kind === kind) &&
    (happened === undefined || (happenedAt(event) >= happened.from && happenedAt(event) < happened.to)) &&
    (matches?.(event) ?? true);
}

/** False if the minima and maxima of a row group exclude what is wanted. */
function mayHave(group: RowGroup, { automationIds, executionId, happened, ...accepted }: WantedEvents): boolean {
  const isIn = (column: string, { from = -Infinity, to = Infinity }: Pick<WantedEvents, 'from' | 'to'>): boolean => {
    const times = boundsOf<Date>(group, column);
    return times !== undefined && times.max.getTime() >= from && times.min.getTime() < to;
  };
  if (!isIn('created_at', accepted)) return false;
  // Without a time of its own, an event happened when it was accepted.
  if (happened !== undefined && !isIn('created_at', happened) && !isIn('occurred_at', happened)) return false;
  const holds = (column: string, text: string): boolean => {
    const texts = boundsOf<string>(group, column);
    return texts === undefined || (compareBytes(texts.min, text) <= 0 && compareBytes(text, texts.max) <= 0);
  };
  if (automationIds !== undefined && !automationIds.some((id) => holds('automation_id', id.toLowerCase())))
    return false;
  return executionId === undefined || holds('execution_id', executionId);
}

function boundsOf<T>(group: RowGroup, column: string): { min: T; max: T } | undefined {
  const chunk = group.columns.find(({ meta_data: about }) => about?.path_in_schema[0] === column);
  const { min_value: min, max_value: max } = chunk?.meta_data?.statistics ?? {};
  return min === undefined || max === undefined ? undefined : { min: min as T, max: max as T };
}

/** As Postgres sorts with the collation "C", and Parquet: by the bytes of UTF-8. */
export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
