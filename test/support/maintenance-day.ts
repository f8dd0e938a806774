/** In ms, as all times here. */
export const day = 24 * 3_600_000;

/** The day on which tests of the maintenance play: its midnight in UTC, and its noon. */
export const midnight = Date.parse('2026-11-21T00:00:00Z');
export const now = midnight + day / 2;

/** A maintenance at that noon that makes three partitions and drops none. */
export const keepAll = { now, daysAhead: 2, retentionDays: 0 };
