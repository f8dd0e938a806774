{{/*
Environment that leads to Redis or Postgres. `passwords` are expanded inside the URL by the kubelet, so one
mechanism serves the bundled servers and the Secrets of operators. An entry must follow those it refers to.
*/}}
{{- define "runledger.redis.env" -}}
{{- $external := .Values.externalRedis -}}
{{- if .Values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "runledger.redis.secret" . }}, key: password } }
- name: REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "runledger.redis.name" . }}:6379/0
{{- else if $external.urlSecret.name }}
- name: REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ $external.urlSecret.name }}, key: {{ $external.urlSecret.key }} } }
{{- else if $external.urlFile }}
- name: REDIS_URL_FILE
  value: {{ $external.urlFile | quote }}
{{- else if $external.url }}
- name: REDIS_URL
  value: {{ $external.url | quote }}
{{- else }}
{{- include "runledger.credentials.env" (dict "variable" "REDIS" "external" $external) }}
- name: REDIS_URL
  value: {{ $external.tls | ternary "rediss" "redis" }}://{{ include "runledger.credentials.url" (dict "variable" "REDIS" "external" $external) }}{{ $external.host }}:{{ $external.port }}/{{ $external.database }}
{{- end }}
{{- end -}}

{{- define "runledger.postgresql.env" -}}
{{- $external := .Values.externalPostgresql -}}
{{- if .Values.postgresql.enabled }}
- name: DATABASE_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ include "runledger.postgresql.secret" . }}, key: password } }
- name: DATABASE_URL
  value: postgres://runledger:$(DATABASE_PASSWORD)@{{ include "runledger.postgresql.name" . }}:5432/runledger
{{- else if $external.urlSecret.name }}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ $external.urlSecret.name }}, key: {{ $external.urlSecret.key }} } }
{{- else if $external.urlFile }}
- name: DATABASE_URL_FILE
  value: {{ $external.urlFile | quote }}
{{- else if $external.url }}
- name: DATABASE_URL
  value: {{ $external.url | quote }}
{{- else }}
{{- include "runledger.credentials.env" (dict "variable" "DATABASE" "external" $external) }}
- name: DATABASE_URL
  value: postgres://{{ include "runledger.credentials.url" (dict "variable" "DATABASE" "external" $external) }}{{ $external.host }}:{{ $external.port }}/{{ $external.database }}{{ with $external.parameters }}?{{ . }}{{ end }}
{{- end }}
{{- end -}}

{{/* User name and password of an operator's Secret as environment. Takes (dict "variable" "REDIS" "external" …). */}}
{{- define "runledger.credentials.env" -}}
{{- $secret := .external.credentialsSecret -}}
{{- if $secret.name }}
{{- if $secret.usernameKey }}
- name: {{ .variable }}_USERNAME
  valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $secret.usernameKey }} } }
{{- end }}
- name: {{ .variable }}_PASSWORD
  valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $secret.passwordKey }} } }
{{- end }}
{{- end -}}

{{/* The part of a URL that refers to them. */}}
{{- define "runledger.credentials.url" -}}
{{- $secret := .external.credentialsSecret -}}
{{- $username := .external.username -}}
{{- if and $secret.name $secret.usernameKey -}}{{- $username = printf "$(%s_USERNAME)" .variable -}}{{- end -}}
{{- if $secret.name -}}
{{- printf "%s:$(%s_PASSWORD)@" $username .variable -}}
{{- else if $username -}}
{{- printf "%s@" $username -}}
{{- end -}}
{{- end -}}

{{- define "runledger.redis.secret" -}}
{{- .Values.redis.auth.existingSecret | default (include "runledger.redis.name" .) -}}
{{- end -}}

{{- define "runledger.postgresql.secret" -}}
{{- .Values.postgresql.auth.existingSecret | default (include "runledger.postgresql.name" .) -}}
{{- end -}}

{{/*
A secret value, base64: the given one, else the one already in the cluster, else a random one.
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

{{/* A memory quantity in bytes, for comparing; decimal and binary suffixes. */}}
{{- define "runledger.bytes" -}}
{{- $units := dict "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "k" 1000 "M" 1000000 "G" 1000000000 -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9]+" $text -}}
{{- $unit := trimPrefix $number $text -}}
{{- mul (int64 $number) (int64 (get $units $unit | default 1)) -}}
{{- end -}}
