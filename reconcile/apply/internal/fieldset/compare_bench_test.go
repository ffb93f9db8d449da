package fieldset_test

import (
	"bytes"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/fieldset"
)

const plannedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: example.com/web:1
        args: [serve, --port=8080]
        ports: [{name: http, containerPort: 8080, protocol: TCP}]
        env: [{name: A, value: "1"}, {name: B, valueFrom: {configMapKeyRef: {name: web, key: b}}}]
        resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}
        readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 5}
        volumeMounts: [{name: config, mountPath: /etc/web, readOnly: true}]
      - name: proxy
        image: example.com/proxy:1
        ports: [{name: https, containerPort: 8443, protocol: TCP}]
        resources: {requests: {cpu: 10m, memory: 32Mi}}
      volumes: [{name: config, configMap: {name: web}}]
`

// defaultsOfDeployment are values that the API server adds.
const defaultsOfDeployment = `
spec:
  progressDeadlineSeconds: 600
  revisionHistoryLimit: 10
  strategy: {type: RollingUpdate}
  template:
    spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, terminationGracePeriodSeconds: 30}
status: {replicas: 3, readyReplicas: 3, observedGeneration: 1}
`

// BenchmarkCompare compares an unchanged Deployment with its plan: with this package, with the hash of an earlier comparison, and with the
// library of the API server.
func BenchmarkCompare(b *testing.B) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	intent := parse(b, plannedDeployment)
	planned, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: intent})
	if err != nil {
		b.Fatal(err)
	}
	wanted, err := planned.ToFieldSet()
	if err != nil {
		b.Fatal(err)
	}
	raw, err := wanted.ToJSON()
	if err != nil {
		b.Fatal(err)
	}
	live := &appsv1.Deployment{}
	for _, part := range []map[string]any{parse(b, defaultsOfDeployment), intent} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(part, live); err != nil {
			b.Fatal(err)
		}
	}
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "operator", Operation: "Apply", APIVersion: "apps/v1", FieldsV1: metav1.NewFieldsV1(string(raw))}}

	encoder := content.NewEncoder()
	hasher := fieldset.Hasher{Hasher: content.NewHasher(encoder)}
	kind := fieldset.SchemaOf(appsv1.SchemeGroupVersion.WithKind("Deployment"), nil, nil)
	compare := func(b *testing.B, known uint64) fieldset.Verdict {
		b.Helper()
		observed, err := fieldset.Observe(encoder, live, "operator")
		if err != nil {
			b.Fatal(err)
		}
		return hasher.Compare(fieldset.Subject{
			Schema: kind, Set: observed.Own.Set, Intent: intent, Live: observed.Content,
		}, known)
	}
	b.Run("fieldset", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !compare(b, 0).Agrees {
				b.Fatal("an unchanged object differs")
			}
		}
	})
	b.Run("fieldset after a status update", func(b *testing.B) {
		known := compare(b, 0).Projection
		b.ReportAllocs()
		for b.Loop() {
			if !compare(b, known).Known {
				b.Fatal("an unchanged object is unknown")
			}
		}
	})
	b.Run("structured-merge-diff", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			owned := &fieldpath.Set{}
			if err := owned.FromJSON(bytes.NewReader(live.ManagedFields[0].FieldsV1.GetRawBytes())); err != nil {
				b.Fatal(err)
			}
			whole, err := converter.ObjectToTyped(live)
			if err != nil {
				b.Fatal(err)
			}
			difference, err := planned.Compare(whole.ExtractItems(owned))
			if err != nil || !difference.IsSame() || !owned.Equals(wanted) {
				b.Fatal("an unchanged object differs", difference, err)
			}
		}
	})
}
