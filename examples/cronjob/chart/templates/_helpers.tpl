{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "cronjob.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "cronjob.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "cronjob.lease" -}}
{{- $name := include "cronjob.fullname" . -}}
{{- if eq $name .Chart.Name }}cronjob.example.com{{ else }}{{ $name }}{{ end -}}
{{- end }}
