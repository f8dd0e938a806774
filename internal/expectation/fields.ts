import { faultOfText } from '../event/stored-text.ts';

/** Reads the fields of a declaration, and collects every problem as `field: problem`. */
export class Fields {
  readonly problems: string[];
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;

  constructor(given: unknown, path: string, problems: string[] = []) {
    this.#path = path;
    this.problems = problems;
    this.#values = isRecord(given) ? given : {};
    if (!isRecord(given)) problems.push(`${path === '' ? 'spec' : path}: must be an object`);
  }

  names(): string[] {
    return Object.keys(this.#values);
  }

  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  /** Reports a problem of a field. */
  problem(name: string, problem: string): undefined {
    this.problems.push(`${this.#pathOf(name)}: ${problem}`);
    return undefined;
  }

  missing(name: string): undefined {
    return this.problem(name, 'is required');
  }

  /** Reports each unknown field. */
  only(known: readonly string[]): void {
    for (const name of this.names()) {
      if (!known.includes(name)) this.problem(name, `is unknown; known are ${known.join(', ')}`);
    }
  }

  /** A text; undefined if the field is absent or invalid. */
  text(name: string, longest = 1_000): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') return this.problem(name, 'must be a text');
    const fault = faultOfText(value, longest);
    return fault === undefined ? value : this.problem(name, fault);
  }

  /** A list of texts, each as in {@link text}; undefined if the field is absent or invalid. */
  texts(name: string, most: number, longest: number): string[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value) || value.length > most || !value.every((item) => typeof item === 'string')) {
      return this.problem(name, `must be a list of at most ${most} texts`);
    }
    const fault = value.map((item) => faultOfText(item, longest)).find((found) => found !== undefined);
    return fault === undefined ? value : this.problem(name, `each ${fault}`);
  }

  flag(name: string): boolean | undefined {
    const value = this.#value(name);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.problem(name, 'must be true or false');
  }

  wholeNumber(name: string, min: number, max: number): number | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    return this.problem(name, `must be a whole number from ${min} to ${max}`);
  }

  /** An object; undefined if the field is absent. */
  group(name: string): Fields | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : new Fields(value, this.#pathOf(name), this.problems);
  }

  /** A list of objects, empty if the field is absent. */
  groups(name: string, most: number): Fields[] {
    const value = this.#value(name);
    if (value === undefined) return [];
    if (!Array.isArray(value) || value.length > most) {
      this.problem(name, `must be a list of at most ${most}`);
      return [];
    }
    return value.map((item, index) => new Fields(item, `${this.#pathOf(name)}[${index}]`, this.problems));
  }

  /** Null is the same as absent. */
  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined;
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
