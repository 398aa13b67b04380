{{/* What agents are told, whatever they program: what they follow, and where they answer. */}}
{{- define "portolan.agent.from" -}}
{{- if .Values.brain.enabled -}}
- --from=api:{{ .Values.brain.address }}:{{ .Values.brain.port }}
- --api-client-tls-cert=/etc/portolan/tls/tls.crt
- --api-client-tls-key=/etc/portolan/tls/tls.key
- --api-client-tls-ca=/etc/portolan/tls/ca.crt
{{- else -}}
- --from=kube
{{- range .Values.kubeServers }}
- --kube-server={{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "portolan.agent.answers" -}}
- --health-listen=0.0.0.0:10256
- --metrics-listen=127.0.0.1:10249
{{- if .Values.kubeProxyMetrics }}
- --kube-proxy-metrics
{{- end }}
{{- end }}

{{/* Fields of the container that do not depend on what it programs. */}}
{{- define "portolan.agent.container" -}}
env:
  - name: NODE_NAME
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
ports:
  - name: health
    containerPort: 10256
    hostPort: 10256
livenessProbe:
  httpGet:
    path: /livez
    port: health
  initialDelaySeconds: 15
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 10
  timeoutSeconds: 5
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- end }}

{{/* Where nodes follow a brain they have no account at the API server. */}}
{{- define "portolan.agent.account" -}}
{{- if .Values.brain.enabled -}}
automountServiceAccountToken: false
{{- else -}}
serviceAccountName: portolan
{{- end }}
{{- end }}
