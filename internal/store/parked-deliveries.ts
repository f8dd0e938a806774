import { sql } from 'kysely';

/** A delivery that is neither delivered nor given up. */
export const isWaiting = sql<boolean>`delivered_at is null and given_up_at is null`;

/**
 * A delivery that waits for an earlier one of its automation and channel is parked: it is due in a
 * day, so queries for due deliveries skip it. Whatever ends the earlier one makes it due again.
 * Only deliveries without an attempt are parked.
 */
export const isParked = sql<boolean>`${isWaiting} and attempts = 0 and next_attempt_at > now()`;
