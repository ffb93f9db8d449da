package runtimes_test

import (
	"testing"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/runtimes"
)

// Parts of the expected Deployment.
const (
	deploymentHead = `
replicas: 2
strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 75%, maxUnavailable: 15%}}
selector: {matchLabels: {modelmesh-service: modelmesh-serving, name: modelmesh-serving-r}}
template:
  metadata:
    labels:
      modelmesh-service: modelmesh-serving
      name: modelmesh-serving-r
      app.kubernetes.io/instance: modelmesh-controller
      app.kubernetes.io/managed-by: modelmesh-controller
      app.kubernetes.io/name: modelmesh-controller`
	scraped = `
    annotations: {prometheus.io/path: /metrics, prometheus.io/port: "2112", prometheus.io/scheme: https, prometheus.io/scrape: "true"}`
	processors = `
    affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
      {matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [amd64, arm64, s390x]}]}]}}}
    terminationGracePeriodSeconds: 90`
	preStop = `
      lifecycle: {preStop: {httpGet: {path: /prestop, port: 8090}}}
      securityContext: {capabilities: {drop: [ALL]}}`
	helper = `
      image: kserve/modelmesh-runtime-adapter:latest
      resources: {requests: {cpu: 50m, memory: 96Mi}, limits: {cpu: 2, memory: 512Mi}}` + preStop
	mm = `
    - name: mm
      image: kserve/modelmesh:latest
      resources: {requests: {cpu: 300m, memory: 448Mi}, limits: {cpu: 3, memory: 448Mi}}
      readinessProbe: {httpGet: {path: /ready, port: 8089}, initialDelaySeconds: 5, periodSeconds: 5, timeoutSeconds: 1}
      livenessProbe: {httpGet: {path: /live, port: 8089}, initialDelaySeconds: 90, periodSeconds: 30, timeoutSeconds: 5, failureThreshold: 2}
      lifecycle: {preStop: {exec: {command: [/opt/kserve/mmesh/stop.sh, wait]}}}
      securityContext: {capabilities: {drop: [ALL]}}`
	firstEnv = `
      - {name: MM_SERVICE_NAME, value: modelmesh-serving}
      - {name: MM_SVC_GRPC_PORT, value: "8033"}
      - {name: WKUBE_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
      - {name: WKUBE_POD_IPADDR, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
      - {name: MM_LOCATION, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
      - {name: KV_STORE, value: "etcd:/opt/kserve/mmesh/etcd/etcd_connection"}`
	paths = `
      - {name: MM_TYPE_CONSTRAINTS_PATH, value: /etc/watson/mmesh/config/type_constraints}
      - {name: MM_DATAPLANE_CONFIG_PATH, value: /etc/watson/mmesh/config/dataplane_api_config}`
	tlsEnv = `
      - {name: MM_TLS_KEY_CERT_PATH, value: /opt/kserve/mmesh/tls/tls.crt}
      - {name: MM_TLS_PRIVATE_KEY_PATH, value: /opt/kserve/mmesh/tls/tls.key}
      - {name: MM_TLS_CLIENT_AUTH, value: REQUIRED}
      - {name: MM_TLS_TRUST_CERT_PATH, value: "/opt/kserve/mmesh/tls/tls.crt,/opt/kserve/mmesh/tls/ca.crt"}`
	meshMounts = `
      - {name: tc-config, mountPath: /etc/watson/mmesh/config}
      - {name: etcd-config, mountPath: /opt/kserve/mmesh/etcd, readOnly: true}`
)

// TestPods compares the Deployment of a runtime with that of the product.
func TestPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config, spec string
		annotations  map[string]string
		claims       []string
		ca           bool
		want         string
	}{
		"a built-in server": {
			config: "restProxy: {enabled: false}\n",
			spec: `"supportedModelFormats":[{"name":"onnx","version":"1","autoSelect":true}],"protocolVersions":["grpc-v2"],
				"builtInAdapter":{"serverType":"triton","runtimeManagementPort":8001,"memBufferBytes":134217728,"modelLoadingTimeoutMillis":90000,
				"env":[{"name":"MINE","value":"x"},{"name":"LOADTIME_TIMEOUT","value":"1"}]},
				"containers":[{"name":"triton","image":"triton:23.04","resources":{"limits":{"memory":"1Gi"}}}]`,
			annotations: map[string]string{"maxLoadingConcurrency": "2", "perModelConcurrencyLimit": "3"},
			want: deploymentHead + scraped + `
  spec:` + processors + `
    containers:
    - name: triton-adapter
      command: [/opt/app/triton-adapter]` + helper + `
      env:
      - {name: ADAPTER_PORT, value: "8085"}
      - {name: RUNTIME_PORT, value: "8001"}
      - {name: RUNTIME_DATA_ENDPOINT, value: "port:8001"}
      - {name: CONTAINER_MEM_REQ_BYTES, valueFrom: {resourceFieldRef: {containerName: triton, resource: requests.memory}}}
      - {name: MEM_BUFFER_BYTES, value: "134217728"}
      - {name: LOADTIME_TIMEOUT, value: "1"}
      - {name: USE_EMBEDDED_PULLER, value: "true"}
      - {name: RUNTIME_VERSION, value: "23.04"}
      - {name: LOADING_CONCURRENCY, value: "2"}
      - {name: LIMIT_PER_MODEL_CONCURRENCY, value: "3"}
      - {name: MINE, value: x}
      volumeMounts:
      - {name: models-dir, mountPath: /models}
      - {name: storage-config, mountPath: /storage-config, readOnly: true}
    - name: triton
      image: triton:23.04
      resources: {limits: {memory: 1Gi}}` + preStop + `
      volumeMounts: [{name: models-dir, mountPath: /models}]` + mm + `
      ports: [{name: grpc, containerPort: 8033}, {name: prometheus, containerPort: 2112}]
      env:` + firstEnv + `
      - {name: MM_METRICS, value: "prometheus:port=2112;scheme=https"}
      - {name: SHUTDOWN_TIMEOUT_MS, value: "90000"}
      - {name: INTERNAL_GRPC_PORT, value: "8085"}
      - {name: MM_SVC_GRPC_MAX_MSG_SIZE, value: "16777216"}
      - {name: MM_KVSTORE_PREFIX, value: mm}
      - {name: MM_DEFAULT_VMODEL_OWNER, value: ksp}
      - {name: MM_LABELS, value: "mt:onnx,mt:onnx:1,pv:grpc-v2,rt:r"}` + paths + `
      volumeMounts:` + meshMounts + `
    volumes:
    - {name: models-dir, emptyDir: {sizeLimit: 1536Mi}}
    - {name: storage-config, secret: {secretName: storage-config}}
    - {name: tc-config, configMap: {name: tc-config}}
    - {name: etcd-config, secret: {secretName: model-serving-etcd}}
`,
		},
		"a server of the user's with everything": {
			config: `
metrics: {enabled: false}
enableAccessLogging: true
payloadProcessors: [a, b]
serviceAccountName: account
imagePullSecrets: [{name: first}]
tls: {secretName: certificates, clientAuth: REQUIRED}
runtimePodLabels: {team: mine}
runtimePodAnnotations: {note: x}
internalModelMeshEnvVars: [{name: SHUTDOWN_TIMEOUT_MS, value: "1"}, {name: MORE, value: x}]
`,
			spec: `"grpcEndpoint":"unix:/run/s.sock","grpcDataEndpoint":"port:8001","nodeSelector":{"a":"b"},"tolerations":[{"key":"t"}],
				"imagePullSecrets":[{"name":"second"},{"name":"first"}],
				"volumes":[{"name":"own"}],"containers":[{"name":"srv","image":"srv:1","securityContext":{"runAsUser":1},
				"volumeMounts":[{"name":"own","mountPath":"/own"}]}]`,
			claims: []string{"claim"}, ca: true,
			want: deploymentHead + `
      team: mine
    annotations: {note: x}
  spec:` + processors + `
    serviceAccountName: account
    nodeSelector: {a: b}
    tolerations: [{key: t}]
    imagePullSecrets: [{name: first}, {name: second}]
    containers:
    - name: rest-proxy
      image: kserve/rest-proxy:latest
      resources: {requests: {cpu: 50m, memory: 96Mi}, limits: {cpu: 1, memory: 512Mi}}
      ports: [{name: http, containerPort: 8008}]
      env:
      - {name: REST_PROXY_LISTEN_PORT, value: "8008"}
      - {name: REST_PROXY_GRPC_PORT, value: "8033"}
      - {name: REST_PROXY_USE_TLS, value: "true"}
      - {name: REST_PROXY_GRPC_MAX_MSG_SIZE_BYTES, value: "16777216"}
      - {name: REST_PROXY_SKIP_VERIFY, value: "false"}` + tlsEnv + `
      volumeMounts: [{name: tls-certs, mountPath: /opt/kserve/mmesh/tls, readOnly: true}]
    - name: srv
      image: srv:1
      lifecycle: {preStop: {httpGet: {path: /prestop, port: 8090}}}
      securityContext: {runAsUser: 1}
      volumeMounts:
      - {name: models-dir, mountPath: /models}
      - {name: claim, mountPath: /pvc_mounts/claim, readOnly: true}
      - {name: own, mountPath: /own}
      - {name: domain-socket, mountPath: /run}` + mm + `
      ports: [{name: grpc, containerPort: 8033}]
      env:` + firstEnv + `
      - {name: MM_METRICS, value: disabled}
      - {name: SHUTDOWN_TIMEOUT_MS, value: "1"}
      - {name: MORE, value: x}
      - {name: INTERNAL_SERVING_GRPC_PORT, value: "8001"}
      - {name: INTERNAL_GRPC_PORT, value: "8086"}
      - {name: MM_LOG_EACH_INVOKE, value: "true"}
      - {name: MM_SVC_GRPC_MAX_MSG_SIZE, value: "16777216"}
      - {name: MM_KVSTORE_PREFIX, value: mm}
      - {name: MM_DEFAULT_VMODEL_OWNER, value: ksp}
      - {name: MM_PAYLOAD_PROCESSORS, value: a b}
      - {name: MM_LABELS, value: "rt:r"}` + paths + tlsEnv + `
      volumeMounts:
      - {name: domain-socket, mountPath: /run}` + meshMounts + `
      - {name: tls-certs, mountPath: /opt/kserve/mmesh/tls, readOnly: true}
    - name: puller
      command: [/opt/app/puller]` + helper + `
      ports: [{name: grpc, containerPort: 8086}]
      env:
      - {name: PORT, value: "8086"}
      - {name: MODEL_SERVER_ENDPOINT, value: "unix:/run/s.sock"}
      - {name: ROOT_MODEL_DIR, value: /models}
      - {name: STORAGE_CONFIG_DIR, value: /storage-config}
      - {name: PVC_MOUNTS_DIR, value: /pvc_mounts}
      volumeMounts:
      - {name: models-dir, mountPath: /models}
      - {name: storage-config, mountPath: /storage-config, readOnly: true}
      - {name: domain-socket, mountPath: /run}
      - {name: claim, mountPath: /pvc_mounts/claim, readOnly: true}
    volumes:
    - {name: own}
    - {name: models-dir, emptyDir: {sizeLimit: 0}}
    - {name: domain-socket, emptyDir: {}}
    - {name: storage-config, secret: {secretName: storage-config}}
    - {name: claim, persistentVolumeClaim: {claimName: claim, readOnly: true}}
    - {name: tc-config, configMap: {name: tc-config}}
    - {name: etcd-config, secret: {secretName: model-serving-etcd}}
    - {name: tls-certs, secret: {secretName: certificates}}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, test.config, runtime(t, test.spec))
			in.Claims, in.CA, in.Annotations = test.claims, test.ca, test.annotations
			got, err := runtimes.Deployment(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := expect.Diff(t, test.want, got.Spec); diff != "" {
				t.Errorf("Deployment (-want +got):\n%s", diff)
			}
		})
	}
}
