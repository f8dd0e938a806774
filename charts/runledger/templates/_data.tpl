{{/*
The environment with the address of Redis. User name and password have separate variables: in a URL
they could not hold every character.
*/}}
{{- define "runledger.redis.env" -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "runledger.redis.secret" . | toYaml }}, key: password } }
- name: REDIS_URL
  value: redis://{{ include "runledger.redis.name" . }}:6379/0
{{- else if $external.urlSecret.name }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ $external.urlSecret.name | toYaml }}, key: {{ $external.urlSecret.key | toYaml }} } }
{{- else if $external.urlFile }}
- name: REDIS_URL_FILE
  value: {{ $external.urlFile | quote }}
{{- else }}
{{- if and $external.username (not (and $external.credentialsSecret.name $external.credentialsSecret.usernameKey)) }}
- name: REDIS_USERNAME
  value: {{ $external.username | quote }}
{{- end }}
{{- include "runledger.credentials.env" (dict "username" "REDIS_USERNAME" "password" "REDIS_PASSWORD" "secret" $external.credentialsSecret) }}
- name: REDIS_URL
  value: {{ $external.url | default (include "runledger.redis.urls" (dict "external" $external "shards" (include "runledger.redis.shards" . | fromYamlArray))) | quote }}
{{- end }}
{{- with $external.sentinels }}
{{- include "runledger.credentials.env" (dict "username" "REDIS_SENTINEL_USERNAME" "password" "REDIS_SENTINEL_PASSWORD" "secret" $external.sentinelSecret) }}
- name: REDIS_SENTINELS
  value: {{ join "," . | quote }}
{{- end }}
{{- end -}}

{{/*
The external Redis of `host` or `shards`, as a list of host:port, or of several with commas between.
*/}}
{{- define "runledger.redis.shards" -}}
{{- $external := .Values.externalRedis -}}
{{- $port := empty $external.sentinels | ternary (printf ":%v" $external.port) "" -}}
{{- $external.shards | default (list (print $external.host $port)) | toYaml -}}
{{- end -}}

{{/*
Takes (dict "external" .Values.externalRedis "shards" a list as of runledger.redis.shards, or URLs).
*/}}
{{- define "runledger.redis.urls" -}}
{{- $urls := list -}}
{{- $scheme := .external.tls | ternary "rediss" "redis" -}}
{{- range .shards -}}
  {{- $nodes := replace "," (printf ",%s://" $scheme) . -}}
  {{- $database := contains "," . | ternary "" (printf "/%v" $.external.database) -}}
  {{- $url := printf "%s://%s%s" $scheme $nodes $database -}}
  {{- $urls = append $urls (contains "://" . | ternary . $url) -}}
{{- end -}}
{{- join " " $urls -}}
{{- end -}}

{{/* The environment with the former shards, for workers and controller. */}}
{{- define "runledger.redis.drained.env" -}}
{{- with .Values.externalRedis.drainedShards }}
- name: REDIS_DRAIN_URL
  value: {{ include "runledger.redis.urls" (dict "external" $.Values.externalRedis "shards" .) | quote }}
{{- end }}
{{- end -}}

{{/* The environment with the addresses of all Postgres. */}}
{{- define "runledger.postgresql.env" -}}
{{- if .Values.postgresql.enabled }}
{{- include "runledger.credentials.env" (dict "username" "PGUSER" "password" "PGPASSWORD" "secret" (dict "name" (include "runledger.postgresql.secret" .) "passwordKey" "password")) }}
- name: DATABASE_URL
  value: postgres://runledger@{{ include "runledger.postgresql.name" . }}:5432/runledger
{{- else }}
{{- include "runledger.database.env" (dict "variable" "DATABASE_URL" "external" .Values.externalPostgresql) }}
{{- end }}
{{- include "runledger.otherPostgresql.env" (dict "databases" .Values.otherPostgresql "variable" "DATABASE_URLS" "secret" "urlSecret") }}
{{- end -}}

{{/*
The environment with the addresses of further Postgres, as name=address. Each address is that of a
file, which holds the address of the Postgres.
Takes (dict "databases" .Values.otherPostgresql "variable" "DATABASE_URLS" "secret" "urlSecret").
*/}}
{{- define "runledger.otherPostgresql.env" -}}
{{- $urls := list -}}
{{- range $name, $database := .databases -}}
{{- $secret := get $database $.secret | default dict -}}
{{- if $secret.name -}}
{{- $place := dict "name" $secret.name "key" ($secret.key | default "uri") }}
- valueFrom: { secretKeyRef: {{ toJson $place }} }
{{- $mode := empty $database.sslMode | ternary "" (printf "?sslmode=%s" $database.sslMode) -}}
{{- $urls = append $urls (printf "%s=file://%s%s" $name (include "runledger.secrets.path" $place) $mode) -}}
{{- end -}}
{{- end -}}
{{- with $urls }}
- name: {{ $.variable }}
  value: {{ join " " . | quote }}
{{- end }}
{{- end -}}

{{/*
The environment with the address of the console's Postgres: console.database, else that of the
workers.
*/}}
{{- define "runledger.console.database.env" -}}
{{- if include "runledger.database.ways" .Values.console.database | fromYamlArray }}
{{- include "runledger.database.env" (dict "variable" "CONSOLE_DATABASE_URL" "external" .Values.console.database) }}
{{- include "runledger.otherPostgresql.env" (dict "databases" .Values.otherPostgresql "variable" "DATABASE_URLS" "secret" "urlSecret") }}
{{- else }}
{{- include "runledger.postgresql.env" . }}
{{- end }}
{{- include "runledger.otherPostgresql.env" (dict "databases" .Values.otherPostgresql "variable" "CONSOLE_DATABASE_URLS" "secret" "replicaUrlSecret") }}
{{- end -}}

{{/*
The environment with the address of an external Postgres. User name and password have the variables
of libpq: in a URL they could not hold every character.
Takes (dict "variable" "DATABASE_URL" "external" .Values.externalPostgresql).
*/}}
{{- define "runledger.database.env" -}}
{{- $external := .external -}}
{{- if $external.urlSecret.name }}
- name: {{ .variable }}
  valueFrom: { secretKeyRef: { name: {{ $external.urlSecret.name | toYaml }}, key: {{ $external.urlSecret.key | toYaml }} } }
{{- else if $external.urlFile }}
- name: {{ .variable }}_FILE
  value: {{ $external.urlFile | quote }}
{{- else if $external.url }}
- name: {{ .variable }}
  value: {{ $external.url | quote }}
{{- else }}
{{- if and $external.username (not (and $external.credentialsSecret.name $external.credentialsSecret.usernameKey)) }}
- name: PGUSER
  value: {{ $external.username | quote }}
{{- end }}
{{- include "runledger.credentials.env" (dict "username" "PGUSER" "password" "PGPASSWORD" "secret" $external.credentialsSecret) }}
- name: {{ .variable }}
  value: {{ printf "postgres://%s:%v/%s%s" $external.host $external.port $external.database ($external.parameters | empty | ternary "" (printf "?%s" $external.parameters)) | quote }}
{{- end }}
{{- with $external.sslMode }}
- name: PGSSLMODE
  value: {{ . }}
{{- end }}
{{- end -}}

{{/*
The values that set the address of an external server, as a list. Takes .Values.externalPostgresql.
*/}}
{{- define "runledger.database.ways" -}}
{{- $ways := list -}}
{{- if .url -}}{{- $ways = append $ways "url" -}}{{- end -}}
{{- if .urlFile -}}{{- $ways = append $ways "urlFile" -}}{{- end -}}
{{- if .urlSecret.name -}}{{- $ways = append $ways "urlSecret.name" -}}{{- end -}}
{{- if .host -}}{{- $ways = append $ways "host" -}}{{- end -}}
{{- if .shards -}}{{- $ways = append $ways "shards" -}}{{- end -}}
{{- toYaml $ways -}}
{{- end -}}

{{/*
The environment with user name and password from a Secret.
Takes (dict "username" variable "password" variable "secret" credentialsSecret).
*/}}
{{- define "runledger.credentials.env" -}}
{{- if .secret.name }}
{{- if .secret.usernameKey }}
- name: {{ .username }}
  valueFrom: { secretKeyRef: { name: {{ .secret.name | toYaml }}, key: {{ .secret.usernameKey | toYaml }} } }
{{- end }}
- name: {{ .password }}
  valueFrom: { secretKeyRef: { name: {{ .secret.name | toYaml }}, key: {{ .secret.passwordKey | toYaml }} } }
{{- end }}
{{- end -}}

{{- define "runledger.redis.secret" -}}
{{- .Values.redis.auth.existingSecret | default (include "runledger.redis.name" .) -}}
{{- end -}}

{{- define "runledger.postgresql.secret" -}}
{{- .Values.postgresql.auth.existingSecret | default (include "runledger.postgresql.name" .) -}}
{{- end -}}

{{/*
A secret value in base64: the one from the values, else the one in the cluster, else a random one.
Takes (dict "namespace" … "name" … "key" … "value" …).
*/}}
{{- define "runledger.kept" -}}
{{- $existing := lookup "v1" "Secret" .namespace .name -}}
{{- if .value -}}
{{- .value | b64enc -}}
{{- else -}}
{{- dig "data" .key "" ($existing | default dict) | default (randAlphaNum 40 | b64enc) -}}
{{- end -}}
{{- end -}}

{{/* A memory quantity in bytes. Accepts decimal and binary suffixes. */}}
{{- define "runledger.bytes" -}}
{{- $units := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "k" 1000 "M" 1000000 "G" 1000000000 -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9]+" $text -}}
{{- $unit := trimPrefix $number $text -}}
{{- mul (int64 $number) (int64 (get $units $unit | default 1)) -}}
{{- end -}}
