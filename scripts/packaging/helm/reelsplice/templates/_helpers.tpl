{{- define "reelsplice.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "reelsplice.selector" -}}
app.kubernetes.io/name: reelsplice
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "reelsplice.labels" -}}
{{ include "reelsplice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "reelsplice.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end }}

{{- define "reelsplice.claim" -}}
{{ .Values.releases.claim.existing | default (printf "%s-data" (include "reelsplice.name" .)) }}
{{- end }}

{{- define "reelsplice.tokens" -}}
{{- if .Values.tokens.existingSecret }}{{ .Values.tokens.existingSecret }}
{{- else if .Values.tokens.file }}{{ printf "%s-tokens" (include "reelsplice.name" .) }}
{{- else }}{{ fail "tokens: want existingSecret or file: nobody could use an edge without tokens" }}{{ end }}
{{- end }}

{{- /* Where the releases are, as every command takes it. */ -}}
{{- define "reelsplice.releases" -}}
{{ .Values.releases.url | default "/data/releases" }}
{{- end }}

{{- /* What pods of edges and of the nightly job have in common: the "restricted" standard. */ -}}
{{- define "reelsplice.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "reelsplice.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "reelsplice.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A container of the nightly job: name, image, args, and optionally command. */ -}}
{{- define "reelsplice.step" -}}
- name: {{ .name }}
  image: {{ .image }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  {{- with .command }}
  command: {{- toYaml . | nindent 2 }}
  {{- end }}
  args: {{- toYaml .args | nindent 2 }}
  securityContext: {{- include "reelsplice.security" .root | nindent 4 }}
  env:
  - {name: HOME, value: /tmp} # kubectl has its cache there
  - {name: BUILD, valueFrom: {fieldRef: {fieldPath: "metadata.labels['batch.kubernetes.io/job-name']"}}}
  {{- with .root.Values.releases.secret }}
  envFrom: [{secretRef: {name: {{ . | quote }}}}]
  {{- end }}
  {{- with .root.Values.nightly.resources }}
  resources: {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /data}
{{- end }}
