import { wholeNumber } from './validators.ts';

/** The settings of idempotency keys (docs/design/idempotency.md). */
export const keySettings = {
  IDEMPOTENCY_HOURS: wholeNumber({ min: 1, max: 720, default: 24, desc: 'How long an Idempotency-Key is remembered' }),
};
