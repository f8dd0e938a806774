import { str } from 'envalid';
import { wholeNumber } from './validators.ts';

/** The settings of idempotency keys (docs/design/idempotency.md). */
export const keySettings = {
  IDEMPOTENCY_HOURS: wholeNumber({ min: 1, max: 720, default: 24, desc: 'How long an Idempotency-Key is remembered' }),
  IDEMPOTENCY_PLACES: str({
    default: 'first',
    choices: ['first', 'both', 'spread'],
    desc: 'Where Idempotency-Keys are: first (in the first two shards), spread (over all masters of a Redis Cluster) or both',
  }),
};
