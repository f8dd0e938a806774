import { metricsIn, type Registry } from '../kit/telemetry/metrics.ts';

/** What a sealer counts. Sealers of several databases share all but the contradicted logs. */
export type SealerMetrics = Omit<ReturnType<typeof sealerMetrics>, 'contradicted'> & {
  contradicted: { set(logs: number): void };
};

/** The metrics of the Merkle log. */
export function sealerMetrics(registry: Registry) {
  const { counter, gauge } = metricsIn(registry);
  return {
    sealed: counter(
      'runledger_log_sealed_events_total',
      'Events that this worker placed in the log of their organization. One worker at a time seals.',
    ),
    checkpoints: counter('runledger_log_checkpoints_total', 'Checkpoints of logs that this worker signed.'),
    refused: counter(
      'runledger_log_refused_leaves_total',
      "Leaves without a valid MAC, which get no place in a log: their writer lacks the key. The worker's log names them.",
    ),
    failures: counter(
      'runledger_log_failures_total',
      'Sealer rounds that failed, and logs that the sealer refused to sign. The worker retries; its log has the reason.',
    ),
    contradicted: gauge(
      'runledger_log_contradicted_logs',
      'Logs that contradicted an earlier signature or cosignature when this worker last signed; they get no checkpoint.',
    ),
    cosigned: counter(
      'runledger_log_cosignatures_total',
      'Checkpoints that a witness of LEDGER_WITNESSES has cosigned or stored.',
      ['witness'],
    ),
    notCosigned: counter(
      'runledger_log_witness_failures_total',
      'Checkpoints that a witness did not cosign or store, because it was unavailable or refused; retried after 30 s.',
      ['witness'],
    ),
  };
}
