{{/* The Service of a component, when enabled. Takes (dict "root" $ "component" …). */}}
{{- define "runledger.service" -}}
{{- $way := include "runledger.wayIn" . | fromJson }}
{{- with $way.service }}
{{- if .enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $way.name | toYaml }}
  namespace: {{ $.root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (dict "root" $.root "component" $.component "annotations" .annotations) | nindent 2 }}
spec:
  type: {{ .type }}
  {{- with .loadBalancerClass }}
  loadBalancerClass: {{ . | toYaml }}
  {{- end }}
  {{- with .loadBalancerSourceRanges }}
  loadBalancerSourceRanges:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .externalTrafficPolicy }}
  externalTrafficPolicy: {{ . }}
  {{- end }}
  selector:
    {{- include "runledger.selectorLabels" (pick $ "root" "component") | nindent 4 }}
  ports:
    - { name: http, port: {{ .port }}, targetPort: http, protocol: TCP, appProtocol: http{{ with .nodePort }}, nodePort: {{ . }}{{ end }} }
    {{- if include "runledger.podTls" $ }}
    - { name: https, port: {{ .httpsPort }}, targetPort: https, protocol: TCP, appProtocol: https{{ with .httpsNodePort }}, nodePort: {{ . }}{{ end }} }
    {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
A self-signed certificate, for HTTPS at a first look. Upgrades keep it.
Takes (dict "root" $ "component" …).
*/}}
{{- define "runledger.certificate" -}}
{{- if include "runledger.selfSigned" . }}
{{- $name := include "runledger.tlsSecret" . }}
{{- $namespace := .root.Release.Namespace }}
{{- $service := include "runledger.service.name" . }}
{{- $host := regexReplaceAll ":[0-9]+$" (include "runledger.publicUrl" . | trimPrefix "https://" | splitList "/" | first) "" }}
{{- $hosts := list $host $service (printf "%s.%s" $service $namespace) (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.cluster.local" $service $namespace) "localhost" | uniq }}
{{- $data := dig "data" dict (lookup "v1" "Secret" $namespace $name | default dict) }}
{{- if not (hasKey $data "tls.crt") }}
  {{- $made := genSelfSignedCert $service (list "127.0.0.1") $hosts 3650 }}
  {{- $data = dict "tls.crt" ($made.Cert | b64enc) "tls.key" ($made.Key | b64enc) }}
{{- end }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ $name | toYaml }}
  namespace: {{ $namespace | toYaml }}
  {{- include "runledger.meta" (pick . "root" "component") | nindent 2 }}
type: kubernetes.io/tls
data:
  tls.crt: {{ index $data "tls.crt" }}
  tls.key: {{ index $data "tls.key" }}
{{- end }}
{{- end -}}

{{/*
The ServiceAccount of a component, when the chart creates it.
Takes (dict "root" $ "component" … "values" …).
*/}}
{{- define "runledger.serviceAccount" -}}
{{- if .values.serviceAccount.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "runledger.serviceAccount.name" . | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (dict "root" .root "component" .component "annotations" .values.serviceAccount.annotations) | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
{{- end -}}

{{/*
The account of a component: the chart's or the user's own, and none for a worker unless the user
names one. Takes (dict "root" $ "component" "ingest" "values" .Values.ingest).
*/}}
{{- define "runledger.serviceAccount.name" -}}
{{- if .values.serviceAccount -}}
{{- .values.serviceAccount.name | default (include "runledger.component.name" .) -}}
{{- else -}}
{{- .values.serviceAccountName -}}
{{- end -}}
{{- end -}}
