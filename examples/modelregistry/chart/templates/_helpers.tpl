{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "model-registry-operator.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "model-registry-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "model-registry-operator.lease" -}}
{{- $name := include "model-registry-operator.fullname" . -}}
{{- if eq $name .Chart.Name }}85f368d1.opendatahub.io{{ else }}{{ $name }}{{ end -}}
{{- end }}
