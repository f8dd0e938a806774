import { wholeNumber } from './validators.ts';

/** The settings that bound what readers of a console may do. */
export const readerSettings = {
  READ_STATEMENT_TIMEOUT_MS: wholeNumber({
    min: 100,
    max: 600_000,
    default: 5_000,
    desc: 'Longest duration of one query; after it the reader gets 503',
  }),
  READ_RATE: wholeNumber({
    min: 1,
    max: 100_000,
    default: 10,
    desc: 'Requests a second that one read token may send to one console, beyond which it gets 429',
  }),
};
