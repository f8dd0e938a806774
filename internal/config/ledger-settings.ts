import { str } from 'envalid';
import { archiveUrl, flag, witnessUrls } from './validators.ts';

/** The settings of the archive and of the Merkle log. */
export const ledgerSettings = {
  ARCHIVE_URL: archiveUrl({
    default: undefined,
    desc: 'Where `runledger-admin export` writes, s3://bucket/prefix or file:///folder; retention drops only what is there',
  }),
  LEDGER_KEY: str({
    default: undefined,
    desc: 'Keys of `token ledger-key` that sign the log; off unless set. Two of one name while a key is replaced',
  }),
  LEDGER_MAC_KEY: str({
    default: undefined,
    desc: 'The key of `token ledger-key` by which erase, export and seal write to the log; LEDGER_KEY gives it too',
  }),
  LEDGER_DIGESTS: flag({
    default: false,
    desc: 'Ingest makes the digest of each event for the log, before its 201; otherwise workers with LEDGER_KEY do',
  }),
  LEDGER_WITNESSES: witnessUrls({
    default: [],
    desc: 'Who remembers checkpoints: file:///folder, s3://bucket/prefix?days=N, https://witness#key; quorum:N of them; spaces between',
  }),
};
