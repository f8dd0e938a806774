import { zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { columns } from './columns.ts';

/** The first bytes of a file in Parquet. */
export const parquetMagic = 'PAR1';

/** hyparquet's own decoder drops U+FEFF at the start of a text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** How hyparquet reads what `ParquetEncoder` wrote. */
export const parquetReading = {
  parsers: { stringFromBytes: (bytes: Uint8Array) => decoder.decode(bytes) },
  compressors: { ZSTD: (input: Uint8Array) => zstdDecompressSync(input) },
};

/**
 * The events of a Parquet export, as the lines of the same export in NDJSON. Holds one row group in
 * memory.
 * @throws when the file is not Parquet, or incomplete.
 */
export async function* parquetLines(path: string): AsyncGenerator<string> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const read = { file, metadata, columns: [...columns], ...parquetReading };
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    // A Date is written as in NDJSON: RFC 3339 in UTC, with milliseconds.
    for (const row of await parquetReadObjects({ ...read, rowStart, rowEnd })) {
      yield JSON.stringify(row);
    }
    rowStart = rowEnd;
  }
}
