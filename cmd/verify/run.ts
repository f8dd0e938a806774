import { readFile } from 'node:fs/promises';
import { auditDatabase } from '../../internal/record/audit/audit-database.ts';
import { auditExport, nothingCompared } from '../../internal/record/audit/audit-export.ts';
import type { AuditReport, OnProgress } from '../../internal/record/audit/finding.ts';
import { UsageError } from '../../internal/config/arguments.ts';
import { readConfig } from '../../internal/config/read.ts';
import { dayOf, daysBefore } from '../../internal/store/partitions/days.ts';
import { ProgressBar, type Terminal } from '../../internal/kit/terminal/progress-bar.ts';
import { checkArchive } from './check-archive.ts';
import { checkProof } from './check-proof.ts';
import { checkWitnesses } from './check-witnesses.ts';
import { readExportManifest } from './export-manifest.ts';
import { linesOf, linesOfAll } from './exported-lines.ts';
import { openDatabaseOf, verifySettings } from './open-database.ts';
import { keepState, readKept, readState } from './kept-checkpoints.ts';
import { readOptions, usage, type Options } from './options.ts';
import { describe } from './report.ts';
import { servedLog } from './served-log.ts';
import { verdictOf, withOutcome, type Outcome, type Verdict } from './verdict.ts';

/** The streams of the command: those of the process, or of a test. */
export interface Surroundings {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: Terminal;
  /** It has DATABASE_URL; the environment of the process unless given. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Resolves with the exit code: 0 nothing was changed, 1 something was, 2 could not be checked. */
export async function run(args: string[], { stdout, stderr, env }: Surroundings): Promise<number> {
  if (args.includes('--help') || args[0] === 'help') {
    stdout.write(usage);
    return 0;
  }
  const bar = new ProgressBar(stderr);
  try {
    const { sentences, code } = await check(args, env, (progress) => bar.show(progress));
    bar.clear();
    stdout.write(`${sentences.join('\n')}\n`);
    return code;
  } catch (error) {
    bar.clear();
    const isUsage = error instanceof UsageError;
    if (!isUsage) stdout.write('Nothing could be checked.\n');
    stderr.write(`verify: ${describeError(error)}\n${isUsage ? `\n${usage}` : ''}`);
    return 2;
  }
}

/** With the first cause of the error, unless its message has it. */
function describeError(error: unknown): string {
  const message = messageOf(error);
  const cause = messageOf(firstCause(error));
  return message.includes(cause) ? message : `${message}\nCause: ${cause}`;
}

function firstCause(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? firstCause(error.cause) : error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function check(args: string[], env: Surroundings['env'], onProgress: OnProgress): Promise<Verdict> {
  const options = readOptions(args);
  if (options.proof !== undefined) {
    const { checkpoint, ...outcome } = await checkProof(options.proof, options);
    return verdictOf(withWitnesses(outcome, checkpoint, options));
  }
  const report = await auditWith(options, env, onProgress);
  const { checkpoint } = report;
  const { organization, state } = options;
  const compared = withWitnesses(describe(report, organization), checkpoint, options);
  const outcome = options.archive === undefined ? compared : await withArchive(compared, report, options);
  if (state !== undefined && checkpoint !== undefined && outcome.findings.length === 0) {
    await keepState(state, checkpoint);
  }
  return verdictOf(outcome);
}

async function auditWith(options: Options, env: Surroundings['env'], onProgress: OnProgress): Promise<AuditReport> {
  const { organization, publicKeys: keys, export: exported, state } = options;
  const places = options.checkpoints.map((where) => readKept(where, organization, keys));
  const kept = await Promise.all([...places, readState(state, organization, keys)]);
  const audit = { organization, keys, kept: kept.flat(), onProgress };
  if (options.log === undefined) return auditPostgres(env, { ...audit, retainedSince: retainedSince(options) });
  const manifest = exported === undefined ? undefined : await readExportManifest(exported, options);
  const changed = (manifest?.findings ?? []).map((sentence) => ({ sentence }));
  const report = await auditExport({
    ...audit,
    manifest,
    read: servedLog(options.log, await tokenOf(options)),
    lines: exported === undefined ? undefined : () => linesOf(exported),
    erasures: options.erasures === undefined ? undefined : linesOfAll(options.erasures),
    partial: options.partial,
  }).catch((error: unknown) => {
    // What was found stays found.
    if (changed.length === 0) throw error;
    return { ...nothingCompared, problems: [describeError(error)] };
  });
  return { ...report, findings: [...changed, ...report.findings] };
}

/** Without the acts, a day that was removed from the archive would not be found. */
async function withArchive(
  outcome: Outcome,
  { manifests }: AuditReport,
  { archive = '', organization }: Options,
): Promise<Outcome> {
  if (manifests !== undefined) return withOutcome(outcome, await checkArchive(archive, organization, manifests));
  const problem = 'The log was shown without the texts of its acts, so the archive cannot be compared with it.';
  return withOutcome(outcome, { problems: [problem] });
}

/** Without a checkpoint, nobody can have cosigned it: the report says that there is none. */
function withWitnesses(outcome: Outcome, checkpoint: string | undefined, options: Options): Outcome {
  return checkpoint === undefined ? outcome : withOutcome(outcome, checkWitnesses(checkpoint, options));
}

/** A clock may be slow by so much, in ms: the next day begins sooner. */
const slowMs = 3_600_000;

/** Midnight, UTC, of the first day that retention keeps. */
function retainedSince({ retentionDays }: Options): number | undefined {
  return retentionDays === undefined ? undefined : daysBefore(dayOf(Date.now() + slowMs), retentionDays);
}

async function tokenOf(options: Options): Promise<string | undefined> {
  const file = options['read-token-file'];
  return file === undefined ? undefined : (await readFile(file, 'utf8')).trim();
}

async function auditPostgres(
  env: Surroundings['env'],
  audit: Parameters<typeof auditDatabase>[1],
): Promise<AuditReport> {
  await using db = await openDatabaseOf(audit.organization, readConfig(verifySettings, env));
  return await auditDatabase(db, audit);
}
