import { str } from 'envalid';
import { archiveUrl, flag, witnessUrls } from './validators.ts';

/** The settings of the archive and of the Merkle log. */
export const logSettings = {
  ARCHIVE_URL: archiveUrl({
    default: undefined,
    desc: 'Where cmd/export writes, s3://bucket/prefix or file:///folder; retention drops only what is there',
  }),
  LOG_KEY: str({
    default: undefined,
    desc: 'Keys of `token log-key` that sign the log; off unless set. Two of one name while a key is replaced',
  }),
  LOG_MAC_KEY: str({
    default: undefined,
    desc: 'The key of `token log-key` by which erase, export and seal write to the log; LOG_KEY gives it too',
  }),
  LOG_DIGESTS: flag({
    default: false,
    desc: 'Ingest makes the digest of each event for the log, before its 201; otherwise workers with LOG_KEY do',
  }),
  LOG_WITNESSES: witnessUrls({
    default: [],
    desc: 'Who remembers checkpoints: file:///folder, s3://bucket/prefix?days=N, https://witness#key; quorum:N of them; spaces between',
  }),
};
