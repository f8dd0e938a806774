/** Letters that fold in their own way. */
const folds: Readonly<Record<string, string>> = { ß: 'ss', ẞ: 'ss', İ: 'i\u0307', ı: 'ı', ς: 'σ' };

// oxlint-disable-next-line no-control-regex
const onlyAscii = /^[\0-\x7f]*$/;

/**
 * Folds a text for comparison: compatible forms become one (NFKC), and letters become lower case.
 * The same in every locale.
 */
export function foldedText(text: string): string {
  if (onlyAscii.test(text)) return text.toLowerCase();
  // Letter by letter, because a sigma at the end of a word has a different lower case.
  return Array.from(text.normalize('NFKC'), foldedLetter).join('');
}

/** True if a text contains another, in any letter case and any Unicode form. */
export function holdsText(text: string, part: string): boolean {
  return foldedText(text).includes(foldedText(part));
}

/**
 * Returns a test for erasures: whether a text contains `part`. It ignores invisible characters, and
 * treats a letter with a separate mark as the combined character.
 */
export function containing(part: string): (text: string) => boolean {
  const wanted = seenText(part);
  return (text) => seenText(text).includes(wanted);
}

function seenText(text: string): string {
  return foldedText(text.normalize('NFKC').replace(unseen, '')).normalize('NFKC');
}

const unseen = /\p{Default_Ignorable_Code_Point}/gu;

function foldedLetter(letter: string): string {
  const known = Object.hasOwn(folds, letter) ? folds[letter] : undefined;
  if (known !== undefined) return known;
  const small = letter.toUpperCase().toLowerCase();
  return Array.from(small).length === 1 ? small : letter;
}
