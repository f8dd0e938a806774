import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Held, Transition } from '../../../internal/expectation/transition.ts';
import { Outbox } from '../../../internal/controller/notify/outbox.ts';
import { ChannelSender, type ChannelSenderOptions } from '../../../internal/controller/notify/channel-sender.ts';
import type { DeliveriesTable } from '../../../internal/store/tables/deliveries-table.ts';
import { createRegistry, type Registry } from '../../../internal/kit/telemetry/metrics.ts';
import { notifyMetrics } from '../../../internal/controller/notify/notify-metrics.ts';
import { recordingLogger } from '../recording-logger.ts';
import { eachDatabase, type TestDatabase } from '../store.ts';
import { until } from '../until.ts';
import { transition } from './expectations.ts';
import { startReceiver, type Receiver } from './receiver.ts';

type Delivery = Selectable<DeliveriesTable>;

export interface SuiteChannels {
  readonly database: Pick<TestDatabase, 'db'>;
  /** Accepts everything unless a test says otherwise. */
  readonly receiver: Receiver;
  readonly secret: string;
  readonly registry: Registry;
  /** Starts a process that sends the outbox; it ends with the test. */
  start: (given?: Partial<ChannelSenderOptions>) => Promise<ChannelSender>;
  /** Puts the notifications of a tick into the outbox. */
  tick: (transitions: Transition[], watermark?: number, held?: Held) => Promise<void>;
  deliveries: () => Promise<Delivery[]>;
  allDelivered: (count: number) => Promise<Delivery[]>;
  /** Makes a delivery that cannot succeed. Resolves with the error that the history shows. */
  failureOf: (given: Partial<ChannelSenderOptions>) => Promise<string>;
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A receiver and an empty outbox for each test of the suite it is called in. */
export function suiteChannels(): SuiteChannels {
  const database = eachDatabase();
  const secret = newSecret();
  const registry = createRegistry('controller');
  const metrics = notifyMetrics(registry);
  const outbox = new Outbox(new URL('https://console.example/runledger/'));
  const senders: ChannelSender[] = [];
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.stop()));
    await receiver[Symbol.asyncDispose]();
  });
  const deliveries = (): Promise<Delivery[]> =>
    database.db.selectFrom('deliveries').selectAll().orderBy('sequence').execute();
  const suite: SuiteChannels = {
    database,
    get receiver() {
      return receiver;
    },
    secret,
    registry,
    start: async (given = {}) => {
      const sender = new ChannelSender({
        db: database.db,
        secretsOf: () => [secret],
        allowPrivate: true,
        mailServer: undefined,
        metrics,
        logger: recordingLogger().logger,
        ca: receiver.ca,
        ...given,
        // An attempt that takes too long is repeated, as it may on a busy machine.
        timings: { intervalMs: 20, timeoutMs: 60_000, firstPauseMs: 20, ...given.timings },
      });
      senders.push(sender);
      await sender.start();
      return sender;
    },
    tick: (transitions, watermark = Date.now(), held) =>
      database.db.transaction().execute(async (trx) => {
        await outbox.enqueueAlerts(trx, transitions);
        await outbox.enqueueExecutions(trx, watermark, held);
      }),
    deliveries,
    allDelivered: (count) =>
      until(
        'all deliveries have arrived',
        async () => {
          const rows = await deliveries();
          return rows.length === count && rows.every((row) => row.delivered_at !== null) && rows;
        },
        30_000,
      ),
    failureOf: async (given) => {
      await suite.tick([transition('opened')]);
      await suite.start({ ...given, timings: { firstPauseMs: 60_000, ...given.timings } });
      return until('the attempt has failed', async () => (await deliveries())[0]?.last_error ?? undefined);
    },
  };
  return suite;
}
