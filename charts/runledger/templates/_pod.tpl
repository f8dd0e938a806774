{{/* Security of a pod. The images' users are numeric, so that runAsNonRoot can be checked. Takes (dict "runAsUser" … "runAsGroup" … "fsGroup" …). */}}
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

{{- define "runledger.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

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

{{/* Where pods may run. Takes (dict "root" $ "values" .Values.ingest "component" "ingest"). */}}
{{- define "runledger.scheduling" -}}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- $selector := dict "labelSelector" (dict "matchLabels" (include "runledger.selectorLabels" . | fromYaml)) }}
  {{- range .values.topologySpreadConstraints }}
  - {{ toYaml (merge (dict) . $selector) | indent 4 | trim }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Labels and annotations of a pod. Takes (dict "root" $ "values" … "component" …). */}}
{{- define "runledger.podMeta" -}}
labels:
  {{- include "runledger.labels" (dict "root" .root "component" .component "labels" .values.podLabels) | nindent 2 }}
  # What monitors select.
  runledger.dev/metrics: 'true'
{{- with merge (dict) (.values.podAnnotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A container of the image. Takes (dict "root" $ "name" … "main" "ingest" "env" … "values" …). */}}
{{- define "runledger.container" -}}
name: {{ .name }}
image: {{ include "runledger.image" (dict "root" .root "image" .root.Values.image "tag" .root.Chart.AppVersion) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: [node]
args: [cmd/{{ .main }}/main.ts]
securityContext:
  {{- include "runledger.containerSecurity" . | nindent 2 }}
env:
  {{- $env := concat (.env | fromYamlArray) (include "runledger.caBundle.env" .root | fromYamlArray) }}
  {{- toYaml (concat $env .values.extraEnv) | nindent 2 }}
{{- with .values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .resources | nindent 2 }}
{{- end -}}

{{- define "runledger.caBundle.env" -}}
{{- if or .Values.caBundle.configMap .Values.caBundle.secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/runledger/ca/{{ .Values.caBundle.key }}
{{- else -}}
[]
{{- end }}
{{- end -}}

{{/* Takes (dict "root" $ "values" …). */}}
{{- define "runledger.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if or .root.Values.caBundle.configMap .root.Values.caBundle.secret }}
- { name: ca, mountPath: /etc/runledger/ca, readOnly: true }
{{- end }}
{{- with .values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "runledger.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: 64Mi } }
{{- /* The one key: the Secret of an authority may hold its private key, too. */}}
{{- $items := printf "items: [{ key: %s, path: %s }]" .root.Values.caBundle.key .root.Values.caBundle.key }}
{{- with .root.Values.caBundle.configMap }}
- { name: ca, configMap: { name: {{ . }}, {{ $items }} } }
{{- end }}
{{- with .root.Values.caBundle.secret }}
- { name: ca, secret: { secretName: {{ . }}, {{ $items }} } }
{{- end }}
{{- with .values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Takes .Values.ingest or .Values.worker. */}}
{{- define "runledger.probes" -}}
{{- $values := . -}}
{{- range $probe, $path := dict "startupProbe" "/healthz" "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
{{ $probe }}:
  {{- toYaml (merge (dict "httpGet" (dict "path" $path "port" "ops")) (get $values $probe)) | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Says yes when a HorizontalPodAutoscaler or KEDA owns the number of workers. */}}
{{- define "runledger.worker.scaled" -}}
{{- if .Values.worker.autoscaling.enabled -}}true
{{- else if .Values.worker.keda.enabled -}}{{ include "runledger.renders" (dict "root" . "api" "keda.sh/v1alpha1/ScaledObject" "setting" "worker.keda.enabled") }}
{{- end -}}
{{- end -}}
