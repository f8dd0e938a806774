{{/* Where KEDA finds Redis: it takes no URL. */}}
{{- define "runledger.keda.redis" -}}
{{- $keda := .Values.worker.keda -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled -}}
address: {{ include "runledger.redis.name" . }}.{{ .Release.Namespace }}.svc:6379
{{- else if $keda.redisAddress -}}
{{ $keda.redisCluster | ternary "addresses" "address" }}: {{ $keda.redisAddress | quote }}
enableTLS: '{{ $keda.redisTls }}'
{{- if not $keda.redisCluster }}
databaseIndex: '{{ $external.database }}'
{{- end }}
{{- else -}}
{{- /* KEDA looks from its own namespace, where a short name means something else. */}}
{{- $host := contains "." $external.host | ternary $external.host (printf "%s.%s.svc" $external.host .Release.Namespace) }}
address: {{ printf "%s:%v" $host $external.port | quote }}
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
{{- if .Values.worker.keda.authenticationRef -}}
{{- else if .Values.redis.enabled -}}
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
