/** The letters that fold to two. */
const folds: Readonly<Record<string, string>> = { ß: 'ss', ẞ: 'ss', İ: 'i\u0307', ı: 'ı', ς: 'σ' };

/**
 * A text as searches compare it: of compatible forms one (NFKC), and of letters the small ones. The
 * same in every locale.
 */
export function foldedText(text: string): string {
  // Letter by letter: the sigma of a word's end is small in another way.
  return Array.from(text.normalize('NFKC'), foldedLetter).join('');
}

/** True if a text contains another one, in any letter case and any form of Unicode. */
export function holdsText(text: string, part: string): boolean {
  return foldedText(text).includes(foldedText(part));
}

/**
 * A test for texts that contain another one, for erasures: also where characters that nobody sees
 * stand between, or where a letter and its mark are one character in small only.
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
