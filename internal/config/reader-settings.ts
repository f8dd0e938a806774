import { wholeNumber } from './validators.ts';

/** The settings that bound what readers of a console may do. */
export const readerSettings = {
  READ_STATEMENT_TIMEOUT_MS: wholeNumber({
    min: 100,
    max: 600_000,
    default: 5_000,
    desc: 'Longest duration of one query; the reader gets 503 after it',
  }),
  READ_RATE: wholeNumber({
    min: 1,
    max: 100_000,
    default: 10,
    desc: 'Requests a second that one read token may send to one console, beyond which it gets 429',
  }),
  READ_CONCURRENCY: wholeNumber({
    min: 1,
    max: 10_000,
    default: 4,
    desc: 'Requests of one read token that one console serves at once, beyond which it gets 429',
  }),
  READ_ROWS_PER_SECOND: wholeNumber({
    min: 1_000,
    max: 100_000_000,
    default: 50_000,
    desc: 'Rows a second that searches, figures and exports of one console may read while workers store many events',
  }),
  STREAMS_PER_TOKEN: wholeNumber({
    min: 1,
    max: 10_000,
    default: 20,
    desc: 'Open streams of one read token at one console, beyond which it gets 429',
  }),
  STREAM_EVENTS_PER_SECOND: wholeNumber({
    min: 1,
    max: 10_000,
    default: 200,
    desc: 'Most events a second on one stream; the stream says how many it left out',
  }),
};
