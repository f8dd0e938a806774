{{/* The environment of the console. */}}
{{- define "runledger.console.env" -}}
{{- $console := dict "root" . "component" "console" }}
{{- include "runledger.servers.env" $console }}
- name: CONSOLE_PUBLIC_URL
  value: {{ include "runledger.publicUrl" $console | quote }}
{{- include "runledger.tokens.env" . }}
{{- include "runledger.console.database.env" . }}
- { name: LOG_LEVEL, value: {{ .Values.config.logLevel }} }
{{- include "runledger.caBundle.env" . }}
{{- end -}}
