import { parseDocument } from 'yaml';

/**
 * The value of a YAML document.
 * @throws an error with the place of the fault, which never quotes the text.
 */
export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, logLevel: 'silent' });
  const [fault] = document.errors;
  if (fault === undefined) return document.toJS() as unknown;
  const { line, col } = fault.linePos?.[0] ?? { line: 1, col: 1 };
  throw new Error(`is not valid YAML at line ${line}, column ${col} (${fault.code})`);
}
