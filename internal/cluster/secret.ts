import type { KubernetesObject } from './object.ts';

/**
 * The parts of a Kubernetes Secret that hold tokens, from the API server or from a manifest file.
 * Values are `unknown` where a file may hold anything.
 */
export interface SecretManifest extends KubernetesObject {
  readonly type?: string;
  /** Entry → base64. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  /** Entry → clear text. It overrides the same entry of `data`, as in the API server. */
  readonly stringData?: Readonly<Record<string, unknown>> | null;
}

/**
 * Yields the clear text of each entry; undefined for a value that is not base64 or not a string.
 */
export function* entriesOf(secret: SecretManifest): Generator<[entry: string, text: string | undefined]> {
  const { data, stringData } = secret;
  for (const [entry, value] of Object.entries(data ?? {})) {
    if (!Object.hasOwn(stringData ?? {}, entry)) yield [entry, decodeBase64(value)];
  }
  for (const [entry, value] of Object.entries(stringData ?? {})) {
    yield [entry, typeof value === 'string' ? value : undefined];
  }
}

/** Decodes strictly: clear text under `data` is an error, not another token. */
function decodeBase64(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value.replaceAll(/\s/g, '') ? bytes.toString('utf8') : undefined;
}
