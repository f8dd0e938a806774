import { ConfigError, type Config } from '../../internal/config/read.ts';
import { emptyCheckpoint, isSignedByAll } from '../../internal/ledger/checkpoint.ts';
import { readSigningKeys, type SigningKey } from '../../internal/ledger/keys.ts';
import { macKeyOf, type MacKey } from '../../internal/ledger/mac.ts';
import { SignedHeads } from '../../internal/ledger/memory.ts';
import { HeadSigner } from '../../internal/ledger/signer.ts';
import { addCosignature, listUncosigned } from '../../internal/store/ledger/cosigned-logs.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLogs, retryRefused } from '../../internal/store/ledger/extend-logs.ts';
import { signLogs, type LastSigned } from '../../internal/store/ledger/sign-logs.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { sealerMetrics, type SealerMetrics } from '../../internal/kit/telemetry/sealer-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { WitnessRefusal } from '../../internal/ledger/witness/refusal.ts';
import { Witnesses } from '../../internal/ledger/witness/witnesses.ts';
import { sealerLimits } from '../../internal/worker/seal-schedule.ts';
import { Sealer } from '../../internal/worker/sealer.ts';
import { bucketWitnesses, folderMemories, httpWitnesses, publicKeysOf, quorumOf } from './witnesses.ts';

/**
 * Time between two looks for a log that a key has not signed, in ms. While workers with another key
 * still run, they sign too.
 */
const lookAtKeysMs = 10 * 60 * 1_000;

export const ledgerSettings = ['LEDGER_KEY', 'LEDGER_WITNESSES'] as const;
export type LogConfig = Config<(typeof ledgerSettings)[number]>;

/** The keys of LEDGER_KEY; none while the log is off. @throws {ConfigError} */
export function logKeys(config: Config<'LEDGER_KEY'>): SigningKey[] {
  try {
    return readSigningKeys(config.LEDGER_KEY ?? '');
  } catch (error) {
    throw new ConfigError(`LEDGER_KEY: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The key of the MACs that a worker makes: that of the first key. Undefined without a log. */
export function workerMacKey(config: Config<'LEDGER_KEY'>): MacKey | undefined {
  return logKeys(config).map(macKeyOf)[0];
}

/**
 * Wires a sealer for each database of a worker, by name: each seals the logs of the organizations
 * that are there. None while the log is off. @throws {ConfigError}
 */
export function createSealers(
  config: LogConfig,
  databases: ReadonlyMap<string, Database>,
  { registry, logger }: Pick<Telemetry, 'registry' | 'logger'>,
): ReadonlyMap<string, Sealer> {
  if (logKeys(config).length === 0) return new Map();
  const metrics = sealerMetrics(registry);
  const contradicted = new Map<string, number>();
  const metricsOf = (name: string): SealerMetrics => ({
    ...metrics,
    contradicted: {
      set: (logs) => metrics.contradicted.set([...contradicted.set(name, logs).values()].reduce((a, b) => a + b)),
    },
  });
  return new Map(
    Array.from(databases, ([name, db]) => [
      name,
      createSealer(config, db, metricsOf(name), databases.size > 1 ? logger.child({ database: name }) : logger),
    ]),
  );
}

function createSealer(config: LogConfig, db: Database, metrics: SealerMetrics, logger: Logger): Sealer {
  const keys = logKeys(config);
  const [publicKeys, macKeys] = [publicKeysOf(keys), keys.map(macKeyOf)];
  const onAway = (witness: string, error: unknown, organization?: string): void => {
    metrics.notCosigned.inc({ witness });
    if (error instanceof WitnessRefusal) {
      logger.error(
        { error, witness, organization },
        'a witness has another state of the log, which gets no checkpoint',
      );
    } else logger.warn({ error, witness, organization }, 'a checkpoint was not cosigned, retrying later');
  };
  const buckets = bucketWitnesses(config, keys, onAway);
  const others = httpWitnesses(config);
  const quorum = quorumOf(config, [...others, ...buckets]);
  const witnesses = new Witnesses(
    {
      listUncosigned: (names, organization) => listUncosigned(db, names, organization),
      addCosignature: (log, witness, line) => addCosignature(db, log, witness, line, quorum),
    },
    [...others, ...buckets],
    ({ witness, organization, error }) =>
      error === undefined ? metrics.cosigned.inc({ witness }) : onAway(witness, error, organization),
  );
  const memories = [new SignedHeads(), ...folderMemories(config, keys), ...buckets];
  const signer = new HeadSigner(keys, memories, (organization) => witnesses.refusalOf(organization));
  const before = async (logs: readonly LastSigned[]): Promise<void> => {
    await Promise.all(buckets.map((bucket) => bucket.refresh(logs.map(({ organization }) => organization))));
    // A witness answers for an empty log too: with the size that it has, if it has any.
    const asked = logs.map(({ note, ...log }) => ({ ...log, note: note ?? emptyCheckpoint(log.organization, keys) }));
    await witnesses.ask(
      others.map(({ name }) => name),
      asked,
    );
  };
  const isSigned = (organization: string, note: string): boolean => isSignedByAll(note, organization, publicKeys);
  let lookedAt = -Infinity;
  const store = {
    extendLogs: (mostLeaves: number) => extendLogs(db, macKeys, mostLeaves),
    signLogs: async () => {
      const now = performance.now();
      const looks = now - lookedAt >= lookAtKeysMs;
      const options = { before, isSigned: looks ? isSigned : undefined, publishes: quorum.least === 0 };
      const report = await signLogs(db, (log) => signer.sign(log), options);
      if (looks && report !== undefined) lookedAt = now;
      return report;
    },
    cosign: async () => {
      await witnesses.cosign();
      return witnesses.refused;
    },
    retryRefused: () => retryRefused(db),
    close: async () => void (await Promise.all(buckets.map((bucket) => bucket.close()))),
  };
  return new Sealer(store, sealerLimits, metrics, logger);
}
