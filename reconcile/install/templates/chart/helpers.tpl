{{/* The name of all objects: that of the release, with that of the chart unless it is in it. */}}
{{- define "[[ .Chart ]].fullname" -}}
{{- $name := printf "%s-%s" .Release.Name .Chart.Name -}}
{{- if contains .Chart.Name .Release.Name }}{{ $name = .Release.Name }}{{ end -}}
{{- .Values.fullnameOverride | default $name | trunc [[ .MaxName ]] | trimSuffix "-" -}}
{{- end }}

{{- define "[[ .Chart ]].image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}
[[- if .Lease ]]

{{- define "[[ .Chart ]].lease" -}}
{{- $name := include "[[ .Chart ]].fullname" . -}}
{{- if eq $name .Chart.Name }}[[ .Lease ]]{{ else }}{{ $name }}{{ end -}}
{{- end }}
[[- end ]]
