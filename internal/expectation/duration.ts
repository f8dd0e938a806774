const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

const format = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;

/** Parses a duration such as `45s`, `10m`, `1h30m` or `2d`, in ms; undefined for any other text. */
export function readDuration(text: string): number | undefined {
  const match = format.exec(text);
  if (match === null) return undefined;
  const [, d = '0', h = '0', m = '0', s = '0'] = match;
  return Number(d) * unitMs.d + Number(h) * unitMs.h + Number(m) * unitMs.m + Number(s) * unitMs.s;
}

/** A duration in words, in its two largest units: `1 h 30 min`, `45 s`. */
export function describeDuration(ms: number): string {
  const names = { d: 'd', h: 'h', m: 'min', s: 's' } as const;
  const units = ['d', 'h', 'm', 's'] as const;
  let rest = Math.round(ms / 1_000) * 1_000;
  const parts: string[] = [];
  for (const unit of units) {
    const count = Math.floor(rest / unitMs[unit]);
    rest -= count * unitMs[unit];
    if (count > 0) parts.push(`${count} ${names[unit]}`);
  }
  return parts.length === 0 ? '0 s' : parts.slice(0, 2).join(' ');
}
