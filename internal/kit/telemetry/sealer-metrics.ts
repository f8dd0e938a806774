import { Counter, Gauge, type Registry } from './metrics.ts';

/** What a sealer counts. Sealers of several databases share all but the logs that contradict. */
export type SealerMetrics = Omit<ReturnType<typeof sealerMetrics>, 'contradicted'> & {
  contradicted: { set(logs: number): void };
};

/** The metrics of the Merkle log. */
export function sealerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    sealed: new Counter({
      name: 'runledger_log_sealed_events_total',
      help: 'Events that got their place in the log of their organization, by this worker. One worker at a time seals.',
      registers,
    }),
    checkpoints: new Counter({
      name: 'runledger_log_checkpoints_total',
      help: 'Checkpoints of logs that this worker signed.',
      registers,
    }),
    refused: new Counter({
      name: 'runledger_log_refused_leaves_total',
      help: 'Leaves without a valid MAC, which get no place in a log: who wrote them lacks the key. The log names them.',
      registers,
    }),
    failures: new Counter({
      name: 'runledger_log_failures_total',
      help: 'Rounds of the sealer that failed, and logs that it refused to sign. The worker retries; the log has the reason.',
      registers,
    }),
    contradicted: new Gauge({
      name: 'runledger_log_contradicted_logs',
      help: 'Logs that contradict what was signed or cosigned before, when this worker last signed; they get no checkpoint.',
      registers,
    }),
    cosigned: new Counter({
      name: 'runledger_log_cosignatures_total',
      help: 'Checkpoints that a witness of LEDGER_WITNESSES has cosigned or keeps.',
      labelNames: ['witness'],
      registers,
    }),
    notCosigned: new Counter({
      name: 'runledger_log_witness_failures_total',
      help: 'Checkpoints that a witness did not cosign or keep, because it was unavailable or refused; retried after 30 s.',
      labelNames: ['witness'],
      registers,
    }),
  };
}
