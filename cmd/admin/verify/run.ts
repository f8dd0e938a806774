import { readFile } from 'node:fs/promises';
import { s3Credentials } from '../../../internal/config/credentials.ts';
import { auditDatabase } from '../../../internal/record/audit/audit-database.ts';
import { auditExport, nothingCompared } from '../../../internal/record/audit/audit-export.ts';
import { checkArchive } from '../../../internal/record/audit/check-archive.ts';
import { checkProof } from '../../../internal/record/audit/check-proof.ts';
import { checkWitnesses } from '../../../internal/record/audit/check-witnesses.ts';
import { readExportManifest } from '../../../internal/record/audit/export-manifest.ts';
import { linesOf, linesOfAll } from '../../../internal/record/audit/exported-lines.ts';
import type { AuditReport } from '../../../internal/record/audit/finding.ts';
import { keepState, readKept, readState } from '../../../internal/record/audit/kept-checkpoints.ts';
import { verdictOf, withOutcome, type Outcome, type Verdict } from '../../../internal/record/audit/exit-code.ts';
import { describe } from '../../../internal/record/audit/report.ts';
import { servedLog } from '../../../internal/record/audit/served-log.ts';
import { dayOf, daysBefore } from '../../../internal/store/partitions/days.ts';
import { UsageError, type ContextOf, type Run } from '../command.ts';
import { openDatabases } from '../databases.ts';
import { withCause } from '../messages.ts';
import { readOptions, type Options, type verify } from './options.ts';

type Context = ContextOf<typeof verify>;

export const run: Run<typeof verify> = async (args, context) => {
  const options = readOptions(args);
  const { sentences, code } = await check(options, context).catch((error: unknown) => {
    if (!(error instanceof UsageError)) context.print('Nothing could be checked.\n');
    throw error;
  });
  context.print(`${sentences.join('\n')}\n`);
  return code;
};

async function check(options: Options, context: Context): Promise<Verdict> {
  if (options.proof !== undefined) {
    const { checkpoint, ...outcome } = await checkProof(options.proof, options);
    return verdictOf(withWitnesses(outcome, checkpoint, options));
  }
  const report = await auditWith(options, context);
  const { checkpoint } = report;
  const { organization, state } = options;
  const compared = withWitnesses(describe(report, organization), checkpoint, options);
  const outcome = options.archive === undefined ? compared : await withArchive(compared, report, options);
  if (state !== undefined && checkpoint !== undefined && outcome.findings.length === 0) {
    await keepState(state, checkpoint);
  }
  return verdictOf(outcome);
}

async function auditWith(options: Options, context: Context): Promise<AuditReport> {
  const { organization, publicKeys: keys, export: exported, state } = options;
  const places = options.checkpoints.map((where) => readKept(where, organization, keys, s3Credentials()));
  const kept = await Promise.all([...places, readState(state, organization, keys)]);
  const audit = { organization, keys, kept: kept.flat(), onProgress: context.show };
  if (options.log === undefined)
    return auditPostgres(context, { ...audit, retainedSince: retainedSince(options) }, options);
  const manifest = exported === undefined ? undefined : await readExportManifest(exported, options);
  const changed = (manifest?.findings ?? []).map((sentence) => ({ sentence }));
  const report = await auditExport({
    ...audit,
    manifest,
    read: servedLog(options.log, await tokenOf(options)),
    lines: exported === undefined ? undefined : () => linesOf(exported),
    erasures: options.erasures.length === 0 ? undefined : linesOfAll(options.erasures),
    partial: options.partial,
  }).catch((error: unknown) => {
    // Findings stand, even if a later part fails.
    if (changed.length === 0) throw error;
    return { ...nothingCompared, problems: [withCause(error)] };
  });
  return { ...report, findings: [...changed, ...report.findings] };
}

/** Compares the archive. Without the acts, a day removed from it would go unnoticed. */
async function withArchive(
  outcome: Outcome,
  { proven, cold }: AuditReport,
  { archive = '', organization }: Options,
): Promise<Outcome> {
  if (proven !== undefined)
    return withOutcome(outcome, await checkArchive(archive, { organization, acts: proven, cold }, s3Credentials()));
  const problem = 'The log was shown without the texts of its acts, so the archive cannot be compared with it.';
  return withOutcome(outcome, { problems: [problem] });
}

/**
 * Checks the witnesses. Without a checkpoint there is nothing to cosign, and the report says so.
 */
function withWitnesses(outcome: Outcome, checkpoint: string | undefined, options: Options): Outcome {
  return checkpoint === undefined ? outcome : withOutcome(outcome, checkWitnesses(checkpoint, options));
}

/** How slow a clock may be, in ms: the next day may have begun. */
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
  { settings }: Context,
  audit: Parameters<typeof auditDatabase>[1],
  { archive }: Options,
): Promise<AuditReport> {
  // One connection for the snapshot, and one for each concurrent part. One part needs two: a part
  // that waited for a connection would hold another.
  await using databases = openDatabases(settings(), { command: 'verify', most: 6, archive });
  return await auditDatabase(await databases.databaseOf(audit.organization), audit);
}
