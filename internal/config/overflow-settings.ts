import { wholeNumber } from './validators.ts';

/** The settings of the overflow lane (docs/design/overflow.md). */
export const overflowSettings = {
  OVERFLOW_RATE: wholeNumber({
    min: 0,
    max: 1e9,
    default: 0,
    desc: 'Events a second of one organization at one ingest, beyond which its events go to the overflow lane; 0 for never',
  }),
};
