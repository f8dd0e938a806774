{{/* The rules for the resources of a namespace, or of all namespaces. */}}
{{- define "runledger.controller.rules" -}}
- apiGroups: [runledger.dev]
  resources: [automations, channels]
  verbs: [list, watch]
- apiGroups: [runledger.dev]
  resources: [automations/status, channels/status]
  verbs: [patch]
- apiGroups: ['']
  resources: [events]
  verbs: [create]
{{- if .Values.controller.captureJobs.enabled }}
- apiGroups: [batch]
  resources: [jobs, cronjobs]
  verbs: [get, list, watch]
- apiGroups: ['']
  resources: [pods]
  verbs: [list, watch]
{{- end }}
{{- end -}}

{{/*
A role and its binding to the account of the controller.
Takes (dict "root" $ "name" … "namespace" … "rules" YAML); without a namespace it is a ClusterRole.
*/}}
{{- define "runledger.controller.role" -}}
{{- $kind := .namespace | empty | ternary "ClusterRole" "Role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name | toYaml }}
  {{- with .namespace }}
  namespace: {{ . | toYaml }}
  {{- end }}
  {{- include "runledger.meta" (dict "root" .root "component" "controller") | nindent 2 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name | toYaml }}
  {{- with .namespace }}
  namespace: {{ . | toYaml }}
  {{- end }}
  {{- include "runledger.meta" (dict "root" .root "component" "controller") | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name | toYaml }}
subjects:
  - kind: ServiceAccount
    name: {{ include "runledger.serviceAccount.name" (dict "root" .root "component" "controller" "values" .root.Values.controller) | toYaml }}
    namespace: {{ .root.Release.Namespace | toYaml }}
{{- end -}}
