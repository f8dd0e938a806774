import { str } from 'envalid';
import { archiveUrl, flag, witnessUrls } from './validators.ts';

/** The settings of the archive and of the Merkle log. */
export const ledgerSettings = {
  ARCHIVE_URL: archiveUrl({
    default: undefined,
    desc: 'Archive that `runledger-admin export` writes, s3://bucket/prefix or file:///folder; retention drops only what it holds',
  }),
  LEDGER_KEY: str({
    default: undefined,
    desc: 'Keys made by `token ledger-key` that sign the log; off unless set. Two with one name while a key is being replaced',
  }),
  LEDGER_MAC_KEY: str({
    default: undefined,
    desc: 'Key made by `token ledger-key` with which erase, export, seal, controller and console write to the log; LEDGER_KEY includes it',
  }),
  LEDGER_DIGESTS: flag({
    default: false,
    desc: 'true lets ingest compute the digest of each event for the log, before its 201; otherwise workers with LEDGER_KEY do',
  }),
  LEDGER_WITNESSES: witnessUrls({
    default: [],
    desc: 'Witnesses that keep checkpoints, separated by spaces: file:///folder, s3://bucket/prefix?days=N, https://witness#key; quorum:N of them',
  }),
};
