/** A place in a text, in lines and characters counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** What is wrong; the place is inserted between the two parts. */
interface Fault {
  at: number;
  before: string;
  after: string;
}

/** What comes next in a document. */
type Next = 'value' | 'key' | 'colon' | 'comma' | 'end';

/** Words of other languages that a fault may quote, since they cannot be anybody's data. */
const foreignWords = new Set(['NaN', 'Infinity', 'undefined', 'None', 'True', 'False', 'NULL', 'Null', 'nil']);

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /-?[\p{L}_$][\p{L}\p{N}_$]*/uy;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Explains in one clause why a text is not JSON, and where, without quoting the text. Undefined if
 * it finds no fault. `from`: the place of the text in the body.
 */
export function jsonFault(text: string, from: Place = { line: 1, column: 1 }): string | undefined {
  const fault = new JsonCheck(text).fault();
  if (fault === undefined) return undefined;
  const { line, column } = placeOf(text, fault.at, from);
  return `${fault.before} at line ${line}, column ${column}${fault.after}`;
}

function placeOf(text: string, at: number, { line, column }: Place): Place {
  const place = { line, column };
  for (let index = 0; index < at; index += 1) {
    const code = text.charCodeAt(index);
    // The second half of a surrogate pair is not a separate character.
    const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
    if (code === newline) place.line += 1;
    if (code === newline) place.column = 1;
    else if (!isSecondHalf) place.column += 1;
  }
  return place;
}

const newline = 0x0a;

/** Checks a text against the grammar of RFC 8259, up to the first fault. */
class JsonCheck {
  readonly #text: string;
  #at = 0;
  #next: Next = 'value';
  readonly #open: ('object' | 'array')[] = [];
  /** The position of the last comma, while nothing has followed it. */
  #comma: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  fault(): Fault | undefined {
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#at];
      if (char === undefined) return this.#next === 'end' ? undefined : this.#endsEarly(this.#at);
      const fault = this.#take(char);
      if (fault !== undefined) return fault;
    }
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  #take(char: string): Fault | undefined {
    if (this.#next === 'end') return this.#found('more follows', ', after the end of the document');
    if (char === '/' || char === '#') return this.#found('the comment', ' is no part of JSON');
    const closes = this.#open.at(-1) === 'object' ? '}' : ']';
    if (char === ',' && this.#next !== 'comma') return this.#found('the comma', ' follows no value');
    if (char === closes && this.#open.length > 0 && this.#next !== 'colon') return this.#close();
    if (char === '}' || char === ']') return this.#found('the bracket', ' closes nothing that is open');
    if (this.#next === 'comma') return this.#takeMark(char, ',', 'a comma is missing');
    if (this.#next === 'colon') return this.#takeMark(char, ':', 'a colon is missing');
    if (char === '"') return this.#takeText();
    if (char === "'" || char === '`') return this.#found('the text', ' must be in double quotes');
    if (/[\u2018-\u201f\u00ab\u00bb]/.test(char)) return this.#found('the quote', ' must be the straight one, "');
    if (this.#next === 'key') return this.#found('the key', ' must be in double quotes');
    return this.#takeValue(char);
  }

  #takeMark(char: string, mark: ',' | ':', missing: string): Fault | undefined {
    if (char !== mark) return this.#found(missing, '');
    this.#comma = mark === ',' ? this.#at : undefined;
    this.#at += 1;
    this.#next = mark === ',' && this.#open.at(-1) === 'object' ? 'key' : 'value';
    return undefined;
  }

  #close(): Fault | undefined {
    if (this.#comma !== undefined) {
      return { at: this.#comma, before: 'the comma', after: ` comes before the end of an ${this.#open.at(-1)}` };
    }
    if (this.#next === 'value' && this.#open.at(-1) === 'object') return this.#found('a value is missing', '');
    this.#at += 1;
    this.#open.pop();
    this.#endValue();
    return undefined;
  }

  #endValue(): void {
    this.#comma = undefined;
    this.#next = this.#open.length === 0 ? 'end' : 'comma';
  }

  #takeValue(char: string): Fault | undefined {
    if (char === '{' || char === '[') {
      this.#open.push(char === '{' ? 'object' : 'array');
      this.#comma = undefined;
      this.#next = char === '{' ? 'key' : 'value';
      this.#at += 1;
      return undefined;
    }
    const named = this.#match(word);
    if (named !== undefined) return this.#takeWord(named);
    const length = this.#match(number)?.length ?? 0;
    const after = this.#text[this.#at + length] ?? '';
    if (length > 0 && !/[\w.+-]/.test(after)) {
      this.#at += length;
      this.#endValue();
      return undefined;
    }
    if (/[\d.+-]/.test(char)) return this.#found('the number', ' has not the form of JSON');
    return this.#found('the character', ' begins no JSON value');
  }

  #takeWord(named: string): Fault | undefined {
    if (!['true', 'false', 'null'].includes(named)) {
      const isForeign = foreignWords.has(named.replace('-', ''));
      return this.#found(isForeign ? named : 'the word', ' is no JSON value');
    }
    this.#at += named.length;
    this.#endValue();
    return undefined;
  }

  /** A key or a value. */
  #takeText(): Fault | undefined {
    const start = this.#at;
    for (this.#at += 1; ;) {
      const code = this.#text.charCodeAt(this.#at);
      if (Number.isNaN(code)) return this.#endsEarly(start);
      if (code < 0x20) return this.#found('the control character', ' must be escaped');
      if (code === 0x22) break;
      const length = code === 0x5c ? this.#match(escape)?.length : 1;
      if (length === undefined) return this.#found('the escape', ' is none of JSON');
      this.#at += length;
    }
    this.#at += 1;
    if (this.#next === 'key') this.#next = 'colon';
    else this.#endValue();
    return undefined;
  }

  #match(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    return form.exec(this.#text)?.[0];
  }

  #found(before: string, after: string): Fault {
    return { at: this.#at, before, after };
  }

  /** @param from the start of the text that does not end. */
  #endsEarly(from: number): Fault {
    const inside = from < this.#at ? ', inside a text' : this.#open.map((one) => `, inside an ${one}`).at(-1);
    return { at: this.#text.length, before: 'it ends', after: inside ?? '' };
  }
}

/** White space of JSON. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === newline || code === 0x0d || code === 0x09;
}
