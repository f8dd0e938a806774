/** Longest name of an organization, in characters: the limit of a label value. */
const longestOrganization = 63;

/** True for text that Postgres can store: no U+0000 and no unpaired surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * The one check of a text on its way to Postgres or Redis. Returns what is wrong, as the end of a
 * sentence, or undefined. `longest`: in Unicode characters.
 */
export function faultOfText(text: string, longest: number): string | undefined {
  if (!isStorable(text)) return 'must not contain U+0000 or unpaired surrogates';
  return isLonger(text, longest) ? `must not be longer than ${longest} characters` : undefined;
}

/** Checks the name of an organization, which in a manifest may be of any type. */
export function isOrganization(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && faultOfText(name, longestOrganization) === undefined;
}

/**
 * Replaces what Postgres cannot store by U+FFFD, and cuts the text to `longest` Unicode characters.
 * For texts that nobody can correct, such as a message of Kubernetes.
 */
export function storable(text: string, longest = Infinity): string {
  return cutText(text.toWellFormed().replaceAll('\0', '\uFFFD'), longest);
}

/** The first `longest` Unicode characters of a text. */
export function cutText(text: string, longest: number): string {
  if (!isLonger(text, longest)) return text;
  // A character has at most two code units, so the rest need not be counted.
  return Array.from(text.slice(0, 2 * longest))
    .slice(0, longest)
    .join('');
}

/**
 * The last `longest` Unicode characters of a text, as {@link storable} returns them. A first line
 * counts the missing characters, including those that were `cut` before.
 */
export function endOfText(text: string, longest: number, cut = 0): string {
  if (cut === 0 && !isLonger(text, longest)) return storable(text);
  const characters = Array.from(text);
  // Removing characters to make room never makes the line longer.
  const room = Math.max(0, longest - lineOfCut(cut + characters.length).length);
  const kept = room === 0 ? [] : characters.slice(-room);
  return storable(lineOfCut(cut + characters.length - kept.length) + kept.join(''), longest);
}

/** True for the line that {@link endOfText} adds, which is no part of the text. */
export function isLineOfCut(line: string): boolean {
  return /^\[\d+ characters before this are cut\.\]$/.test(line);
}

function lineOfCut(characters: number): string {
  return `[${characters} characters before this are cut.]\n`;
}

export function isLonger(text: string, longest: number): boolean {
  if (text.length <= longest) return false;
  return text.length > 2 * longest || Array.from(text).length > longest;
}
