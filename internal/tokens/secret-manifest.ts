/**
 * The part of a Kubernetes Secret that tokens are read from, as the API server sends it and as a
 * manifest in a file says it. Only the parts that are checked here are typed: a file may hold
 * anything.
 */
export interface SecretManifest {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, unknown>>;
    readonly annotations?: Readonly<Record<string, unknown>>;
  };
  readonly type?: string;
  /** Entry → base64. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  /** Entry → clear text. It wins over `data` under the same entry, as in the API server. */
  readonly stringData?: Readonly<Record<string, unknown>> | null;
}

/** Which Secret, at which version. Holds nothing secret. */
export interface SecretReference {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The reference of a Secret; what a manifest in a file leaves out is empty. */
export function referenceOf({ metadata = {} }: SecretManifest): SecretReference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return { name, namespace, uid, resourceVersion };
}

/** The clear text of every entry, or undefined where an entry is not base64 or not a string. */
export function* entriesOf(secret: SecretManifest): Generator<[entry: string, text: string | undefined]> {
  const { data, stringData } = secret;
  for (const [entry, value] of Object.entries(data ?? {})) {
    if (!Object.hasOwn(stringData ?? {}, entry)) yield [entry, decodeBase64(value)];
  }
  for (const [entry, value] of Object.entries(stringData ?? {})) {
    yield [entry, typeof value === 'string' ? value : undefined];
  }
}

/**
 * Strict, so that clear text put under `data` by mistake is refused and does not become another
 * token.
 */
function decodeBase64(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value, 'base64');
  return bytes.toString('base64') === value.replaceAll(/\s/g, '') ? bytes.toString('utf8') : undefined;
}
