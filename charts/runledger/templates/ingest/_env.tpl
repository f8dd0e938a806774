{{/* The environment of ingest. */}}
{{- define "runledger.ingest.env" -}}
{{- $ingest := dict "root" . "component" "ingest" }}
{{- include "runledger.servers.env" $ingest }}
- name: PUBLIC_URL
  value: {{ include "runledger.publicUrl" $ingest | quote }}
{{- include "runledger.tokens.env" . }}
{{- with .Values.config.idempotencyHours }}
- { name: IDEMPOTENCY_HOURS, value: '{{ . }}' }
{{- end }}
- { name: ORGANIZATION_RATE, value: '{{ int64 .Values.config.organizationRate }}' }
- { name: OVERFLOW_RATE, value: '{{ int64 .Values.config.overflowRate }}' }
{{- include "runledger.receipt.env" . }}
{{- include "runledger.common.env" . }}
{{- end -}}

{{/* The conditions of a 201, and whether a digest is made before it. */}}
{{- define "runledger.receipt.env" }}
{{- include "runledger.durability.env" . }}
{{- if .Values.config.ledgerKeySecret }}
- { name: LEDGER_DIGESTS, value: 'true' }
{{- end }}
{{- end -}}

{{/* What Redis must be before it holds an acknowledged event. */}}
{{- define "runledger.durability.env" }}
- { name: REQUIRE_DURABLE_REDIS, value: '{{ .Values.config.requireDurableRedis }}' }
{{- with .Values.config.redisAcks }}
- { name: REDIS_ACKS, value: '{{ int . }}' }
{{- end }}
{{- end -}}

{{/* The environment that ingest and worker share. */}}
{{- define "runledger.common.env" -}}
{{- include "runledger.redis.env" . }}
- name: QUEUE_NAME
  value: {{ .Values.config.queueName | quote }}
{{- if gt (int .Values.config.queueShards) 1 }}
- { name: QUEUE_SHARDS, value: '{{ int .Values.config.queueShards }}' }
{{- end }}
- { name: LOG_LEVEL, value: {{ .Values.config.logLevel }} }
{{- include "runledger.caBundle.env" . }}
{{- end -}}

{{/* The environment of a process that watches the organizations' Secrets. */}}
{{- define "runledger.tokens.env" }}
- { name: TOKENS_NAMESPACE, value: {{ include "runledger.tokens.namespace" . | quote }} }
- name: TOKENS_LABEL_SELECTOR
  value: {{ .Values.tokens.labelSelector | quote }}
{{- end -}}
