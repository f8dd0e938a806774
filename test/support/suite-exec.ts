import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CertificateFiles, createKeyPair } from './certificate.ts';
import { environmentWith } from './exec.ts';
import { token } from './pipeline.ts';
import { suiteIngest, type SuiteIngest } from './suite-ingest.ts';

export interface SuiteExec {
  /** Takes events over TLS. */
  readonly suite: SuiteIngest;
  readonly files: CertificateFiles;
  /** Of the test, for its spool and other files. */
  readonly folder: string;
  /** The environment of `runledger` in the test: ingest, its token and certificate, the spool. */
  readonly env: NodeJS.ProcessEnv;
}

/** One ingest for all tests of the suite it is called in, and a folder for each. */
export function suiteExec(): SuiteExec {
  let files: CertificateFiles;
  let folder: string;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    files = await CertificateFiles.create(await createKeyPair('runledger.example'));
  });
  after(() => files[Symbol.asyncDispose]());
  const suite = suiteIngest(() => ({ HTTPS_PORT: '0', ...files.settings }));
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runledger-exec-'));
    env = environmentWith({
      RUNLEDGER_URL: `https://localhost:${suite.ingest.httpsPort}`,
      RUNLEDGER_TOKEN: token,
      RUNLEDGER_CA_FILE: files.settings.TLS_CERT_FILE,
      RUNLEDGER_SPOOL: join(folder, 'spool'),
      RUNLEDGER_TIMEOUT_MS: '10000',
    });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return {
    suite,
    get files() {
      return files;
    },
    get folder() {
      return folder;
    },
    get env() {
      return env;
    },
  };
}
