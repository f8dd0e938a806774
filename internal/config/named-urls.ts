/** Parses `DATABASE_URLS` or `CONSOLE_DATABASE_URLS`: name → address, in order. */
export function namedUrls(setting: string | undefined): ReadonlyMap<string, string> {
  const parts = setting === undefined ? [] : setting.split(/\s+/);
  return new Map(
    parts.map((part) => {
      const at = part.indexOf('=');
      return [part.slice(0, at), part.slice(at + 1)];
    }),
  );
}
