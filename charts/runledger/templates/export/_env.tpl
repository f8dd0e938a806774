{{/* The environment of the export. */}}
{{- define "runledger.export.env" -}}
{{- include "runledger.postgresql.env" . }}
{{- include "runledger.caBundle.env" . }}
- { name: RETENTION_DAYS, value: '{{ .Values.config.retentionDays }}' }
{{- include "runledger.hotDays.env" . }}
{{- with .Values.config.ledgerKeySecret }}
- name: LEDGER_MAC_KEY
  valueFrom: { secretKeyRef: { name: {{ . | toYaml }}, key: ledger-mac-key } }
{{- end }}
{{- include "runledger.archive.env" . }}
{{- end -}}

{{/* How long events stay in Postgres. */}}
{{- define "runledger.hotDays.env" -}}
{{- with int .Values.config.hotDays }}
- { name: HOT_DAYS, value: '{{ . }}' }
{{- end }}
{{- end -}}

{{/* The environment with the archive: of the export, workers, and a console with hot days. */}}
{{- define "runledger.archive.env" -}}
{{- if .Values.archive.url }}
{{- with .Values.archive }}
- name: ARCHIVE_URL
  value: {{ .url | quote }}
{{- end }}
{{- if include "runledger.archive.s3" . }}
{{- include "runledger.s3.env" . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The environment in which the SDK of AWS finds S3. */}}
{{- define "runledger.s3.env" -}}
{{- with .Values.archive }}
- name: AWS_REGION
  value: {{ .region | quote }}
{{- with .endpoint }}
- name: AWS_ENDPOINT_URL_S3
  value: {{ . | quote }}
{{- end }}
{{- with .credentialsSecret }}
{{- include "runledger.credentials.env" (dict "username" "AWS_ACCESS_KEY_ID" "password" "AWS_SECRET_ACCESS_KEY" "secret" (dict "name" .name "usernameKey" .accessKeyIdKey "passwordKey" .secretAccessKeyKey)) }}
{{- end }}
{{- end }}
{{- end -}}
