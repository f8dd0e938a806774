{{/* The environment of the worker. */}}
{{- define "runledger.worker.env" -}}
- { name: OPS_PORT, value: '9090' }
{{- include "runledger.common.env" . }}
{{- include "runledger.postgresql.env" . }}
{{- include "runledger.redis.drained.env" . }}
{{- include "runledger.durability.env" . }}
{{- with .Values.config.ledgerKeySecret }}
- name: LEDGER_KEY
  valueFrom: { secretKeyRef: { name: {{ . | toYaml }}, key: ledger-key } }
{{- end }}
{{- with .Values.config.ledgerWitnesses }}
- { name: LEDGER_WITNESSES, value: {{ join " " . | quote }} }
{{- end }}
- { name: RETENTION_DAYS, value: '{{ .Values.config.retentionDays }}' }
{{- include "runledger.hotDays.env" . }}
{{- include "runledger.archive.env" . }}
{{- if and (include "runledger.witness.s3" .) (not (include "runledger.archive.s3" .)) }}
{{- include "runledger.s3.env" . }}
{{- end }}
{{- end -}}

{{/* The environment of the migration. */}}
{{- define "runledger.migrate.env" -}}
- { name: LOG_LEVEL, value: {{ .Values.config.logLevel }} }
{{- include "runledger.postgresql.env" . }}
{{- include "runledger.caBundle.env" . }}
{{- end -}}
