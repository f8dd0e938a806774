{{/*
The HorizontalPodAutoscaler of a component, when enabled.
Takes (dict "root" $ "component" "ingest" "values" .Values.ingest).
*/}}
{{- define "runledger.autoscaler" -}}
{{- if .values.autoscaling.enabled }}
{{- $name := include "runledger.component.name" . }}
{{- with .values.autoscaling }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name | toYaml }}
  namespace: {{ $.root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (pick $ "root" "component") | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name | toYaml }} }
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .targetCPUUtilizationPercentage }} }
  {{- with .behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The PodDisruptionBudget of a component, when enabled.
Takes (dict "root" $ "component" "ingest" "values" .Values.ingest).
*/}}
{{- define "runledger.disruptionBudget" -}}
{{- if .values.podDisruptionBudget.enabled }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "runledger.component.name" . | toYaml }}
  namespace: {{ .root.Release.Namespace | toYaml }}
  {{- include "runledger.meta" (pick . "root" "component") | nindent 2 }}
spec:
  maxUnavailable: {{ .values.podDisruptionBudget.maxUnavailable }}
  # A pod that is not ready serves no caller: it must not block a node drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}
