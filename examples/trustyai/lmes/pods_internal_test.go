package lmes

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/expect"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// TestPod compares the pod of a job with that of the product.
func TestPod(t *testing.T) {
	t.Parallel()
	defaults := settings{pullPolicy: corev1.PullIfNotPresent, maxBatch: 24, defaultBatch: "8", port: defaultPort, detectDevice: true}
	for name, test := range map[string]struct {
		spec     string
		settings func(*settings)
		bundle   bool
		want     string
	}{
		"the smallest": {
			spec: `{model: hf, modelArgs: [{name: pretrained, value: google/flan-t5-base}], taskList: {taskNames: [task1]}}`,
			want: `
restartPolicy: Never
securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
initContainers:
- name: driver
  image: driver:1
  imagePullPolicy: IfNotPresent
  command: [/bin/driver, --copy, /opt/app-root/src/bin/driver]
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  volumeMounts: [{name: shared, mountPath: /opt/app-root/src/bin}]
containers:
- name: main
  image: main:1
  imagePullPolicy: IfNotPresent
  command: [/opt/app-root/src/bin/driver, --output-path, /opt/app-root/src/output, --detect-device, --]
  args: [python, -m, lm_eval, --output_path, /opt/app-root/src/output, --model, hf, --model_args, pretrained=google/flan-t5-base,
    --tasks, task1, --include_path, /opt/app-root/src/my_tasks, --batch_size, "8"]
  ports: [{containerPort: 18080, protocol: TCP}]
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  volumeMounts: [{name: shared, mountPath: /opt/app-root/src/bin}]
  env:
  - {name: HF_HUB_DISABLE_TELEMETRY, value: "1"}
  - {name: DO_NOT_TRACK, value: "1"}
  - {name: TRUST_REMOTE_CODE, value: "0"}
  - {name: HF_DATASETS_TRUST_REMOTE_CODE, value: "0"}
  - {name: UNITXT_ALLOW_UNVERIFIED_CODE, value: "False"}
  - {name: HF_ALLOW_CODE_EVAL, value: "0"}
  - {name: HF_DATASETS_OFFLINE, value: "1"}
  - {name: HF_HUB_OFFLINE, value: "1"}
  - {name: TRANSFORMERS_OFFLINE, value: "1"}
  - {name: HF_EVALUATE_OFFLINE, value: "1"}
  - {name: UNITXT_USE_ONLY_LOCAL_CATALOGS, value: "True"}
volumes: [{name: shared, emptyDir: {}}]
`,
		},
		"everything": {
			spec: `
model: local-completions
modelArgs: [{name: base_url, value: "https://model"}]
taskList: {taskNames: [task1]}
allowOnline: true
allowCodeExecution: true
pod:
  affinity: {nodeAffinity: {}}
  securityContext: {runAsUser: 1}
  volumes: [{name: mine}]
  sideCars: [{name: side, image: side:1}]
  container:
    env: [{name: MINE, value: x}, {name: TRUST_REMOTE_CODE, value: mine}]
    volumeMounts: [{name: mine, mountPath: /mine}]
    resources: {limits: {cpu: 1}}
    securityContext: {runAsUser: 2}
outputs:
  pvcManaged: {size: 1Gi}
  pvcName: unused
  oci: {registry: {name: oci, key: registry}, repository: r, subject: s, dockerConfigJson: {name: oci, key: docker}, verifySSL: false}
offline:
  storage:
    pvcName: models
    s3: {accessKeyId: {name: s3, key: id}, secretAccessKey: {name: s3, key: secret}, bucket: {name: s3, key: bucket},
      region: {name: s3, key: region}, endpoint: {name: s3, key: endpoint}, path: p, caBundle: {name: s3, key: ca.pem}}
`,
			settings: func(s *settings) { s.port, s.detectDevice, s.permitOnline, s.permitExecution = 9000, false, true, true },
			bundle:   true,
			want: `
restartPolicy: Never
affinity: {nodeAffinity: {}}
securityContext: {runAsUser: 1}
initContainers:
- name: driver
  image: driver:1
  imagePullPolicy: IfNotPresent
  command: [/bin/driver, --copy, /opt/app-root/src/bin/driver]
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
  volumeMounts: [{name: shared, mountPath: /opt/app-root/src/bin}]
containers:
- name: main
  image: main:1
  imagePullPolicy: IfNotPresent
  command: [/opt/app-root/src/bin/driver, --output-path, /opt/app-root/src/output, --download-assets-s3, --upload-to-oci,
    --listen-port, "9000", --allow-online, --]
  args: [python, -m, lm_eval, --output_path, /opt/app-root/src/output, --model, local-completions, --model_args, "base_url=https://model",
    --tasks, task1, --include_path, /opt/app-root/src/my_tasks, --batch_size, "8", --confirm_run_unsafe_code]
  ports: [{containerPort: 9000, protocol: TCP}]
  resources: {limits: {cpu: 1}}
  securityContext: {runAsUser: 2}
  volumeMounts:
  - {name: shared, mountPath: /opt/app-root/src/bin}
  - {name: outputs, mountPath: /opt/app-root/src/output}
  - {name: offline, mountPath: /opt/app-root/src/hf_home}
  - {name: certificates-s3, mountPath: /etc/certificates/s3, readOnly: true}
  - {name: docker-config, mountPath: /tmp/.docker, readOnly: true}
  - {name: odh-ca-bundle, mountPath: /etc/ssl/certs/odh-ca-bundle.crt, subPath: merged-ca-bundle.crt, readOnly: true}
  - {name: mine, mountPath: /mine}
  env:
  - {name: MINE, value: x}
  - {name: HF_HUB_DISABLE_TELEMETRY, value: "1"}
  - {name: DO_NOT_TRACK, value: "1"}
  - {name: TRUST_REMOTE_CODE, value: "1"}
  - {name: HF_DATASETS_TRUST_REMOTE_CODE, value: "1"}
  - {name: UNITXT_ALLOW_UNVERIFIED_CODE, value: "True"}
  - {name: HF_ALLOW_CODE_EVAL, value: "1"}
  - {name: AWS_ACCESS_KEY_ID, valueFrom: {secretKeyRef: {name: s3, key: id}}}
  - {name: AWS_SECRET_ACCESS_KEY, valueFrom: {secretKeyRef: {name: s3, key: secret}}}
  - {name: AWS_DEFAULT_REGION, valueFrom: {secretKeyRef: {name: s3, key: region}}}
  - {name: AWS_S3_BUCKET, valueFrom: {secretKeyRef: {name: s3, key: bucket}}}
  - {name: AWS_S3_ENDPOINT, valueFrom: {secretKeyRef: {name: s3, key: endpoint}}}
  - {name: AWS_PATH, value: p}
  - {name: S3_VERIFY_SSL, value: "true"}
  - {name: AWS_CA_BUNDLE, value: /etc/certificates/s3/ca.pem}
  - {name: OCI_REGISTRY, valueFrom: {secretKeyRef: {name: oci, key: registry}}}
  - {name: OCI_REPOSITORY, value: r}
  - {name: OCI_TAG, value: job}
  - {name: OCI_SUBJECT, value: s}
  - {name: OCI_VERIFY_SSL, value: "false"}
  - {name: REQUESTS_CA_BUNDLE, value: /etc/ssl/certs/odh-ca-bundle.crt}
- {name: side, image: "side:1"}
volumes:
- {name: shared, emptyDir: {}}
- {name: outputs, persistentVolumeClaim: {claimName: job-pvc}}
- {name: offline, persistentVolumeClaim: {claimName: models}}
- {name: certificates-s3, secret: {secretName: s3, items: [{key: ca.pem, path: ca.pem}]}}
- {name: docker-config, secret: {secretName: oci, items: [{key: docker, path: config.json}]}}
- {name: odh-ca-bundle, configMap: {name: job-ca-bundle}}
- {name: mine}
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &v1alpha1.LMEvalJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job"}}
			if err := yaml.UnmarshalStrict([]byte(test.spec), &job.Spec); err != nil {
				t.Fatal(err)
			}
			with := defaults
			if test.settings != nil {
				test.settings(&with)
			}
			pod := podOf{job: job, settings: with, mainImage: "main:1", driverImage: "driver:1", bundle: test.bundle}.build()
			if diff := expect.Diff(t, test.want, pod.Spec); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}
