/**
 * True when arrays and objects are nested deeper than `limit` levels. Recursion ends one level past
 * the limit, so a body of 200,000 levels cannot overflow the call stack.
 */
export function isDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  for (const inner of Object.values(value)) if (isDeeperThan(limit - 1, inner)) return true;
  return false;
}
