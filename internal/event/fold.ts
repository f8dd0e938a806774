/**
 * A text as searches compare it, whatever the locale of Postgres: compatible characters are one
 * (NFKC), so are letter cases, and characters that nobody sees are gone. Two texts that a reader
 * takes for the same are equal; `ß` is `ss`, and each sigma is one.
 */
export function fold(text: string): string {
  const composed = text.normalize('NFKC').replace(unseen, '');
  // Most texts are ASCII.
  if (isAscii.test(composed)) return composed.toLowerCase();
  return composed.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

const unseen = /\p{Default_Ignorable_Code_Point}/gu;
// eslint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/;

/** A test for texts that contain another one, by {@link fold}. */
export function containing(part: string): (text: string) => boolean {
  const wanted = fold(part);
  return (text) => fold(text).includes(wanted);
}
