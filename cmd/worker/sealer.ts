import { ConfigError, type Config } from '../../internal/config/read.ts';
import { emptyCheckpoint, isSignedByAll } from '../../internal/ledger/checkpoint.ts';
import { readSigningKeys, type SigningKey } from '../../internal/ledger/keys.ts';
import { macKeyOf, type MacKey } from '../../internal/ledger/mac.ts';
import { HeadSigner, SignedHeads } from '../../internal/ledger/signer.ts';
import { addCosignature, listUncosigned } from '../../internal/store/ledger/cosignatures.ts';
import { readClock } from '../../internal/store/clock.ts';
import type { Database } from '../../internal/store/database.ts';
import { extendLedgers, retryRefused } from '../../internal/store/ledger/extend-ledgers.ts';
import { signLedgers, type LastSigned } from '../../internal/store/ledger/sign-ledgers.ts';
import type { Logger } from '../../internal/kit/telemetry/logger.ts';
import { sealerMetrics, type SealerMetrics } from '../../internal/worker/sealer-metrics.ts';
import type { Telemetry } from '../../internal/kit/telemetry/telemetry.ts';
import { WitnessRefusal } from '../../internal/ledger/witness/refusal.ts';
import { Witnesses } from '../../internal/ledger/witness/witnesses.ts';
import { sealerLimits } from '../../internal/worker/seal-schedule.ts';
import { Sealer } from '../../internal/worker/sealer.ts';
import { bucketWitnesses, folderMemories, httpWitnesses, publicKeysOf, quorumOf } from './witnesses.ts';
import { messageOf } from '../../internal/kit/errors/message-of.ts';

/**
 * Interval of checks for a log that a key has not signed, in ms. Workers with another key, while
 * they still run, sign too.
 */
const lookAtKeysMs = 10 * 60 * 1_000;

export const ledgerSettings = ['LEDGER_KEY', 'LEDGER_WITNESSES'] as const;
export type LedgerConfig = Config<(typeof ledgerSettings)[number]>;

/** The keys of LEDGER_KEY; none while the log is off. @throws {ConfigError} */
export function ledgerKeys(config: Config<'LEDGER_KEY'>): SigningKey[] {
  try {
    return readSigningKeys(config.LEDGER_KEY ?? '');
  } catch (error) {
    throw new ConfigError(`LEDGER_KEY: ${messageOf(error)}`, { cause: error });
  }
}

/** The keys of MACs; a worker makes them with the first. Empty without a log. */
export function workerMacKeys(config: Config<'LEDGER_KEY'>): MacKey[] {
  return ledgerKeys(config).map(macKeyOf);
}

/**
 * Wires a sealer for each database of a worker, by name. Each seals the logs of the organizations
 * there. None while the log is off. @throws {ConfigError}
 */
export function createSealers(
  config: LedgerConfig,
  databases: ReadonlyMap<string, Database>,
  { registry, logger }: Pick<Telemetry, 'registry' | 'logger'>,
): ReadonlyMap<string, Sealer> {
  if (ledgerKeys(config).length === 0) return new Map();
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

function createSealer(config: LedgerConfig, db: Database, metrics: SealerMetrics, logger: Logger): Sealer {
  const keys = ledgerKeys(config);
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
  const buckets = bucketWitnesses(config, keys, async () => (await readClock(db)).now, onAway);
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
    // A witness also answers for an empty log: with the size that it has, if any.
    const asked = logs.map(({ note, ...log }) => ({ ...log, note: note ?? emptyCheckpoint(log.organization, keys) }));
    await witnesses.ask(
      others.map(({ name }) => name),
      asked,
    );
  };
  const isSigned = (organization: string, note: string): boolean => isSignedByAll(note, organization, publicKeys);
  let lookedAt = -Infinity;
  const store = {
    extendLedgers: (mostLeaves: number) => extendLedgers(db, macKeys, mostLeaves),
    signLedgers: async () => {
      const now = performance.now();
      const looks = now - lookedAt >= lookAtKeysMs;
      const options = { before, isSigned: looks ? isSigned : undefined, publishes: quorum.least === 0 };
      const report = await signLedgers(db, macKeys, (log) => signer.sign(log), options);
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
