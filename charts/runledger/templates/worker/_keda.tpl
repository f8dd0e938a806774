{{/* The metadata of a trigger that leads to Redis. KEDA accepts no URL. */}}
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
{{- else if $external.sentinels -}}
addresses: {{ join "," $external.sentinels | quote }}
sentinelMaster: {{ $external.host | quote }}
enableTLS: '{{ $external.tls }}'
databaseIndex: '{{ $external.database }}'
{{- with $external.username }}
username: {{ . | quote }}
{{- end }}
{{- else -}}
{{- /* KEDA resolves names in its own namespace: a short name needs the release's. */}}
{{- $host := contains "." $external.host | ternary $external.host (printf "%s.%s.svc" $external.host .Release.Namespace) }}
address: {{ printf "%s:%v" $host $external.port | quote }}
enableTLS: '{{ $external.tls }}'
databaseIndex: '{{ $external.database }}'
{{- with $external.username }}
username: {{ . | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The type of such a trigger. */}}
{{- define "runledger.keda.type" -}}
{{- $keda := .Values.worker.keda -}}
{{- if $keda.redisCluster -}}redis-cluster
{{- else if and .Values.externalRedis.sentinels (not $keda.redisAddress) -}}redis-sentinel
{{- else -}}redis
{{- end -}}
{{- end -}}

{{/*
The spec of the TriggerAuthentication: user name and password of Redis, and caBundle where Redis
uses TLS. Nothing when authenticationRef names the user's own. `enableTLS` is in the trigger's
metadata: KEDA rejects its parameter `tls` beside it.
*/}}
{{- define "runledger.keda.authentication" -}}
{{- $keda := .Values.worker.keda -}}
{{- $external := .Values.externalRedis -}}
{{- $credentials := $external.credentialsSecret -}}
{{- $secrets := list -}}
{{- $configMaps := list -}}
{{- if .Values.redis.enabled -}}
  {{- $secrets = append $secrets (dict "parameter" "password" "name" (include "runledger.redis.secret" .) "key" "password") -}}
{{- else -}}
  {{- if and (not $keda.redisAddress) $credentials.name -}}
    {{- $secrets = append $secrets (dict "parameter" "password" "name" $credentials.name "key" $credentials.passwordKey) -}}
    {{- with $credentials.usernameKey -}}
      {{- $secrets = append $secrets (dict "parameter" "username" "name" $credentials.name "key" .) -}}
    {{- end -}}
  {{- end -}}
  {{- with $external.sentinelSecret -}}
    {{- if and .name (not $keda.redisAddress) -}}
      {{- $secrets = append $secrets (dict "parameter" "sentinelPassword" "name" .name "key" .passwordKey) -}}
      {{- if .usernameKey -}}
        {{- $secrets = append $secrets (dict "parameter" "sentinelUsername" "name" .name "key" .usernameKey) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
  {{- if empty $keda.redisAddress | ternary $external.tls $keda.redisTls -}}
    {{- with .Values.caBundle -}}
      {{- if .secret -}}{{- $secrets = append $secrets (dict "parameter" "ca" "name" .secret "key" .key) -}}{{- end -}}
      {{- if .configMap -}}{{- $configMaps = append $configMaps (dict "parameter" "ca" "name" .configMap "key" .key) -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $spec := dict -}}
{{- with $secrets -}}{{- $_ := set $spec "secretTargetRef" . -}}{{- end -}}
{{- with $configMaps -}}{{- $_ := set $spec "configMapTargetRef" . -}}{{- end -}}
{{- if and $spec (not $keda.authenticationRef) -}}{{- toYaml $spec -}}{{- end -}}
{{- end -}}
