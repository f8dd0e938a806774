import { sql, type RawBuilder } from 'kysely';
import { foldedText } from '../event/folded-text.ts';

/** Letters that fold to two, by those two. */
const pairs: Readonly<Record<string, string>> = { ss: 'ßẞ', 'i\u0307': 'İ' };

/** Letters that fold to another one without being its capital. */
const others: Readonly<Record<string, string>> = { σ: 'ς' };

/**
 * A regular expression class with every character up to U+FFFF that NFKC changes or may join with
 * the one before, and some more. Postgres and JavaScript read it alike.
 */
export const unsettled = [
  String.raw`\u00a0\u00a8\u00aa\u00af\u00b2-\u00b5\u00b8-\u00ba\u00bc-\u00be\u0132\u0133\u013f\u0140\u0149\u017f`,
  String.raw`\u01c4-\u01cc\u01f1-\u01f3\u02b0-\u036f\u0374\u037a\u037e\u0384-\u0387\u03d0-\u03d6\u03f0-\u03f9\u0483-\u0489`,
  String.raw`\u0587\u0591-\u05c7\u0610-\u061a\u064b-\u0678\u06d6-\u1dff\u1e9a\u1e9b\u1f00-\u200a\u2011\u2017`,
  String.raw`\u2024-\u2026\u202f\u2033-\u2037\u203c\u203e\u2047-\u20a8\u20d0-\u218f\u222c-\u2230\u2329\u232a`,
  String.raw`\u2460-\u24ff\u2a00-\u2fff\u3000\u302a-\u303a\u3099-\u309f\u30ff-\u319f\u3200-\u33ff`,
  String.raw`\ua66f-\ua6ff\ua770-\uabff\ud7b0-\ud7ff\uf900-\uffef`,
].join('');

/** The same beyond U+FFFF. */
const unsettledBeyond = String.raw`\U00010000-\U0001f2ff\U0001fbf0-\U0001fbff\U0002f800-\U0002fa1f\U000e0000-\U000e01ef`;

/**
 * True where a column contains a text in the sense of `holdsText`, whatever the database's locale:
 * `lower` and `ilike` change only letters that the locale knows. `normalize` costs ten times the
 * search, so it runs only on texts that it may change.
 */
export function columnHoldsText(column: RawBuilder<unknown>, part: string): RawBuilder<boolean> {
  const isNormal = sql`(octet_length(${column}) = char_length(${column})
    or ${column} !~ ${sql.lit(`[${unsettled}${unsettledBeyond}]`)})`;
  return sql<boolean>`(case when ${isNormal} then ${column} else normalize(${column}, NFKC) end ~ ${patternOf(part)})`;
}

/** A regular expression of Postgres that finds a text in any letter case. */
function patternOf(part: string): string {
  const letters = Array.from(foldedText(part));
  let pattern = '';
  for (let at = 0; at < letters.length; at += 1) {
    const [letter = '', next = ''] = letters.slice(at, at + 2);
    const both = pairs[letter + next];
    const one = formsOf(letter, halvesAt(letters, at));
    pattern += both === undefined ? one : `(?:${one}${formsOf(next, halvesAt(letters, at + 1))}|[${both}])`;
    if (both !== undefined) at += 1;
  }
  return pattern;
}

/** Letters of which the first or last letter of a text may be one half. */
function halvesAt(letters: readonly string[], at: number): string {
  const letter = letters[at] ?? '';
  const fits = (pair: string): boolean =>
    (at === letters.length - 1 && pair.startsWith(letter)) || (at === 0 && pair.endsWith(letter));
  return Object.entries(pairs)
    .flatMap(([pair, whole]) => (fits(pair) ? whole : ''))
    .join('');
}

/** A letter in both cases, or another character as it is. */
function formsOf(letter: string, more: string): string {
  const capital = letter.toUpperCase();
  const forms = [
    letter,
    ...(foldedText(capital) === letter ? [capital] : []),
    ...Array.from((others[letter] ?? '') + more),
  ];
  const different = [...new Set(forms)].map((one) => (/[!-/:-@[-`{-~]/.test(one) ? `\\${one}` : one));
  return different.length === 1 ? different.join('') : `[${different.join('')}]`;
}
