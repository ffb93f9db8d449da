{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "grafana-operator.fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc 54 | trimSuffix "-" -}}
{{- end }}

{{- define "grafana-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "grafana-operator.lease" -}}
{{- $name := include "grafana-operator.fullname" . -}}
{{- if eq $name .Chart.Name }}f75f3bba.integreatly.org{{ else }}{{ $name }}{{ end -}}
{{- end }}
