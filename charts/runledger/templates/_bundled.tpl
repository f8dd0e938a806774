{{/* The volume claims of a bundled server. Takes (dict "values" .Values.redis). */}}
{{- define "runledger.bundled.claims" -}}
{{- if .values.persistence.enabled }}
persistentVolumeClaimRetentionPolicy:
  whenDeleted: {{ .values.persistence.whenDeleted }}
  whenScaled: Retain
volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .values.persistence.storageClass }}
      storageClassName: {{ . | toYaml }}
      {{- end }}
      resources: { requests: { storage: {{ .values.persistence.size }} } }
{{- end }}
{{- end -}}

{{/*
The Service of a bundled server.
Takes (dict "root" $ "component" "redis" "name" … "port" 6379).
*/}}
{{- define "runledger.bundled.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" . | nindent 2 }}
spec:
  selector:
    {{- include "runledger.selectorLabels" . | nindent 4 }}
  ports:
    - { name: {{ .component }}, port: {{ .port }}, targetPort: {{ .component }}, protocol: TCP }
{{- end -}}

{{/*
The password of a bundled server. Takes (dict "root" $ "component" "redis" "name" …
"auth" .Values.redis.auth "keep" …).
"keep" keeps the Secret at `helm uninstall`: a kept volume accepts no other password.
*/}}
{{- define "runledger.bundled.secret" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ .name | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- $annotations := .keep | ternary (dict "helm.sh/resource-policy" "keep") dict }}
  {{- include "runledger.meta" (dict "root" .root "component" .component "annotations" $annotations) | nindent 2 }}
data:
  password: {{ include "runledger.kept" (dict "namespace" .root.Release.Namespace "name" .name "key" "password" "value" .auth.password) }}
{{- end -}}
