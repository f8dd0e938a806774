{{/* Fails for values that cannot work. Each message says which value to change. */}}
{{- define "runledger.validate" -}}
{{- include "runledger.validate.wayIn" . -}}
{{- include "runledger.validate.data" (dict "bundled" .Values.redis.enabled "external" .Values.externalRedis "name" "Redis" "key" "redis" "externalKey" "externalRedis") -}}
{{- include "runledger.validate.data" (dict "bundled" .Values.postgresql.enabled "external" .Values.externalPostgresql "name" "Postgres" "key" "postgresql" "externalKey" "externalPostgresql") -}}
{{- include "runledger.validate.scaling" . -}}
{{- include "runledger.validate.pods" . -}}
{{- end -}}

{{- define "runledger.validate.wayIn" -}}
{{- $wayIn := or .Values.ingress.enabled .Values.gateway.enabled -}}
{{- if not (or .Values.service.enabled .Values.service.existingName) -}}
  {{- if $wayIn -}}
    {{- fail "The ingress or gateway needs a Service: set service.enabled=true, or name your own in service.existingName." -}}
  {{- else -}}
    {{- fail "No Service, Ingress or Gateway leads to ingest: set service.enabled=true, ingress.enabled=true or gateway.enabled=true." -}}
  {{- end -}}
{{- end -}}
{{- if and (not $wayIn) (not (include "runledger.podTls" .)) (not (include "runledger.trustProxy" .)) -}}
  {{- fail "Nothing ends TLS, so every request would get a 301: set ingest.tls.mode=auto, enable ingress or gateway, or set ingest.trustProxy=always if a proxy of your own ends TLS." -}}
{{- end -}}
{{- /* A Service of the user may lead the proxy to the pod's HTTPS port. */ -}}
{{- if and $wayIn (not (include "runledger.trustProxy" .)) (not (and (include "runledger.podTls" .) .Values.service.existingName)) -}}
  {{- fail "ingest.trustProxy=never with ingress or gateway would redirect every request forever, since they talk plain HTTP to the pod: set ingest.trustProxy=auto." -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
  {{- fail "ingress.enabled=true needs a host: set ingress.hosts[0]." -}}
{{- end -}}
{{- if and (not $wayIn) (not (include "runledger.podTls" .)) (not .Values.publicUrl) -}}
  {{- fail "A proxy of your own ends TLS, and redirects must lead to it: set publicUrl to its https:// address." -}}
{{- end -}}
{{- with .Values.gateway -}}
{{- if .enabled -}}
  {{- if not .hostnames -}}
    {{- fail "gateway.enabled=true needs a host: set gateway.hostnames[0]." -}}
  {{- end -}}
  {{- if and (not .create.enabled) (not .parentRef.name) -}}
    {{- fail "gateway.enabled=true needs a Gateway: name it in gateway.parentRef.name, or set gateway.create.enabled=true." -}}
  {{- end -}}
  {{- if and .create.enabled (not .create.className) -}}
    {{- fail "gateway.create.enabled=true needs a GatewayClass: set gateway.create.className." -}}
  {{- end -}}
  {{- if and .create.enabled (gt (len .hostnames) 1) -}}
    {{- fail "gateway.create creates one HTTPS listener, for one host: keep one in gateway.hostnames, or create the Gateway yourself and name it in gateway.parentRef." -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- if contains "*" (include "runledger.publicUrl" .) -}}
  {{- fail "The first host is a wildcard, and redirects need a name: set publicUrl to the https:// address that callers use." -}}
{{- end -}}
{{- end -}}

{{/* Redis and Postgres must be bundled, or external with one address. */}}
{{- define "runledger.validate.data" -}}
{{- $ways := list -}}
{{- if .external.url -}}{{- $ways = append $ways (printf "%s.url" .externalKey) -}}{{- end -}}
{{- if .external.urlFile -}}{{- $ways = append $ways (printf "%s.urlFile" .externalKey) -}}{{- end -}}
{{- if .external.urlSecret.name -}}{{- $ways = append $ways (printf "%s.urlSecret.name" .externalKey) -}}{{- end -}}
{{- if .external.host -}}{{- $ways = append $ways (printf "%s.host" .externalKey) -}}{{- end -}}
{{- if and .bundled $ways -}}
  {{- fail (printf "%s is both bundled and external (%s): set %s.enabled=false, or leave %s empty." .name (join ", " $ways) .key .externalKey) -}}
{{- end -}}
{{- if and (not .bundled) (not $ways) -}}
  {{- fail (printf "%s is neither bundled nor external: set %s.enabled=true, or name a Secret that holds its URL in %s.urlSecret.name." .name .key .externalKey) -}}
{{- end -}}
{{- if gt (len $ways) 1 -}}
  {{- fail (printf "The address of %s is set in several ways (%s): keep one." .name (join ", " $ways)) -}}
{{- end -}}
{{- end -}}

{{- define "runledger.validate.scaling" -}}
{{- $keda := .Values.worker.keda -}}
{{- range $process, $values := pick .Values "ingest" "worker" -}}
  {{- /* 2 is the default of both: Helm does not tell it from a 2 that a user set. */ -}}
  {{- if and (hasKey $values "replicas") (not (has (int $values.replicaCount) (list 2 (int $values.replicas)))) -}}
    {{- fail (printf "%s.replicas (%d) is the old name of %s.replicaCount (%d), and they differ: remove %s.replicas." $process (int $values.replicas) $process (int $values.replicaCount) $process) -}}
  {{- end -}}
{{- end -}}
{{- if and .Values.worker.autoscaling.enabled $keda.enabled -}}
  {{- fail "worker.autoscaling.enabled and worker.keda.enabled would both set the number of workers: disable one of them." -}}
{{- end -}}
{{- range $path, $limits := dict "ingest.autoscaling" .Values.ingest.autoscaling "worker.autoscaling" .Values.worker.autoscaling "worker.keda" $keda -}}
  {{- if gt (int $limits.minReplicas) (int $limits.maxReplicas) -}}
    {{- fail (printf "%s.minReplicas (%d) is above %s.maxReplicas (%d): raise maxReplicas." $path (int $limits.minReplicas) $path (int $limits.maxReplicas)) -}}
  {{- end -}}
{{- end -}}
{{- if and $keda.enabled (not .Values.redis.enabled) (not .Values.externalRedis.host) (not $keda.redisAddress) -}}
  {{- fail "KEDA accepts no Redis URL: set worker.keda.redisAddress (host:port) and worker.keda.authenticationRef, or set externalRedis.host in place of the URL." -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled .Values.metrics.serviceMonitor.enabled -}}
  {{- fail "metrics.podMonitor.enabled and metrics.serviceMonitor.enabled would scrape every pod twice: disable one of them." -}}
{{- end -}}
{{- end -}}

{{- define "runledger.validate.pods" -}}
{{- $drain := 25 -}}
{{- $needed := add (int .Values.ingest.preStopSeconds) $drain -}}
{{- if le (int .Values.ingest.terminationGracePeriodSeconds) (int $needed) -}}
  {{- fail (printf "ingest.terminationGracePeriodSeconds (%d) would kill a pod before it has answered its pending requests: set it above ingest.preStopSeconds + %d = %d." (int .Values.ingest.terminationGracePeriodSeconds) $drain $needed) -}}
{{- end -}}
{{- if le (int .Values.worker.terminationGracePeriodSeconds) $drain -}}
  {{- fail (printf "worker.terminationGracePeriodSeconds (%d) would kill a pod before it has committed its batches: set it above %d." (int .Values.worker.terminationGracePeriodSeconds) $drain) -}}
{{- end -}}
{{- if and .Values.tokens.createNamespace (or (not .Values.tokens.namespace) (eq .Values.tokens.namespace .Release.Namespace)) -}}
  {{- fail "tokens.createNamespace=true needs a name other than the release's namespace: set tokens.namespace." -}}
{{- end -}}
{{- if and (not .Values.ingest.serviceAccount.create) (not .Values.ingest.serviceAccount.name) -}}
  {{- fail "ingest.serviceAccount.create=false needs an existing account: name it in ingest.serviceAccount.name." -}}
{{- end -}}
{{- if and .Values.caBundle.configMap .Values.caBundle.secret -}}
  {{- fail "caBundle.configMap and caBundle.secret are both set: keep one." -}}
{{- end -}}
{{- include "runledger.validate.env" (dict "setting" "ingest.extraEnv" "own" (include "runledger.ingest.env" .) "extra" .Values.ingest.extraEnv) -}}
{{- include "runledger.validate.env" (dict "setting" "worker.extraEnv" "own" (include "runledger.worker.env" .) "extra" .Values.worker.extraEnv) -}}
{{- end -}}

{{/* The API server rejects a container that has a variable twice. */}}
{{- define "runledger.validate.env" -}}
{{- $seen := list -}}
{{- range .own | fromYamlArray -}}{{- $seen = append $seen .name -}}{{- end -}}
{{- $setting := .setting -}}
{{- range .extra -}}
  {{- if has .name $seen -}}
    {{- fail (printf "%s sets %s, which the pod already has: remove it there and use the value of the chart." $setting .name) -}}
  {{- end -}}
  {{- $seen = append $seen .name -}}
{{- end -}}
{{- end -}}
