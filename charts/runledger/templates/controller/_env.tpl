{{/* The environment of the controller. */}}
{{- define "runledger.controller.env" -}}
- { name: OPS_PORT, value: '9090' }
{{- include "runledger.common.env" . }}
{{- include "runledger.postgresql.env" . }}
{{- include "runledger.redis.drained.env" . }}
{{- /* Notifications begin their links with it. Without a console it names this installation. */}}
- name: CONSOLE_PUBLIC_URL
  value: {{ include "runledger.publicUrl" (dict "root" . "component" (.Values.console.enabled | empty | ternary "ingest" "console")) | quote }}
- { name: RETENTION_DAYS, value: '{{ .Values.config.retentionDays }}' }
{{- if include "runledger.owners" . }}
{{- include "runledger.tokens.env" . }}
{{- include "runledger.console.oidc.env" . }}
{{- end }}
{{- include "runledger.acts.env" . }}
{{- with .Values.controller }}
{{- with .namespaces }}
- name: AUTOMATIONS_NAMESPACES
  value: {{ join "," . | quote }}
{{- end }}
{{- if .captureJobs.enabled }}
- { name: CAPTURE_JOBS, value: 'true' }
- { name: IDEMPOTENCY_HOURS, value: '{{ $.Values.config.idempotencyHours }}' }
{{- include "runledger.receipt.env" $ }}
{{- end }}
{{- with .alertmanagerUrls }}
- name: ALERTMANAGER_URLS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .mail }}
{{- if .existingSecret }}
- name: SMTP_URL
  valueFrom: { secretKeyRef: { name: {{ .existingSecret | toYaml }}, key: url } }
- name: SMTP_FROM
  value: {{ .from | quote }}
{{- end }}
{{- end }}
{{- if .channels.allowPrivate }}
- { name: CHANNEL_ALLOW_PRIVATE, value: 'true' }
{{- end }}
- { name: METRICS_AUTOMATIONS, value: '{{ int .metricsAutomations }}' }
{{- end }}
{{- end -}}
