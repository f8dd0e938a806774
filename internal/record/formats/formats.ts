import { parquet } from './parquet.ts';
import { csv, ndjson } from './text-formats.ts';

/** The formats of an export, by name. The name is also the extension of a file. */
export const exportFormats = { ndjson, csv, parquet } as const;

/** The name of a format. */
export type FormatName = keyof typeof exportFormats;

/** The names of all formats, in the order in which they are listed for people. */
export const formatNames = Object.keys(exportFormats) as readonly FormatName[];
