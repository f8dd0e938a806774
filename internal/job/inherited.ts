/**
 * Of this process' start, what Node changes and the command shall find unchanged. The launcher
 * reads it (cmd/exec/runledger).
 */
export interface Inherited {
  /** Soft limit of open files: Node raises it to the hard limit. */
  readonly openFiles: string;
  /** Signals that were ignored: Node resets them. */
  readonly ignored: readonly number[];
  /** Open descriptors beyond standard error: Node closes them in its children. */
  readonly descriptors: readonly number[];
}

/** Reads the argument of the launcher: `inherited:<soft limit>:<mask in hex>:<descriptors>`. */
export function parseInherited(argument: string): Inherited | undefined {
  const [, openFiles, mask, descriptors] = /^inherited:(\d+|unlimited):([\da-f]*):([\d ]*)$/.exec(argument) ?? [];
  if (openFiles === undefined || mask === undefined || descriptors === undefined) return undefined;
  const bits = BigInt(`0x${mask === '' ? '0' : mask}`);
  const isIgnored = (number: number): boolean => ((bits >> BigInt(number - 1)) & 1n) === 1n;
  return {
    openFiles,
    ignored: Array.from({ length: 31 }, (_, index) => index + 1).filter(isIgnored),
    descriptors: descriptors.split(' ').filter(Boolean).map(Number),
  };
}

/** The script of a shell that restores it and becomes the program of its arguments. */
export function restoringScript({ openFiles, ignored, descriptors }: Inherited): string {
  const most = Math.max(2, ...descriptors);
  const holes = Array.from({ length: most - 2 }, (_, index) => index + 3).filter((fd) => !descriptors.includes(fd));
  return [
    `ulimit -S -n ${openFiles} 2>/dev/null`,
    ...(ignored.length > 0 ? [`trap '' ${ignored.join(' ')}`] : []),
    ...holes.map((fd) => `exec ${fd}>&-`),
    'exec "$@"',
  ].join('; ');
}
