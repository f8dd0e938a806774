{{/*
The rights of a process that watches tokens: it reads the organizations' Secrets, and writes an
Event on a Secret that it rejects. Takes (dict "root" $ "component" "ingest" "values"
.Values.ingest).
*/}}
{{- define "runledger.tokens.rights" -}}
{{- $name := printf "%s-%s" (include "runledger.tokens.prefix" .root) .component -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name | toYaml }}
  namespace: {{ include "runledger.tokens.namespace" .root | toYaml }}
  {{- include "runledger.meta" (pick . "root" "component") | nindent 2 }}
rules:
  - apiGroups: ['']
    resources: [secrets]
    verbs: [list, watch]
  - apiGroups: ['']
    resources: [events]
    verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name | toYaml }}
  namespace: {{ include "runledger.tokens.namespace" .root | toYaml }}
  {{- include "runledger.meta" (pick . "root" "component") | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name | toYaml }}
subjects:
  - kind: ServiceAccount
    name: {{ include "runledger.serviceAccount.name" . | toYaml }}
    namespace: {{ .root.Release.Namespace | toYaml }}
{{- end -}}
