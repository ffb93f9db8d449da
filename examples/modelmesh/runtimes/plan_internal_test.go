package runtimes

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kserve "github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/etcd"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// inNamespace returns the fetched state of the namespace n with a configuration.
func inNamespace(t *testing.T, config string) *fetched {
	t.Helper()
	parsed, err := settings.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return &fetched{
		namespace: "n", config: parsed, now: time.Unix(1000, 0), current: map[string]*appsv1.Deployment{},
		claims: map[string]bool{}, missing: map[string]error{},
	}
}

// runtimeWith returns the runtime r with a spec given as JSON.
func runtimeWith(t *testing.T, spec string) *Runtime {
	t.Helper()
	r := &Runtime{Name: "r"}
	if err := json.Unmarshal([]byte(`{"multiModel":true,"grpcEndpoint":"port:8001","containers":[{"name":"a"}],`+spec+`}`), &r.Spec); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestServed checks that models are assigned only to runtimes that ModelMesh serves and that are not disabled.
func TestServed(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string][]string{
		`"disabled":false`:   {"_default", "rt:r"},
		`"disabled":true`:    {"_default"},
		`"multiModel":false`: {"_default"},
	} {
		text, err := constraints([]Runtime{*runtimeWith(t, spec)}, false)
		if err != nil {
			t.Fatal(err)
		}
		var parsed map[string]required
		if err := json.Unmarshal(text, &parsed); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name := range parsed {
			got = append(got, name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: constraints (-want +got):\n%s", spec, diff)
		}
	}
}

// TestPods checks that the number of pods of a runtime comes from its spec, its autoscaler or the configuration, and is
// 0 for a runtime without models.
func TestPods(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config, spec string
		annotations  map[string]string
		want         int32
	}{
		"the configuration": {config: "podsPerRuntime: 3\nscaleToZero: {enabled: false}", spec: `"disabled":false`, want: 3},
		"the runtime":       {config: "podsPerRuntime: 3\nscaleToZero: {enabled: false}", spec: `"replicas":1`, want: 1},
		"the autoscaler": {
			config: "podsPerRuntime: 3\nscaleToZero: {enabled: false}", spec: `"replicas":1`, want: 2,
			annotations: map[string]string{annotationClass: "hpa", annotationMin: "2"},
		},
		"no model uses the runtime": {config: "podsPerRuntime: 3\nscaleToZero: {enabled: true}", spec: `"replicas":1`, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := runtimeWith(t, tc.spec)
			r.Annotations = tc.annotations
			w, err := inNamespace(t, tc.config).workload(settings.Environment{EtcdSecret: "etcd"}, r, "d")
			if err != nil {
				t.Fatal(err)
			}
			if got := *w.deployment.Spec.Replicas; got != tc.want {
				t.Errorf("%d pods, want %d", got, tc.want)
			}
		})
	}
}

// TestIdle checks that an unused runtime stops exactly at the end of the configured grace period, in seconds.
func TestIdle(t *testing.T) {
	t.Parallel()
	f := inNamespace(t, "scaleToZero: {enabled: true, gracePeriodSeconds: 60}")
	since, pods := f.now.Add(-59*time.Second), int32(1)
	f.current["d"] = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{idleSince: since.UTC().Format(time.RFC3339)}},
		Spec:       appsv1.DeploymentSpec{Replicas: &pods},
	}
	r := runtimeWith(t, `"disabled":false`)
	if state := f.idle(r, "d"); state.Due || !state.At.Equal(f.now.Add(time.Second)) {
		t.Errorf("before the end of the grace period: %+v", state)
	}
	if f.now = f.now.Add(time.Second); !f.idle(r, "d").Due {
		t.Error("not due at the end of the grace period")
	}
}

// TestRefused checks that the children of a runtime with an invalid spec are kept unchanged, and that those of a
// disabled runtime are deleted.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := inNamespace(t, "")
	f.runtimes = []Runtime{*runtimeWith(t, `"disabled":false`)}
	plan, err := (&Reconciler{env: settings.Environment{Namespace: "n"}}).PlanResources(t.Context(), rcontext{}, &observed{fetched: f, parts: []part{
		{name: "refused", refused: errors.New("no endpoint")}, {name: "disabled"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for i := range plan.Children {
		if c := &plan.Children[i]; c.Existing {
			got["kept"] = append(got["kept"], c.Object.GetName())
		}
	}
	for _, d := range plan.Deletes {
		got["deleted"] = append(got["deleted"], d.Object.GetName())
	}
	want := map[string][]string{"kept": {"refused", "refused"}, "deleted": {"disabled", "disabled"}} // the Deployment and its autoscaler
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestPrefixInEtcd checks that the ModelMesh of each namespace has its own prefix.
func TestPrefixInEtcd(t *testing.T) {
	t.Parallel()
	source := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "etcd"},
		Data:       map[string][]byte{etcd.Key: []byte(`{"endpoints":"http://e:1","root_prefix":"root"}`)},
	}
	for namespace, want := range map[string]string{"a": "root/mm_ns/a", "b": "root/mm_ns/b"} {
		secret, err := derivedSecret(source, namespace)
		if err != nil {
			t.Fatal(err)
		}
		c, err := etcd.Parse(secret)
		if err != nil || c.RootPrefix != want || c.Endpoints != "http://e:1" || secret.Namespace != namespace {
			t.Errorf("%v: got %s in %s, want %s", err, c.RootPrefix, secret.Namespace, want)
		}
	}
}

// ofCluster lists cluster-scoped runtimes; its namespaces have none.
type ofCluster struct {
	client.Reader

	items []kserve.ClusterServingRuntime
}

// List implements [client.Reader].
func (c ofCluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if all, ok := list.(*kserve.ClusterServingRuntimeList); ok {
		all.Items = c.items
	}
	return nil
}

// TestRuntimesOfTheCluster checks that only runtimes that ModelMesh serves and that are not being deleted count.
func TestRuntimesOfTheCluster(t *testing.T) {
	t.Parallel()
	multi, single, now := true, false, metav1.Now()
	of := func(name string, deleted *metav1.Time, multiModel *bool) kserve.ClusterServingRuntime {
		return kserve.ClusterServingRuntime{
			ObjectMeta: metav1.ObjectMeta{Name: name, DeletionTimestamp: deleted}, Spec: kserve.ServingRuntimeSpec{MultiModel: multiModel},
		}
	}
	var reader reconcile.Reader = ofCluster{items: []kserve.ClusterServingRuntime{
		of("served", nil, &multi), of("leaving", &now, &multi), of("of KServe", nil, &single), of("unsaid", nil, nil),
	}}
	f := inNamespace(t, "")
	f.fetchRuntimes(t.Context(), reader, &controller.Group{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: Name}}, true)
	if f.problem != nil || len(f.runtimes) != 1 || f.runtimes[0].Name != "served" {
		t.Errorf("%v: runtimes %+v, want the served one", f.problem, f.runtimes)
	}
}
