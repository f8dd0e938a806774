import { Composer, LineCounter, parseDocument, Parser, stringify, type Document } from 'yaml';

/**
 * The value of a YAML document.
 * @throws an error with the place of the fault, which never quotes the text.
 */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' });
  const fault = faultOf(document, lines);
  if (fault !== undefined) throw new Error(`is not valid YAML at ${fault.place} (${fault.code})`);
  return document.toJS() as unknown;
}

/** A manifest of a file: an object with a kind. */
export type Manifest = Readonly<Record<string, unknown>> & { readonly kind: string };

/**
 * Yields the Kubernetes manifests among YAML documents, including those in a `List`. Parses one
 * document at a time: the trees of 10,000 automations would take 200 MB.
 * @throws an error with the place of the fault. It never quotes the text, which may hold secrets;
 * the YAML library's own messages would.
 */
export function* parseManifests(text: string, origin: string): Generator<Manifest> {
  const lines = new LineCounter();
  for (const document of new Composer({ logLevel: 'silent' }).compose(new Parser(lines.addNewLine).parse(text))) {
    const fault = faultOf(document, lines);
    if (fault !== undefined) throw new Error(`${origin}: ${fault.place}: not valid YAML (${fault.code})`);
    const value: unknown = document.toJS();
    if (value !== null) yield* manifestsOf(value, origin);
  }
}

/** Returns the YAML of a value. */
export function toYaml(value: unknown): string {
  return stringify(value);
}

/** True for a mapping. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function manifestsOf(value: unknown, origin: string): Manifest[] {
  if (!isObject(value) || typeof value.kind !== 'string') {
    throw new Error(`${origin}: every document must be a Kubernetes manifest with a kind`);
  }
  if (value.kind !== 'List') return [value as Manifest];
  const items: unknown[] = Array.isArray(value.items) ? value.items : [];
  return items.flatMap((item) => manifestsOf(item, origin));
}

/** The place and the code of the first fault. */
function faultOf({ errors: [fault] }: Document, lines: LineCounter): { place: string; code: string } | undefined {
  if (fault === undefined) return undefined;
  const { line, col } = lines.linePos(fault.pos[0]);
  return { place: `line ${line}, column ${col}`, code: fault.code };
}
