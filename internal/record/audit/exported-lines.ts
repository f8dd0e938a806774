import { open } from 'node:fs/promises';
import { csvHead, csvLines } from '../formats/csv-lines.ts';
import { parquetLines, parquetMagic } from '../formats/parquet-lines.ts';
import { textLines } from '../formats/text-lines.ts';

/** How files are read, by their first bytes. Others are read as NDJSON. */
const readers = [
  { format: 'Parquet', head: parquetMagic, read: parquetLines },
  { format: 'CSV', head: csvHead, read: csvLines },
] as const;

const headBytes = Math.max(...readers.map(({ head }) => head.length));

/** The events of a file as lines of NDJSON. Opens the file on the first read. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const head = await headOf(path);
  const reader = readers.find((one) => head.startsWith(one.head));
  try {
    yield* (reader?.read ?? textLines)(path);
  } catch (error) {
    if (reader === undefined) throw error;
    throw new Error(`${path} cannot be read as ${reader.format}: ${String(error)}`, { cause: error });
  }
}

async function headOf(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(headBytes), position: 0 });
  return buffer.toString('latin1', 0, bytesRead);
}

/** The lines of several files. */
export async function* linesOfAll(paths: readonly string[]): AsyncGenerator<string> {
  for (const path of paths) yield* linesOf(path);
}
