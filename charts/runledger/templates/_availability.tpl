{{/* Takes (dict "root" $ "component" … "name" … "values" autoscaling). */}}
{{- define "runledger.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  {{- include "runledger.meta" . | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .name }} }
  minReplicas: {{ .values.minReplicas }}
  maxReplicas: {{ .values.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .values.targetCPUUtilizationPercentage }} }
  {{- with .values.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Takes (dict "root" $ "component" … "name" … "values" podDisruptionBudget). */}}
{{- define "runledger.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  {{- include "runledger.meta" . | nindent 2 }}
spec:
  maxUnavailable: {{ .values.maxUnavailable }}
  # A pod that is not ready serves no caller: it must not block a node drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "runledger.selectorLabels" . | nindent 6 }}
{{- end -}}
