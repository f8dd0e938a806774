import { relative } from 'node:path';

/** A path quoted for a shell, relative if that is shorter. */
export function shown(path: string): string {
  const short = relative('.', path);
  const place = short.startsWith('..') ? path : short;
  return /^[\w./-]+$/.test(place) ? place : `'${place.replaceAll("'", String.raw`'\''`)}'`;
}
