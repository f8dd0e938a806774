/** What the paper assumes and the bench cannot measure: change it to what you have and pay. */
export interface Assumptions {
  /** A burst: so many times the steady rate, for so many seconds. */
  burstFactor: number;
  burstSeconds: number;
  /** After a burst the last of its events is stored within so many seconds. */
  caughtUpSeconds: number;
  /** Part of a core that may be used, in a steady flow and in a rush. */
  steadyUse: number;
  rushUse: number;
  retentionDays: number;
  /** Of these, the days that stay in Postgres with `HOT_DAYS`. */
  hotDays: number;
  /** Bytes of Redis for an Idempotency-Key, which each event has, and the longest that it stays. */
  keyBytes: number;
  keySeconds: number;
  /** The largest Postgres: its cores, and what its disk writes, in bytes/s. */
  postgresCores: number;
  diskBytesPerSecond: number;
  /** In dollars. */
  prices: { coreHour: number; gibMemoryHour: number; gibDiskMonth: number; gibBucketMonth: number };
}

export const assumptions: Assumptions = {
  burstFactor: 10,
  burstSeconds: 600,
  caughtUpSeconds: 3_600,
  steadyUse: 0.6,
  rushUse: 0.9,
  retentionDays: 90,
  hotDays: 7,
  keyBytes: 91,
  keySeconds: 2 * 24 * 3_600,
  postgresCores: 32,
  diskBytesPerSecond: 500e6,
  prices: { coreHour: 0.04, gibMemoryHour: 0.005, gibDiskMonth: 0.1, gibBucketMonth: 0.023 },
};
