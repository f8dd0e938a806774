import type { AlertCase } from './alert-case.ts';
import { growing, ofWorker, steady, waiting } from './healthy-world.ts';

const setAside = 'runledger_jobs_set_aside_total{namespace="rl",pod="w",reason="damaged"}';
const maintenanceFailures = ofWorker('maintenance_failures_total');

/** Cases of what a worker must not store, and of its maintenance. */
export const workerAlertCases: Record<string, AlertCase> = {
  RunledgerJobsSetAside: {
    firesAt: 120,
    fires: { [waiting.replace('waiting', 'failed')]: steady(1) },
    nearly: { [waiting.replace('waiting', 'delayed')]: steady(1), [setAside]: steady(3) },
    alsoFires: { 'a job of another queue': { [setAside]: `0x110 1x40` } },
  },
  RunledgerMaintenanceFailing: {
    fires: { [maintenanceFailures]: growing(8) },
    // One run every ten minutes, and each fails once.
    nearly: { [maintenanceFailures]: Array.from({ length: 15 }, (_, failures) => `${failures}x9`).join(' ') },
    alsoNearly: {
      'for twenty minutes': { [maintenanceFailures]: `0x92 12+12x19 240x40` },
      'Postgres is unavailable': { [maintenanceFailures]: growing(8), [ofWorker('store_retrying')]: steady(1) },
    },
  },
  RunledgerRetentionAsks: {
    fires: { [ofWorker('retention_asked_partitions')]: steady(5) },
    nearly: { [ofWorker('retention_asked_partitions')]: `0x90 5x3 0x60` },
  },
  RunledgerMoveStalled: {
    firesAt: 90,
    fires: { [ofWorker('move_under_way')]: steady(1) },
    nearly: { [ofWorker('move_under_way')]: `0x90 1x50 0x20` },
  },
  RunledgerWorkerClockWrong: {
    fires: { [ofWorker('worker_clock_ahead_seconds')]: steady(61) },
    nearly: { [ofWorker('worker_clock_ahead_seconds')]: steady(-59) },
    alsoFires: { 'a clock that is behind': { [ofWorker('worker_clock_ahead_seconds')]: steady(-61) } },
  },
};
