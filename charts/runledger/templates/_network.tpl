{{/* A NetworkPolicy. Takes (dict "root" $ "component" … "name" … "ingress" YAML "egress" YAML). No rules means nothing gets through. */}}
{{- define "runledger.networkPolicy" -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  {{- include "runledger.meta" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- toYaml (dict "ingress" (.ingress | fromYamlArray) "egress" (.egress | fromYamlArray)) | nindent 2 }}
{{- end -}}

{{- define "runledger.network.dns" }}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
{{- end -}}

{{- define "runledger.network.metrics" }}
- ports: [{ port: ops, protocol: TCP }]
  from:
    {{- toYaml .Values.networkPolicy.metricsFrom | nindent 4 }}
{{- end -}}

{{/* A rule to peers, or to anywhere when there are none. Takes (dict "ports" … "to" …). */}}
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

{{/* Peers: the pods of a component of this release. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.network.peer" }}
- podSelector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
{{- end -}}

{{- define "runledger.network.toRedis" }}
{{- $bundled := include "runledger.network.peer" (dict "root" $ "component" "redis") | fromYamlArray }}
{{- if .Values.redis.enabled }}
{{- include "runledger.network.to" (dict "ports" (list 6379) "to" $bundled) }}
{{- else }}
{{- include "runledger.network.to" (dict "ports" .Values.networkPolicy.redisPorts "to" .Values.networkPolicy.redisTo) }}
{{- end }}
{{- end -}}

{{- define "runledger.network.toPostgresql" }}
{{- $bundled := include "runledger.network.peer" (dict "root" $ "component" "postgresql") | fromYamlArray }}
{{- if .Values.postgresql.enabled }}
{{- include "runledger.network.to" (dict "ports" (list 5432) "to" $bundled) }}
{{- else }}
{{- include "runledger.network.to" (dict "ports" .Values.networkPolicy.postgresqlPorts "to" .Values.networkPolicy.postgresqlTo) }}
{{- end }}
{{- end -}}

{{- define "runledger.network.extra" }}
{{- with .Values.networkPolicy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
