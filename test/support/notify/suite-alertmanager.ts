import type { Selectable } from 'kysely';
import type { Blindness, Transition } from '../../../internal/expectation/transition.ts';
import { AlertSender } from '../../../internal/controller/notify/alert-sender.ts';
import type { AlertTimings } from '../../../internal/controller/notify/alert-teller.ts';
import type { AlertNoticesTable } from '../../../internal/store/tables/alerts-table.ts';
import type { Database } from '../../../internal/store/database.ts';
import { createRegistry } from '../../../internal/kit/telemetry/metrics.ts';
import { notifyMetrics } from '../../../internal/controller/notify/notify-metrics.ts';
import { recordingLogger } from '../recording-logger.ts';
import { eachDatabase, type TestDatabase } from '../store.ts';
import { until } from '../until.ts';
import { AlertmanagerServer, type ShownAlert } from './alertmanager-server.ts';
import { transition } from './expectations.ts';
import { startPlainReceiver, type Receiver } from './receiver.ts';

/** Longest wait for an Alertmanager, in ms. */
export const patience = 30_000;

/** What Alertmanager sends to its receivers. */
interface Notification {
  status: 'firing' | 'resolved';
  groupLabels: Record<string, string>;
  alerts: { status: string; labels: Record<string, string> }[];
}

interface Given {
  urls?: string[];
  db?: Database;
  timings?: Partial<AlertTimings>;
  blind?: Blindness;
}

export interface SuiteAlertmanager {
  readonly database: Pick<TestDatabase, 'db'>;
  readonly alertmanager: AlertmanagerServer;
  /** The receiver of the Alertmanager. */
  readonly people: Pick<Receiver, 'url' | 'received'>;
  /** Starts a process that tells, which ends with the test. */
  start: (given?: Given) => Promise<AlertSender>;
  /** Ends all of them. */
  stopAll: () => Promise<void>;
  shown: (name: string, server?: AlertmanagerServer) => Promise<ShownAlert>;
  /** What people hear. */
  notified: (what: string, is: (notification: Notification) => boolean) => Promise<Notification>;
  noticesOf: (change: Transition) => Promise<Selectable<AlertNoticesTable>[]>;
}

/** The end of an alert. */
export function resolved({ alert }: Transition): Transition {
  const end = { resolvedAt: Date.now(), resolvedReason: 'It started at 03:30.' };
  return { ...transition('resolved'), alert: { ...alert, ...end } };
}

/** A real Alertmanager and an empty database for each test of the suite it is called in. */
export function suiteAlertmanager(): SuiteAlertmanager {
  const database = eachDatabase();
  let people: Awaited<ReturnType<typeof startPlainReceiver>>;
  let alertmanager: AlertmanagerServer;
  const senders: AlertSender[] = [];
  const stopAll = async (): Promise<void> => {
    await Promise.all(senders.splice(0).map((sender) => sender.stop()));
  };
  beforeEach(async () => {
    people = await startPlainReceiver();
    alertmanager = await AlertmanagerServer.start(people.url);
  });
  afterEach(async () => {
    await stopAll();
    await alertmanager.stop();
    await people[Symbol.asyncDispose]();
  });
  return {
    database,
    get alertmanager() {
      return alertmanager;
    },
    get people() {
      return people;
    },
    stopAll,
    start: async ({ urls = [alertmanager.url], db = database.db, timings = {}, blind } = {}) => {
      const sender = new AlertSender({
        db,
        urls: urls.map((url) => new URL(url)),
        consoleUrl: new URL('https://console.example'),
        metrics: notifyMetrics(createRegistry('controller')),
        logger: recordingLogger().logger,
        timings: { repeatMs: 300, checkMs: 20, ...timings },
      });
      senders.push(sender);
      await sender.start();
      sender.announce(blind, true);
      return sender;
    },
    shown: (name, server = alertmanager) =>
      until(
        `${name} is shown`,
        async () => (await server.alerts()).find(({ labels }) => labels['alertname'] === name),
        patience,
      ),
    notified: (what, is) =>
      until(what, () => people.received.map(({ body }) => JSON.parse(body) as Notification).find(is), patience),
    noticesOf: ({ alert }) =>
      database.db.selectFrom('alert_notices').selectAll().where('alert_id', '=', alert.id).execute(),
  };
}
