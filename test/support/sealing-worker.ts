import { createSealers, ledgerSettings } from '../../cmd/worker/sealer.ts';
import { readConfig } from '../../internal/config/read.ts';
import type { Database } from '../../internal/store/database.ts';
import { createTelemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { recordingLogger } from './recording-logger.ts';
import { logKey } from './sealed-log.ts';
import { until } from './until.ts';

/**
 * Runs the sealer of a new worker with these witnesses, until `done`. Resolves with its log and its
 * metrics.
 */
export async function sealUntil(
  db: Database,
  witnesses: string,
  done: (metrics: string) => Promise<boolean> | boolean,
): Promise<{ log: string; metrics: string }> {
  const { logger, lines } = recordingLogger();
  const telemetry = createTelemetry('worker', 'silent');
  const config = readConfig(ledgerSettings, { LEDGER_KEY: logKey, LEDGER_WITNESSES: witnesses });
  const sealer = createSealers(config, new Map([['first', db]]), { ...telemetry, logger }).get('first');
  const metrics = () => telemetry.registry.metrics();
  await sealer?.start();
  try {
    await until('the sealer has done it', async () => done(await metrics()), 300_000);
  } finally {
    await sealer?.stop();
  }
  return { log: lines.join('\n'), metrics: await metrics() };
}

/** Done once the newest checkpoint has so many leaves and a witness has cosigned it. */
export function cosignedAt(db: Database, size: number): () => Promise<boolean> {
  return async () => {
    const rows = await db.selectFrom('log_checkpoints').select(['size', 'cosigned_by']).execute();
    return rows.some((row) => Number(row.size) === size && row.cosigned_by.length > 0);
  };
}
