/** Longest name of an organization, in characters: that of the value of a label. */
const longestOrganization = 63;

/** True for text that Postgres can hold: no U+0000, no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * The one check of a text on its way to Postgres or Redis. Returns what is wrong, as the end of a
 * sentence; undefined if nothing is. `longest`: in Unicode characters.
 */
export function faultOfText(text: string, longest: number): string | undefined {
  if (!isStorable(text)) return 'must not contain U+0000 or unpaired surrogates';
  return isLonger(text, longest) ? `must not be longer than ${longest} characters` : undefined;
}

/** The check of the name of an organization, which a file of manifests may hold in any form. */
export function isOrganization(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && faultOfText(name, longestOrganization) === undefined;
}

/**
 * The same text with U+FFFD in place of what Postgres cannot hold, cut to so many Unicode
 * characters: for texts that nobody can correct, such as a message of Kubernetes.
 */
export function storable(text: string, longest = Infinity): string {
  return cutText(text.toWellFormed().replaceAll('\0', '\uFFFD'), longest);
}

/** The first `longest` Unicode characters of a text. */
export function cutText(text: string, longest: number): string {
  if (!isLonger(text, longest)) return text;
  // Each character has at most two units: the others need not be counted.
  return Array.from(text.slice(0, 2 * longest))
    .slice(0, longest)
    .join('');
}

/**
 * The last `longest` Unicode characters of a text, as {@link storable} has them. If any are missing
 * its first line says how many, with those that were `cut` before.
 */
export function endOfText(text: string, longest: number, cut = 0): string {
  if (cut === 0 && !isLonger(text, longest)) return storable(text);
  const characters = Array.from(text);
  // The line is never longer for the characters that make room for it.
  const room = Math.max(0, longest - lineOfCut(cut + characters.length).length);
  const kept = room === 0 ? [] : characters.slice(-room);
  return storable(lineOfCut(cut + characters.length - kept.length) + kept.join(''), longest);
}

/** True for the line of {@link endOfText}, which says nothing of the text itself. */
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
