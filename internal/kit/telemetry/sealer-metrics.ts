import { Counter, Gauge, type Registry } from './metrics.ts';

/** What a sealer counts. Sealers of several databases share all but the contradicted logs. */
export type SealerMetrics = Omit<ReturnType<typeof sealerMetrics>, 'contradicted'> & {
  contradicted: { set(logs: number): void };
};

/** The metrics of the Merkle log. */
export function sealerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    sealed: new Counter({
      name: 'runledger_log_sealed_events_total',
      help: 'Events that this worker placed in the log of their organization. One worker at a time seals.',
      registers,
    }),
    checkpoints: new Counter({
      name: 'runledger_log_checkpoints_total',
      help: 'Checkpoints of logs that this worker signed.',
      registers,
    }),
    refused: new Counter({
      name: 'runledger_log_refused_leaves_total',
      help: "Leaves without a valid MAC, which get no place in a log: their writer lacks the key. The worker's log names them.",
      registers,
    }),
    failures: new Counter({
      name: 'runledger_log_failures_total',
      help: 'Sealer rounds that failed, and logs that the sealer refused to sign. The worker retries; its log has the reason.',
      registers,
    }),
    contradicted: new Gauge({
      name: 'runledger_log_contradicted_logs',
      help: 'Logs that contradicted an earlier signature or cosignature when this worker last signed; they get no checkpoint.',
      registers,
    }),
    cosigned: new Counter({
      name: 'runledger_log_cosignatures_total',
      help: 'Checkpoints that a witness of LEDGER_WITNESSES has cosigned or stored.',
      labelNames: ['witness'],
      registers,
    }),
    notCosigned: new Counter({
      name: 'runledger_log_witness_failures_total',
      help: 'Checkpoints that a witness did not cosign or store, because it was unavailable or refused; retried after 30 s.',
      labelNames: ['witness'],
      registers,
    }),
  };
}
