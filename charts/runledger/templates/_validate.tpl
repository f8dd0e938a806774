{{/* Fails for values that cannot work. Each message says which value to change. */}}
{{- define "runledger.validate" -}}
{{- include "runledger.validate.wayIn" (dict "root" . "component" "ingest") -}}
{{- if .Values.console.enabled -}}{{- include "runledger.validate.console" . -}}{{- end -}}
{{- if .Values.controller.enabled -}}{{- include "runledger.validate.controller" . -}}{{- end -}}
{{- if .Values.console.enabled -}}{{- include "runledger.validate.hosts" . -}}{{- end -}}
{{- include "runledger.validate.gateway" . -}}
{{- include "runledger.validate.data" (dict "bundled" .Values.redis.enabled "external" .Values.externalRedis "name" "Redis" "key" "redis" "externalKey" "externalRedis") -}}
{{- include "runledger.validate.needsHost" (dict "external" .Values.externalRedis "externalKey" "externalRedis" "serves" (list "url" "host" "shards")) -}}
{{- include "runledger.validate.acks" . -}}
{{- include "runledger.validate.sentinels" . -}}
{{- include "runledger.validate.shards" . -}}
{{- include "runledger.validate.data" (dict "bundled" .Values.postgresql.enabled "external" .Values.externalPostgresql "name" "Postgres" "key" "postgresql" "externalKey" "externalPostgresql") -}}
{{- include "runledger.validate.needsHost" (dict "external" .Values.externalPostgresql "externalKey" "externalPostgresql" "serves" (list "host")) -}}
{{- include "runledger.validate.otherPostgresql" . -}}
{{- include "runledger.validate.scaling" . -}}
{{- if and .Values.archive.url (eq (int .Values.config.retentionDays) 1) -}}
  {{- fail "config.retentionDays=1 would drop each day before archive.url can have it, since the export takes a day 24 hours after its end: set 2 at least." -}}
{{- end -}}
{{- include "runledger.validate.hotDays" . -}}
{{- include "runledger.validate.pods" . -}}
{{- end -}}

{{/* Days that leave Postgres need an archive that readers can read. */}}
{{- define "runledger.validate.hotDays" -}}
{{- with int .Values.config.hotDays -}}
{{- if not $.Values.archive.url -}}
  {{- fail "config.hotDays needs archive.url, where older events live." -}}
{{- end -}}
{{- if eq . 1 -}}
  {{- fail "config.hotDays must be 2 at least: the export takes a day 24 hours after its end, and streams look back for more than a day." -}}
{{- end -}}
{{- if ne $.Values.archive.format "parquet" -}}
  {{- fail "config.hotDays needs archive.format=parquet, the format that readers of older days read." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Takes (dict "root" $ "component" "ingest"). */}}
{{- define "runledger.validate.wayIn" -}}
{{- $way := include "runledger.wayIn" . | fromJson -}}
{{- $at := $way.prefix -}}
{{- $proxied := or $way.ingress.enabled $way.gateway.enabled -}}
{{- if not (or $way.service.enabled $way.service.existingName) -}}
  {{- if $proxied -}}
    {{- fail (printf "The ingress or gateway needs a Service: set %sservice.enabled=true, or name your own in %sservice.existingName." $at $at) -}}
  {{- else -}}
    {{- fail (printf "No Service, Ingress or Gateway leads to %s: set %sservice.enabled=true, %singress.enabled=true or %sgateway.enabled=true." .component $at $at $at) -}}
  {{- end -}}
{{- end -}}
{{- if and (not $proxied) (not (include "runledger.podTls" .)) (not (include "runledger.trustProxy" .)) -}}
  {{- fail (printf "Nothing ends TLS, so every request would get a 301: set %s.tls.mode=auto, enable %singress or %sgateway, or set %s.trustProxy=always if a proxy of your own ends TLS." .component $at $at .component) -}}
{{- end -}}
{{- /* A Service of the user may lead the proxy to the pod's HTTPS port. */ -}}
{{- if and $proxied (not (include "runledger.trustProxy" .)) (not (and (include "runledger.podTls" .) $way.service.existingName)) -}}
  {{- fail (printf "%s.trustProxy=never with ingress or gateway would redirect every request forever, since they talk plain HTTP to the pod: set %s.trustProxy=auto." .component .component) -}}
{{- end -}}
{{- if and $way.ingress.enabled (not $way.ingress.hosts) -}}
  {{- fail (printf "%singress.enabled=true needs a host: set %singress.hosts[0]." $at $at) -}}
{{- end -}}
{{- if and (not $proxied) (not (include "runledger.podTls" .)) (not $way.publicUrl) -}}
  {{- fail (printf "A proxy of your own ends TLS, and redirects must lead to it: set %spublicUrl to its https:// address." $at) -}}
{{- end -}}
{{- if $way.gateway.enabled -}}
  {{- if not $way.gateway.hostnames -}}
    {{- fail (printf "%sgateway.enabled=true needs a host: set %sgateway.hostnames[0]." $at $at) -}}
  {{- end -}}
  {{- if not $way.gateway.parent.name -}}
    {{- fail (printf "%sgateway.enabled=true needs a Gateway: name it in %sgateway.parentRef.name, or set %s." $at $at (eq $at "" | ternary "gateway.create.enabled=true" "gateway.enabled=true to share the Gateway of ingest")) -}}
  {{- end -}}
{{- end -}}
{{- if contains "*" (include "runledger.publicUrl" .) -}}
  {{- fail (printf "The first host is a wildcard, and redirects need a name: set %spublicUrl to the https:// address that callers use." $at) -}}
{{- end -}}
{{- end -}}

{{/* Ingest and console serve the same paths, such as `/`: one host cannot lead to both. */}}
{{- define "runledger.validate.hosts" -}}
{{- $hosts := dict -}}
{{- range $component := list "ingest" "console" -}}
  {{- $way := include "runledger.wayIn" (dict "root" $ "component" $component) | fromJson -}}
  {{- $all := list (trimPrefix "https://" $way.publicUrl | trimSuffix "/" | lower) -}}
  {{- if $way.ingress.enabled -}}{{- $all = concat $all $way.ingress.hosts -}}{{- end -}}
  {{- if $way.gateway.enabled -}}{{- $all = concat $all $way.gateway.hostnames -}}{{- end -}}
  {{- $_ := set $hosts $component (compact $all) -}}
{{- end -}}
{{- range $host := $hosts.console -}}
  {{- if has $host $hosts.ingest -}}
    {{- fail (printf "%s cannot lead to both ingest and the console: give the console a host of its own in console.ingress.hosts, console.gateway.hostnames or console.publicUrl." $host) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A Gateway that the chart creates. */}}
{{- define "runledger.validate.gateway" -}}
{{- with .Values.gateway -}}
{{- if and .enabled .create.enabled -}}
  {{- if not .create.className -}}
    {{- fail "gateway.create.enabled=true needs a GatewayClass: set gateway.create.className." -}}
  {{- end -}}
  {{- $hostnames := dict "gateway.hostnames" .hostnames -}}
  {{- if include "runledger.gateway.listensForConsole" $ -}}{{- $_ := set $hostnames "console.gateway.hostnames" $.Values.console.gateway.hostnames -}}{{- end -}}
  {{- range $setting, $names := $hostnames -}}
    {{- if gt (len $names) 1 -}}
      {{- fail (printf "gateway.create creates an HTTPS listener for one host: keep one in %s, or create the Gateway yourself and name it in gateway.parentRef." $setting) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Redis and Postgres must be bundled, or external with one address. */}}
{{- define "runledger.validate.data" -}}
{{- $ways := list -}}
{{- range include "runledger.database.ways" .external | fromYamlArray -}}
  {{- $ways = append $ways (printf "%s.%s" $.externalKey .) -}}
{{- end -}}
{{- if and .bundled $ways -}}
  {{- fail (printf "%s is both bundled and external (%s): set %s.enabled=false, or leave %s empty." .name (join ", " $ways) .key .externalKey) -}}
{{- end -}}
{{- if and (not .bundled) (not $ways) -}}
  {{- fail (printf "%s is neither bundled nor external: set %s.enabled=true, or name a Secret that holds its URL in %s.urlSecret.name." .name .key .externalKey) -}}
{{- end -}}
{{- include "runledger.validate.oneWay" . -}}
{{- end -}}

{{/*
Takes (dict "external" .Values.externalRedis "externalKey" "externalRedis" "name" "Redis").
*/}}
{{- define "runledger.validate.oneWay" -}}
{{- $ways := list -}}
{{- range include "runledger.database.ways" .external | fromYamlArray -}}
  {{- $ways = append $ways (printf "%s.%s" $.externalKey .) -}}
{{- end -}}
{{- if gt (len $ways) 1 -}}
  {{- fail (printf "The address of %s is set in several ways (%s): keep one." .name (join ", " $ways)) -}}
{{- end -}}
{{- if regexMatch "://[^/@]*:[^/@]*@" .external.url -}}
  {{- fail (printf "%s.url has a password, which everybody who reads the release could read: set %s.urlSecret, or host and credentialsSecret." .externalKey .externalKey) -}}
{{- end -}}
{{- end -}}

{{/*
An address with a user name and a password in it, as a Secret or a file has it, takes no others.
Takes (dict "external" .Values.externalRedis "externalKey" "externalRedis" "serves" the ways that
take them).
*/}}
{{- define "runledger.validate.needsHost" -}}
{{- $ignored := list -}}
{{- if .external.username -}}{{- $ignored = append $ignored (printf "%s.username" .externalKey) -}}{{- end -}}
{{- if .external.credentialsSecret.name -}}{{- $ignored = append $ignored (printf "%s.credentialsSecret.name" .externalKey) -}}{{- end -}}
{{- range .serves -}}
  {{- if get $.external . -}}{{- $ignored = list -}}{{- end -}}
{{- end -}}
{{- if $ignored -}}
  {{- fail (printf "%s would be ignored without %s: set %s.host, or leave it empty." (join " and " $ignored) (eq (len .serves) 1 | ternary "a host" (join ", " .serves | printf "any of %s")) .externalKey) -}}
{{- end -}}
{{- end -}}

{{/* A 201 waits for replicas, of which the bundled Redis has none. */}}
{{- define "runledger.validate.acks" -}}
{{- if and .Values.redis.enabled .Values.config.redisAcks -}}
  {{- fail (printf "config.redisAcks=%d would let ingest answer 503 forever, since the bundled Redis has no replica: set it to 0, or set redis.enabled=false and use your own Redis." (int .Values.config.redisAcks)) -}}
{{- end -}}
{{- end -}}

{{/* Sentinels name the master of an external Redis. */}}
{{- define "runledger.validate.sentinels" -}}
{{- $external := .Values.externalRedis -}}
{{- if and .Values.redis.enabled $external.sentinels -}}
  {{- fail "externalRedis.sentinels would be ignored: the bundled Redis has no Sentinels. Set redis.enabled=false, or leave it empty." -}}
{{- end -}}
{{- if and ($external.sentinelSecret).name (not $external.sentinels) -}}
  {{- fail "externalRedis.sentinelSecret would be ignored without externalRedis.sentinels: set both." -}}
{{- end -}}
{{- end -}}

{{/* Former shards are of an external Redis. */}}
{{- define "runledger.validate.shards" -}}
{{- $external := .Values.externalRedis -}}
{{- if and $external.database (contains "," (join " " ($external.shards | default list))) -}}
  {{- fail "externalRedis.shards names a Redis Cluster, which has no other database than 0: set externalRedis.database to 0." -}}
{{- end -}}
{{- if and .Values.redis.enabled $external.drainedShards -}}
  {{- fail "externalRedis.drainedShards would be ignored: the bundled Redis has no shards. Set redis.enabled=false, or leave it empty." -}}
{{- end -}}
{{- range $external.drainedShards -}}
  {{- if has . $external.shards -}}
    {{- fail (printf "%s takes events and is drained: remove it from externalRedis.shards or externalRedis.drainedShards." .) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* The map of organizations is in the first Postgres, which must be an external one then. */}}
{{- define "runledger.validate.otherPostgresql" -}}
{{- if and .Values.postgresql.enabled .Values.otherPostgresql -}}
  {{- fail "otherPostgresql needs a first Postgres that is external: set postgresql.enabled=false and externalPostgresql, or leave it empty." -}}
{{- end -}}
{{- end -}}

{{- define "runledger.validate.console" -}}
{{- $console := dict "root" . "component" "console" "values" .Values.console -}}
{{- include "runledger.validate.wayIn" $console -}}
{{- include "runledger.validate.oneWay" (dict "external" .Values.console.database "externalKey" "console.database" "name" "the console's Postgres") -}}
{{- include "runledger.validate.needsHost" (dict "external" .Values.console.database "externalKey" "console.database" "serves" (list "host")) -}}
{{- if and .Values.console.sessions.urlSecret.name (not (include "runledger.database.ways" .Values.console.database | fromYamlArray)) -}}
  {{- fail "console.sessions.urlSecret is for a console that reads a replica: set console.database, or leave it empty." -}}
{{- end -}}
{{- include "runledger.validate.oidc" .Values.console.oidc -}}
{{- include "runledger.validate.drain" $console -}}
{{- include "runledger.validate.account" $console -}}
{{- include "runledger.validate.env" (dict "setting" "console.extraEnv" "own" (include "runledger.console.env" .) "extra" .Values.console.extraEnv) -}}
{{- end -}}

{{- define "runledger.validate.controller" -}}
{{- include "runledger.validate.account" (dict "component" "controller" "values" .Values.controller) -}}
{{- include "runledger.validate.env" (dict "setting" "controller.extraEnv" "own" (include "runledger.controller.env" .) "extra" .Values.controller.extraEnv) -}}
{{- range .Values.controller.channelSecrets -}}
  {{- if and $.Values.controller.namespaces (not (has .namespace $.Values.controller.namespaces)) -}}
    {{- fail (printf "controller.channelSecrets names the namespace %s, which is not in controller.namespaces: add it there." .namespace) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* The login at an OpenID Connect provider. Takes .Values.console.oidc. */}}
{{- define "runledger.validate.oidc" -}}
{{- if not .issuer -}}
  {{- if or .clientId .proxyAudience .organizations -}}
    {{- fail "console.oidc needs the address of the provider: set console.oidc.issuer." -}}
  {{- end -}}
{{- else -}}
  {{- if not (or .clientId .proxyAudience) -}}
    {{- fail "console.oidc.issuer needs a client: set console.oidc.clientId, or console.oidc.proxyAudience behind a proxy that logs people in." -}}
  {{- end -}}
  {{- if not .organizations -}}
    {{- fail "console.oidc.issuer needs a mapping, or nobody could read anything: set console.oidc.organizations." -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "runledger.validate.scaling" -}}
{{- $keda := .Values.worker.keda -}}
{{- if and .Values.worker.autoscaling.enabled $keda.enabled -}}
  {{- fail "worker.autoscaling.enabled and worker.keda.enabled would both set the number of workers: disable one of them." -}}
{{- end -}}
{{- $ranges := dict "ingest.autoscaling" .Values.ingest.autoscaling "worker.autoscaling" .Values.worker.autoscaling "worker.keda" $keda -}}
{{- if .Values.console.enabled -}}{{- $_ := set $ranges "console.autoscaling" .Values.console.autoscaling -}}{{- end -}}
{{- range $path, $limits := $ranges -}}
  {{- if gt (int $limits.minReplicas) (int $limits.maxReplicas) -}}
    {{- fail (printf "%s.minReplicas (%d) is above %s.maxReplicas (%d): raise maxReplicas." $path (int $limits.minReplicas) $path (int $limits.maxReplicas)) -}}
  {{- end -}}
{{- end -}}
{{- if and $keda.enabled (not .Values.redis.enabled) (not .Values.externalRedis.host) (not .Values.externalRedis.shards) (not $keda.redisAddress) -}}
  {{- fail "KEDA accepts no Redis URL: set worker.keda.redisAddress (host:port) and worker.keda.authenticationRef, or set externalRedis.host in place of the URL." -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled .Values.metrics.serviceMonitor.enabled -}}
  {{- fail "metrics.podMonitor.enabled and metrics.serviceMonitor.enabled would scrape every pod twice: disable one of them." -}}
{{- end -}}
{{- end -}}

{{- define "runledger.validate.pods" -}}
{{- $drain := 25 -}}
{{- include "runledger.validate.drain" (dict "component" "ingest" "values" .Values.ingest) -}}
{{- include "runledger.validate.account" (dict "component" "ingest" "values" .Values.ingest) -}}
{{- if le (int .Values.worker.terminationGracePeriodSeconds) $drain -}}
  {{- fail (printf "worker.terminationGracePeriodSeconds (%d) would kill a pod before it has committed its batches: set it above %d." (int .Values.worker.terminationGracePeriodSeconds) $drain) -}}
{{- end -}}
{{- if and .Values.tokens.createNamespace (or (not .Values.tokens.namespace) (eq .Values.tokens.namespace .Release.Namespace)) -}}
  {{- fail "tokens.createNamespace=true needs a name other than the release's namespace: set tokens.namespace." -}}
{{- end -}}
{{- if and .Values.caBundle.configMap .Values.caBundle.secret -}}
  {{- fail "caBundle.configMap and caBundle.secret are both set: keep one." -}}
{{- end -}}
{{- include "runledger.validate.env" (dict "setting" "ingest.extraEnv" "own" (include "runledger.ingest.env" .) "extra" .Values.ingest.extraEnv) -}}
{{- include "runledger.validate.env" (dict "setting" "worker.extraEnv" "own" (include "runledger.worker.env" .) "extra" .Values.worker.extraEnv) -}}
{{- if .Values.archive.url -}}
{{- include "runledger.validate.env" (dict "setting" "archive.extraEnv" "own" (include "runledger.export.env" .) "extra" .Values.archive.extraEnv) -}}
{{- end -}}
{{- end -}}

{{/* Takes (dict "component" "ingest" "values" .Values.ingest). */}}
{{- define "runledger.validate.drain" -}}
{{- $drain := 25 -}}
{{- $needed := add (int .values.preStopSeconds) $drain -}}
{{- if le (int .values.terminationGracePeriodSeconds) (int $needed) -}}
  {{- fail (printf "%s.terminationGracePeriodSeconds (%d) would kill a pod before it has answered its pending requests: set it above %s.preStopSeconds + %d = %d." .component (int .values.terminationGracePeriodSeconds) .component $drain $needed) -}}
{{- end -}}
{{- end -}}

{{/* Takes (dict "component" "ingest" "values" .Values.ingest). */}}
{{- define "runledger.validate.account" -}}
{{- if and (not .values.serviceAccount.create) (not .values.serviceAccount.name) -}}
  {{- fail (printf "%s.serviceAccount.create=false needs an existing account: name it in %s.serviceAccount.name." .component .component) -}}
{{- end -}}
{{- end -}}

{{/*
The API server rejects a container that has a variable twice, and a process one that is set with
and without `_FILE`. The pod has those of Secrets with it.
*/}}
{{- define "runledger.validate.env" -}}
{{- $own := list -}}
{{- range .own | fromYamlArray -}}{{- $own = append $own (default "" .name | trimSuffix "_FILE") -}}{{- end -}}
{{- $seen := list -}}
{{- $setting := .setting -}}
{{- range .extra -}}
  {{- if or (has .name $seen) (has (trimSuffix "_FILE" .name) $own) -}}
    {{- fail (printf "%s sets %s, which the pod already has: remove it there and use the value of the chart." $setting .name) -}}
  {{- end -}}
  {{- $seen = append $seen .name -}}
{{- end -}}
{{- end -}}
