import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateFiles, createKeyPair } from '../../support/certificate.ts';
import { automation, environmentWith, outcomeOf, program as runledger, reported } from '../../support/exec.ts';
import { freePort } from '../../support/free-port.ts';
import { compare, figure, type Rounds } from '../harness/figures.ts';
import { runitor } from '../harness/runitor.ts';
import { startIngest } from '../harness/sides.ts';
import { pingKey, token } from '../harness/wrk.ts';
import type { Scenario } from './scenario.ts';

/** Runs of each side in a round: one takes some ten ms. */
const runsPerRound = 10;

/** Passes 1 GB on to `cat`, and prints the CPU time of the process in between, in ticks. */
const gigabyte = 'head -c 1000000000 /dev/zero';
const throughCat = `{ ${gigabyte} | { cat; cut -d' ' -f16,17 /proc/$BASHPID/stat >&3; } | cat >/dev/null; } 3>&1`;
const throughParent = `${gigabyte} >&2; cut -d' ' -f14,15 /proc/$PPID/stat`;
const ticksPerSecond = 100;

/**
 * What `runledger exec` adds to a command, beside runitor: until it starts, and in all, with both
 * events recorded; its memory; and its CPU time for standard error, beside that of `cat`.
 */
export const exec: Scenario = async (world, { rounds }) => {
  await using files = await CertificateFiles.create(await createKeyPair('runledger.example'));
  const port = await freePort();
  const { program } = await startIngest(world, { HTTPS_PORT: String(port), ...files.settings });
  const address = `https://localhost:${port}`;
  const env = environmentWith({
    RUNLEDGER_URL: address,
    RUNLEDGER_TOKEN: token,
    RUNLEDGER_CA_FILE: files.settings.TLS_CERT_FILE,
    RUNLEDGER_SPOOL: join(world.folder, 'spool'),
    SSL_CERT_FILE: files.settings.TLS_CERT_FILE,
  });
  const other = await runitor();
  const under = {
    plain: (command: string[]) => command,
    exec: (command: string[]) => reported(command),
    runitor: (command: string[]) => {
      const options = ['-api-url', `${address}/ping/${pingKey}`, '-uuid', automation];
      return [other ?? '', ...options, '--', ...command];
    },
  };
  const both = other === undefined ? (['exec'] as const) : (['exec', 'runitor'] as const);

  const started = await compare(
    ['plain', ...both],
    rounds * runsPerRound,
    async (side) => {
      const begun = Date.now();
      const { stdout } = await outcomeOf(under[side](['date', '+%s%N']), env);
      return { startMs: Number(stdout) / 1e6 - begun, wholeMs: Date.now() - begun };
    },
    { warmUp: true },
  );
  const memory = await compare(both, rounds * 2, async (side) => {
    const script = "sleep 0.3; sed -n 's/^VmHWM:[^0-9]*//p' /proc/$PPID/status";
    const { stdout } = await outcomeOf(under[side](['sh', '-c', script]), env);
    return { kilobytes: Number.parseInt(stdout, 10) };
  });
  const passing = await compare(
    ['cat', 'exec'] as const,
    rounds,
    async (side) => {
      const passed = [
        'bash',
        '-c',
        '"$@" 2> >(exec cat >/dev/null)',
        'bash',
        ...reported(['bash', '-c', throughParent]),
      ];
      const { stdout } = await outcomeOf(side === 'cat' ? ['bash', '-c', throughCat] : passed, env);
      const [user, system] = stdout.trim().split(' ').map(Number);
      return { cpuMs: (((user ?? 0) + (system ?? 0)) * 1_000) / ticksPerSecond };
    },
    { warmUp: true },
  );
  await program.stop();
  await world.end(program);

  const added = (measure: 'startMs' | 'wholeMs', side: 'exec' | 'runitor'): number =>
    started.median(measure, side) - started.median(measure, 'plain');
  const beside = (name: string, value: number, atMost: number) =>
    other === undefined ? [] : [figure(name, value, '×', { atMost })];
  const megabytes = (found: Rounds<'exec' | 'runitor', 'kilobytes'>, side: 'exec' | 'runitor'): number =>
    found.median('kilobytes', side) / 1_000;
  return {
    figures: [
      figure('exec: the binary', (await stat(runledger)).size / 1e6, 'MB', { atMost: 10 }),
      ...both.flatMap((side) => [
        figure(`${side}: a command starts later by`, added('startMs', side), 'ms'),
        figure(`${side}: a command that ends at once takes longer by`, added('wholeMs', side), 'ms'),
        figure(`${side}: resident at most`, megabytes(memory, side), 'MB'),
      ]),
      ...beside('Start of exec, against runitor', added('startMs', 'exec') / added('startMs', 'runitor'), 1.5),
      ...beside('Memory of exec, against runitor', memory.ratio('kilobytes', 'exec', 'runitor'), 1.2),
      figure('exec: CPU for 1 GB of standard error', passing.median('cpuMs', 'exec'), 'ms'),
      figure('cat: the same', passing.median('cpuMs', 'cat'), 'ms'),
      figure('CPU of exec, against cat', passing.ratio('cpuMs', 'exec', 'cat'), '×', { atMost: 1.5 }),
    ],
    ...(other === undefined && { notes: ['runitor could not be built: RUNITOR=PROGRAM names one'] }),
  };
};
