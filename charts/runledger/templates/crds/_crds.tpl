{{/*
They stay at `helm uninstall`: with a definition, Kubernetes deletes every resource of its kind.
*/}}
{{- define "runledger.crds.meta" -}}
{{- include "runledger.meta" (dict "root" . "component" "crds" "annotations" (dict "helm.sh/resource-policy" "keep")) -}}
{{- end -}}

{{/*
The schema of a duration between two bounds. CEL reads no days: the controller checks the upper
bound of a duration that has them. Takes (list "10s" "8784h" "from 10s to 366d").
*/}}
{{- /* Of a text that Postgres must hold: U+0000 is no character of it. */}}
{{- define "runledger.crds.text" -}}
pattern: '^[^\x00]*$'
{{- end -}}

{{- define "runledger.crds.duration" -}}
type: string
maxLength: 20
x-kubernetes-validations:
  - rule: >-
      self.matches('^([0-9]{1,4}d)?([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$') && self != '' &&
      (self.matches('^0*[1-9][0-9]*d') ||
      (!self.contains('d') && duration(self) >= duration('{{ index . 0 }}') && duration(self) <= duration('{{ index . 1 }}')))
    message: must be a duration {{ index . 2 }}, such as 45s, 10m, 1h30m or 2d
{{- end -}}

{{/* The same, or the word never. */}}
{{- define "runledger.crds.durationOrNever" -}}
type: string
maxLength: 20
x-kubernetes-validations:
  - rule: >-
      self == 'never' || (self.matches('^([0-9]{1,4}d)?([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$') && self != '' &&
      (self.matches('^0*[1-9][0-9]*d') ||
      (!self.contains('d') && duration(self) >= duration('{{ index . 0 }}') && duration(self) <= duration('{{ index . 1 }}'))))
    message: must be a duration {{ index . 2 }}, such as 45s, 10m, 1h30m or 2d
{{- end -}}

{{/* The schema of conditions, as Kubernetes has it. */}}
{{- define "runledger.crds.conditions" -}}
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [type]
items:
  type: object
  required: [type, status, reason, message, lastTransitionTime]
  properties:
    type: { description: The condition., type: string, maxLength: 316 }
    status: { description: 'True, False or Unknown.', type: string, enum: ['True', 'False', Unknown] }
    reason: { description: The reason in one word., type: string, minLength: 1, maxLength: 1024 }
    message: { description: The reason in one sentence., type: string, maxLength: 32768 }
    lastTransitionTime: { description: Time of the last change of status., type: string, format: date-time }
    observedGeneration: { description: The generation that it describes., type: integer, format: int64 }
{{- end -}}
