{{/* The environment of ingest. */}}
{{- define "runledger.ingest.env" -}}
- { name: PORT, value: '8080' }
{{- if include "runledger.podTls" . }}
- { name: HTTPS_PORT, value: '8443' }
- { name: TLS_CERT_FILE, value: /etc/runledger/tls/tls.crt }
- { name: TLS_KEY_FILE, value: /etc/runledger/tls/tls.key }
{{- end }}
- { name: OPS_PORT, value: '9090' }
- name: PUBLIC_URL
  value: {{ include "runledger.publicUrl" . | quote }}
- { name: TRUST_PROXY, value: '{{ include "runledger.trustProxy" . | default "false" }}' }
- { name: TOKENS_NAMESPACE, value: {{ include "runledger.tokens.namespace" . }} }
- name: TOKENS_LABEL_SELECTOR
  value: {{ .Values.tokens.labelSelector | quote }}
- { name: REQUIRE_DURABLE_REDIS, value: '{{ .Values.config.requireDurableRedis }}' }
{{- include "runledger.common.env" . }}
{{- end -}}

{{/* The environment that ingest and worker share. */}}
{{- define "runledger.common.env" -}}
{{- include "runledger.redis.env" . }}
- name: QUEUE_NAME
  value: {{ .Values.config.queueName | quote }}
- { name: LOG_LEVEL, value: {{ .Values.config.logLevel }} }
{{- include "runledger.caBundle.env" . }}
{{- end -}}
