{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "maas.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "maas.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "maas.lease" -}}
{{- $name := include "maas.fullname" . -}}
{{- if eq $name .Chart.Name }}maas-controller.maas.opendatahub.io{{ else }}{{ $name }}{{ end -}}
{{- end }}
