{{/* Where KEDA finds Redis: it takes no URL. */}}
{{- define "runledger.keda.redis" -}}
{{- $keda := .Values.worker.keda -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled -}}
address: {{ include "runledger.redis.name" . }}.{{ .Release.Namespace }}.svc:6379
{{- else if $keda.redisAddress -}}
{{ $keda.redisCluster | ternary "addresses" "address" }}: {{ $keda.redisAddress | quote }}
enableTLS: '{{ $keda.redisTls }}'
{{- else -}}
address: {{ printf "%s:%v" $external.host $external.port | quote }}
enableTLS: '{{ $external.tls }}'
databaseIndex: '{{ $external.database }}'
{{- with $external.username }}
username: {{ . | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The Secret, and its keys by KEDA's parameter; nothing when the user's own authenticationRef applies. */}}
{{- define "runledger.keda.credentials" -}}
{{- $secret := .Values.externalRedis.credentialsSecret -}}
{{- if .Values.redis.enabled -}}
secret: {{ include "runledger.redis.secret" . }}
keys: { password: password }
{{- else if and (not .Values.worker.keda.redisAddress) $secret.name -}}
secret: {{ $secret.name }}
keys:
  password: {{ $secret.passwordKey }}
  {{- with $secret.usernameKey }}
  username: {{ . }}
  {{- end }}
{{- end -}}
{{- end -}}
