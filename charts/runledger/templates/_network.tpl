{{/*
A NetworkPolicy. An empty list of rules allows no connection.
Takes (dict "root" $ "component" … "name" … "ingress" YAML "egress" YAML).
*/}}
{{- define "runledger.networkPolicy" -}}
{{- $ingress := .ingress | fromYamlArray -}}
{{- $egress := .egress | fromYamlArray -}}
{{- /* fromYamlArray returns the error as a text in place of a rule. */ -}}
{{- range concat $ingress $egress -}}
  {{- if kindIs "string" . -}}{{- fail (printf "NetworkPolicy %s: invalid rule: %s" $.name .) -}}{{- end -}}
{{- end -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- toYaml (dict "ingress" $ingress "egress" $egress) | nindent 2 }}
{{- end -}}

{{- define "runledger.network.dns" }}
- ports:
    {{- range .Values.networkPolicy.dnsPorts }}
    - { port: {{ . }}, protocol: UDP }
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
{{- end -}}

{{- define "runledger.network.metrics" }}
- ports: [{ port: ops, protocol: TCP }]
  from:
    {{- toYaml .Values.networkPolicy.metricsFrom | nindent 4 }}
{{- end -}}

{{/* A rule to peers, or to any address without peers. Takes (dict "ports" … "to" …). */}}
{{- define "runledger.network.to" }}
- ports:
    {{- range .ports }}
    - { port: {{ . }}, protocol: TCP }
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The pods of a component of this release, as peers. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.network.peer" }}
- podSelector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
{{- end -}}

{{/*
The ports of an external server: those in networkPolicy, and those in its address, where http and
https imply theirs.
Takes (dict "ports" … "external" .Values.externalRedis).
*/}}
{{- define "runledger.network.ports" -}}
{{- $ports := list -}}
{{- range .ports -}}{{- $ports = append $ports (int .) -}}{{- end -}}
{{- $sentinels := .external.sentinels | default list -}}
{{- if and .external.host (not $sentinels) -}}{{- $ports = append $ports (int .external.port) -}}{{- end -}}
{{- range $sentinels -}}{{- $ports = append $ports (splitList ":" . | last | int) -}}{{- end -}}
{{- range concat (.external.shards | default list) (.external.drainedShards | default list) -}}
  {{- range regexFindAll ":[0-9]+([/,]|$)" . -1 -}}{{- $ports = append $ports (regexFind "[0-9]+" . | int) -}}{{- end -}}
{{- end -}}
{{- range regexFindAll ":[0-9]+([/?, ]|$)" .external.url -1 -}}{{- $ports = append $ports (regexFind "[0-9]+" . | int) -}}{{- end -}}
{{- range regexFindAll "https?://[^/?, ]+" .external.url -1 -}}
  {{- if not (regexMatch ":[0-9]+$" .) -}}{{- $ports = append $ports (hasPrefix "https:" . | ternary 443 80) -}}{{- end -}}
{{- end -}}
{{- uniq $ports | toYaml -}}
{{- end -}}

{{- define "runledger.network.toRedis" }}
{{- $bundled := include "runledger.network.peer" (dict "root" $ "component" "redis") | fromYamlArray }}
{{- if .Values.redis.enabled }}
{{- include "runledger.network.to" (dict "ports" (list 6379) "to" $bundled) }}
{{- else }}
{{- include "runledger.network.to" (dict "ports" (include "runledger.network.ports" (dict "ports" .Values.networkPolicy.redisPorts "external" .Values.externalRedis) | fromYamlArray) "to" .Values.networkPolicy.redisTo) }}
{{- end }}
{{- end -}}

{{- define "runledger.network.toPostgresql" }}
{{- $bundled := include "runledger.network.peer" (dict "root" $ "component" "postgresql") | fromYamlArray }}
{{- if .Values.postgresql.enabled }}
{{- include "runledger.network.to" (dict "ports" (list 5432) "to" $bundled) }}
{{- else }}
{{- include "runledger.network.toDatabase" (dict "root" . "external" .Values.externalPostgresql) }}
{{- end }}
{{- end -}}

{{/* Takes (dict "root" $ "external" .Values.externalPostgresql). */}}
{{- define "runledger.network.toDatabase" }}
{{- $ports := dict "ports" .root.Values.networkPolicy.postgresqlPorts "external" .external }}
{{- include "runledger.network.to" (dict "ports" (include "runledger.network.ports" $ports | fromYamlArray) "to" .root.Values.networkPolicy.postgresqlTo) }}
{{- end -}}

{{/*
Into the HTTP and HTTPS ports, and into the ops port.
Takes (dict "root" $ "component" "ingest" "from" .Values.networkPolicy.ingestFrom).
*/}}
{{- define "runledger.network.into" }}
- ports:
    - { port: http, protocol: TCP }
    {{- if include "runledger.podTls" . }}
    - { port: https, protocol: TCP }
    {{- end }}
  {{- with .from }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- if $.root.Values.test.enabled }}
    {{- include "runledger.network.peer" (dict "root" $.root "component" "test") | nindent 4 }}
    {{- end }}
  {{- end }}
{{- include "runledger.network.metrics" .root }}
{{- end -}}

{{- define "runledger.network.toApiServer" }}
{{- $found := include "runledger.network.apiServer" . | fromYaml }}
{{- $ports := list }}
{{- range concat .Values.networkPolicy.apiServerPorts $found.ports }}{{ $ports = append $ports (int .) }}{{ end }}
{{- include "runledger.network.to" (dict "ports" (uniq $ports) "to" (.Values.networkPolicy.apiServerTo | default $found.to)) }}
{{- end -}}

{{/*
The addresses of the API server, as peers, and the ports behind its Service: those that the cluster
tells. Some network plugins compare the address of the Service, others those behind it. Nothing when
nobody can be asked: without a cluster, or for a user who may not create resource definitions and so
perhaps not read the namespace `default` either, since a refused look would end the installation.
*/}}
{{- define "runledger.network.apiServer" -}}
{{- $addresses := list -}}
{{- $ports := list -}}
{{- if and (empty .Values.networkPolicy.apiServerTo) .Values.crds.install -}}
{{- $service := lookup "v1" "Service" "default" "kubernetes" -}}
{{- $slice := lookup "discovery.k8s.io/v1" "EndpointSlice" "default" "kubernetes" -}}
{{- range dig "endpoints" list ($slice | default dict) -}}{{- $addresses = concat $addresses .addresses -}}{{- end -}}
{{- if $addresses -}}{{- $addresses = concat $addresses (dig "spec" "clusterIPs" list ($service | default dict)) -}}{{- end -}}
{{- range dig "ports" list ($slice | default dict) -}}{{- $ports = append $ports .port -}}{{- end -}}
{{- end -}}
{{- $to := list -}}
{{- range $addresses | uniq | sortAlpha -}}
{{- $to = append $to (dict "ipBlock" (dict "cidr" (printf "%s/%s" . (contains ":" . | ternary "128" "32")))) -}}
{{- end -}}
{{- dict "to" $to "ports" $ports | toYaml -}}
{{- end -}}

{{/* To the OpenID Connect provider of the console. */}}
{{- define "runledger.network.toOidc" }}
{{- with .Values.console.oidc.issuer }}
{{- $ports := dict "ports" $.Values.networkPolicy.oidcPorts "external" (dict "host" "" "url" .) }}
{{- include "runledger.network.to" (dict "ports" (include "runledger.network.ports" $ports | fromYamlArray) "to" $.Values.networkPolicy.oidcTo) }}
{{- end }}
{{- end -}}

{{/* To the S3 server of the archive, and of witnesses. */}}
{{- define "runledger.network.toS3" }}
{{- with .Values.archive }}
{{- $ports := dict "ports" $.Values.networkPolicy.archivePorts "external" (dict "host" "" "url" .endpoint) }}
{{- include "runledger.network.to" (dict "ports" (include "runledger.network.ports" $ports | fromYamlArray) "to" $.Values.networkPolicy.archiveTo) }}
{{- end }}
{{- end -}}

{{- define "runledger.network.extra" }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
