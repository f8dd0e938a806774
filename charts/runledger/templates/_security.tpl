{{/*
The security context of a pod. The user is numeric, so that the kubelet can check runAsNonRoot.
Takes (dict "runAsUser" … "runAsGroup" … "fsGroup" …).
*/}}
{{- define "runledger.podSecurity" -}}
runAsNonRoot: true
{{- range $field := list "runAsUser" "runAsGroup" "fsGroup" }}
{{- with get $ $field }}
{{ $field }}: {{ int64 . }}
{{- end }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The security context of a container. */}}
{{- define "runledger.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* imagePullSecrets of a pod: the parent chart's and the chart's own, each once. */}}
{{- define "runledger.pullSecrets" -}}
{{- $secrets := list }}
{{- range concat (.Values.global.imagePullSecrets | default list) .Values.imagePullSecrets }}
{{- /* Some parent charts give names only. */}}
{{- $secrets = append $secrets (kindIs "string" . | ternary (dict "name" .) .) }}
{{- end }}
{{- with uniq $secrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
