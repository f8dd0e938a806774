/** How often percent-encoding is undone. A target that is encoded more often hides something. */
const mostRounds = 8;

/** `/ping/<key>` and `/once/<secret>`, in any spelling and position. */
const secretPath = /\/(ping|once)[/;]+[^/;?#]/;

/** Parameters that clients put secrets in, and those of an OpenID Connect provider's answer. */
const secretParameter = /[?&;](?:[\w.-]*(?:token|secret|password|key)|code|state)=/;

/** The form of what `token create` makes. */
const secretForm = /\brl[rp]?_[\w-]{8}/;

/**
 * The path that may stand in for a target that may hold a secret: `/ping/` or `/`; undefined if it
 * holds none. Reads a target as the most lenient server would.
 */
export function pathWithoutSecret(target: string): '/ping/' | '/' | undefined {
  const text = plainFormOf(target);
  if (text === undefined) return '/';
  const [, name] = secretPath.exec(text) ?? [];
  if (name !== undefined) return name === 'ping' ? '/ping/' : '/';
  return secretParameter.test(text) || secretForm.test(text) ? '/' : undefined;
}

/** Fully decoded, in lower case, with single slashes; undefined if decoding does not end. */
function plainFormOf(target: string): string | undefined {
  let text = target;
  for (let round = 0; round < mostRounds; round += 1) {
    const decoded = text.replaceAll(/%([\da-f]{2})/gi, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
    if (decoded === text)
      return text
        .toLowerCase()
        .replaceAll(/[\t\r\n]/g, '')
        .replaceAll(/(?:[/\\]\.?)*[/\\]+/g, '/');
    text = decoded;
  }
  return undefined;
}
