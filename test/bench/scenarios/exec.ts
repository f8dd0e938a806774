import { join } from 'node:path';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { environmentWith, outcomeOf, reported } from '../../support/exec.ts';
import { freePort } from '../../support/free-port.ts';
import { compare, figure } from '../harness/figures.ts';
import { startIngest } from '../harness/sides.ts';
import { token } from '../harness/wrk.ts';
import type { Scenario } from './scenario.ts';

/** Runs of each side in a round: one takes some ten ms. */
const runsPerRound = 10;

/**
 * What `runledger exec` adds to a command that ends at once: until it starts, and in all, with both
 * events recorded.
 */
export const exec: Scenario = async (world, { rounds }) => {
  await using files = await CertificateFiles.create(await createKeyPair('runledger.example'));
  const port = await freePort();
  const { program } = await startIngest(world, { HTTPS_PORT: String(port), ...files.settings });
  const env = environmentWith({
    RUNLEDGER_URL: `https://localhost:${port}`,
    RUNLEDGER_TOKEN: token,
    RUNLEDGER_CA_FILE: files.settings.TLS_CERT_FILE,
    RUNLEDGER_SPOOL: join(world.folder, 'spool'),
  });
  const command = ['date', '+%s%N'];
  const found = await compare(
    ['plain', 'exec'] as const,
    rounds * runsPerRound,
    async (side) => {
      const begun = Date.now();
      const { stdout } = await outcomeOf(side === 'plain' ? command : reported(command), env);
      return { startMs: Number(stdout) / 1e6 - begun, wholeMs: Date.now() - begun };
    },
    { warmUp: true },
  );
  await program.stop();
  await world.end(program);
  const added = (measure: 'startMs' | 'wholeMs'): number =>
    found.median(measure, 'exec') - found.median(measure, 'plain');
  return {
    figures: [
      figure('exec: a command starts later by', added('startMs'), 'ms', { atMost: 80 }),
      figure('exec: a command that ends at once takes longer by', added('wholeMs'), 'ms'),
    ],
  };
};
