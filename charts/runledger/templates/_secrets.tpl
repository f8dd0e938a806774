{{/*
Secrets reach a process as files: an environment is readable for longer and by more, such as by a
crash report. The templates of environments name Secrets as variables do (`secretKeyRef`); these
templates turn each into the path of a file, in a setting with the suffix `_FILE`, and mount it. A
variable without a name is no setting, only a file.
*/}}
{{- define "runledger.secrets.folder" -}}/etc/runledger/secrets{{- end -}}

{{/*
The path of a key of a Secret.
Takes (dict "name" … "key" …).
*/}}
{{- define "runledger.secrets.path" -}}
{{- printf "%s/%s/%s" (include "runledger.secrets.folder" .) .name .key -}}
{{- end -}}

{{/*
The environment of a program, with files in place of Secrets.
Takes (dict "root" $ "program" "worker").
*/}}
{{- define "runledger.secrets.env" -}}
{{- range include (printf "runledger.%s.env" .program) .root | fromYamlArray }}
{{- $secret := dig "valueFrom" "secretKeyRef" dict . }}
{{- if not $secret }}
- {{ toYaml . | nindent 2 | trim }}
{{- else if .name }}
- name: {{ .name }}_FILE
  value: {{ include "runledger.secrets.path" $secret }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
The Secrets of programs, as a list of `name/key`, each once.
Takes (dict "root" $ "programs" (list "worker" "migrate")).
*/}}
{{- define "runledger.secrets.list" -}}
{{- $found := list -}}
{{- range $program := .programs -}}
{{- range include (printf "runledger.%s.env" $program) $.root | fromYamlArray -}}
{{- with dig "valueFrom" "secretKeyRef" dict . -}}
{{- $found = append $found (printf "%s/%s" .name .key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found | uniq | sortAlpha | toYaml -}}
{{- end -}}

{{/*
The volume with the Secrets of the programs of a pod; nothing if there are none.
Takes (dict "root" $ "programs" (list "worker" "migrate")).
*/}}
{{- define "runledger.secrets.volume" -}}
{{- with include "runledger.secrets.list" . | fromYamlArray -}}
- name: secrets
  projected:
    sources:
      {{- range . }}
      {{- $parts := splitn "/" 2 . }}
      - secret: { name: {{ $parts._0 | toYaml }}, items: [{ key: {{ $parts._1 | toYaml }}, path: {{ . }} }] }
      {{- end }}
{{- end -}}
{{- end -}}

{{/*
The volume with keys of one Secret.
Takes (dict "name" … "keys" (list …)).
*/}}
{{- define "runledger.secrets.of" -}}
- name: secrets
  projected:
    sources:
      - secret:
          name: {{ .name | toYaml }}
          items:
            {{- range .keys }}
            - { key: {{ . | toYaml }}, path: {{ $.name }}/{{ . }} }
            {{- end }}
{{- end -}}

{{/* Where a container has that volume. Takes (dict "root" $ "programs" (list "worker")). */}}
{{- define "runledger.secrets.mount" -}}
{{- if include "runledger.secrets.list" . | fromYamlArray -}}
- { name: secrets, mountPath: {{ include "runledger.secrets.folder" . }}, readOnly: true }
{{- end -}}
{{- end -}}
