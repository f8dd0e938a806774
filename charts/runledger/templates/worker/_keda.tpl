{{/* The shards of the queue for KEDA, as a list. KEDA accepts no URL. */}}
{{- define "runledger.keda.shards" -}}
{{- if .Values.redis.enabled -}}
{{- list (printf "%s.%s.svc:6379" (include "runledger.redis.name" .) .Release.Namespace) | toYaml -}}
{{- else if .Values.worker.keda.redisAddress -}}
{{- splitList " " .Values.worker.keda.redisAddress | compact | toYaml -}}
{{- else -}}
{{- include "runledger.redis.shards" . -}}
{{- end -}}
{{- end -}}

{{/*
The metadata of a trigger that leads to a shard.
Takes (dict "root" $ "shard" one of runledger.keda.shards).
*/}}
{{- define "runledger.keda.redis" -}}
{{- $keda := .root.Values.worker.keda -}}
{{- $external := .root.Values.externalRedis -}}
{{- if .root.Values.redis.enabled -}}
address: {{ .shard }}
{{- else if $keda.redisAddress -}}
{{ $keda.redisCluster | ternary "addresses" "address" }}: {{ .shard | quote }}
enableTLS: '{{ $keda.redisTls }}'
{{- if not $keda.redisCluster }}
databaseIndex: '{{ $external.database }}'
{{- end }}
{{- else if $external.sentinels -}}
addresses: {{ include "runledger.keda.addresses" (dict "root" .root "hosts" $external.sentinels) | quote }}
sentinelMaster: {{ .shard | quote }}
enableTLS: '{{ $external.tls }}'
databaseIndex: '{{ $external.database }}'
{{- with $external.username }}
username: {{ . | quote }}
{{- end }}
{{- else -}}
{{- $isCluster := contains "," .shard -}}
{{ $isCluster | ternary "addresses" "address" }}: {{ include "runledger.keda.addresses" (dict "root" .root "hosts" (splitList "," .shard)) | quote }}
enableTLS: '{{ $external.tls }}'
{{- if not $isCluster }}
databaseIndex: '{{ $external.database }}'
{{- end }}
{{- with $external.username }}
username: {{ . | quote }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
Addresses with commas between. KEDA resolves names in its own namespace: a short name needs the
release's. Takes (dict "root" $ "hosts" a list of host:port).
*/}}
{{- define "runledger.keda.addresses" -}}
{{- $addresses := list -}}
{{- range .hosts -}}
  {{- $host := splitList ":" . | first -}}
  {{- $port := splitList ":" . | rest | first | default "6379" -}}
  {{- $full := contains "." $host | ternary $host (printf "%s.%s.svc" $host $.root.Release.Namespace) -}}
  {{- $addresses = append $addresses (printf "%s:%s" $full $port) -}}
{{- end -}}
{{- join "," $addresses -}}
{{- end -}}

{{/*
The queues of all shards for KEDA, as a list of dict "shard" one of runledger.keda.shards and
"prefix" of BullMQ's keys. The hash tags are those of internal/queue/keys/hash-tags.ts.
*/}}
{{- define "runledger.keda.queues" -}}
{{- $tags := list "" "-1ad" "-2zk" "-3qc" "-4nu" "-5ny" "-6ti" "-7rk" "-8be" "-9vl" "-10kh" "-11wa" "-12cm" "-13ha" "-14fh" "-15vp" -}}
{{- $name := .Values.config.queueName -}}
{{- $queues := list -}}
{{- range $shard := include "runledger.keda.shards" . | fromYamlArray -}}
  {{- range $number := until (int ($.Values.config.queueShards | default 1)) -}}
    {{- $queue := empty $number | ternary $name (printf "%s+shard-%d" $name $number) -}}
    {{- $prefix := printf "{runledger%s}:%s" (index $tags $number) $queue -}}
    {{- $queues = append $queues (dict "shard" $shard "prefix" $prefix) -}}
  {{- end -}}
{{- end -}}
{{- $queues | toYaml -}}
{{- end -}}

{{/*
The number of pods that the lists of all shards need: the larger of waiting and delayed jobs.
Takes (dict "queues" … "lists" jobs for each pod, by list).
*/}}
{{- define "runledger.keda.formula" -}}
{{- $terms := list -}}
{{- range $part, $length := .lists -}}
  {{- $names := list -}}
  {{- range $index, $_ := $.queues -}}{{- $names = append $names (printf "%s_%d" $part $index) -}}{{- end -}}
  {{- $terms = append $terms (printf "(%s) / %v" (join " + " $names) $length) -}}
{{- end -}}
max({{ join ", " $terms }})
{{- end -}}

{{/* The type of such a trigger. Takes the same. */}}
{{- define "runledger.keda.type" -}}
{{- $keda := .root.Values.worker.keda -}}
{{- if $keda.redisAddress -}}{{ $keda.redisCluster | ternary "redis-cluster" "redis" }}
{{- else if .root.Values.externalRedis.sentinels -}}redis-sentinel
{{- else if contains "," .shard -}}redis-cluster
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
