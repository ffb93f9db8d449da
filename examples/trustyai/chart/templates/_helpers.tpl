{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "trustyai-service-operator.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "trustyai-service-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "trustyai-service-operator.lease" -}}
{{- $name := include "trustyai-service-operator.fullname" . -}}
{{- if eq $name .Chart.Name }}b7e9931f.trustyai.opendatahub.io{{ else }}{{ $name }}{{ end -}}
{{- end }}
