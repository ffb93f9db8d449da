package evalhub

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// tenants reads a cluster in which every namespace is that of a tenant, with these hubs and Jobs and nothing else.
type tenants struct {
	client.Reader

	hubs []v1.EvalHub
	jobs []batchv1.Job
}

// Get implements [client.Reader].
func (c tenants) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	namespace, ok := o.(*corev1.Namespace)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, key.Name)
	}
	*namespace = tenantNamed(key.Name)
	return nil
}

// List implements [client.Reader].
func (c tenants) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch all := list.(type) {
	case *v1.EvalHubList:
		all.Items = c.hubs
	case *batchv1.JobList:
		all.Items = c.jobs
	case *corev1.NamespaceList:
		all.Items = []corev1.Namespace{tenantNamed("tenant")}
	}
	return nil
}

func tenantNamed(name string) corev1.Namespace {
	return corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{tenantLabel: ""}}}
}

// TestServedHubs: a tenant has what hubs of several tenants need there, as long as they are not on their way out.
func TestServedHubs(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	single, leaving, here := hubAt("a", "single", 1), hubAt("b", "leaving", 2), hubAt("tenant", "here", 3)
	single.Spec.Tenancy, leaving.DeletionTimestamp = v1.SingleTenancy, &now
	reader := tenants{hubs: []v1.EvalHub{single, leaving, here, hubAt("c", "shared", 4)}}
	group := &controller.Group{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: TenantName}}
	found := Tenants{}.FetchRemoteState(t.Context(), reader, reconcile.ReconcileContext[*controller.Group]{Object: group})
	if found.failure != nil {
		t.Fatal(found.failure)
	}
	var got []string
	for _, hub := range found.hubs {
		got = append(got, hub.names.name)
	}
	if diff := cmp.Diff([]string{"shared"}, got); diff != "" {
		t.Errorf("hubs (-want +got):\n%s", diff)
	}
}

// TestRuns: evaluations count that have neither ended nor are on their way out.
func TestRuns(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Unix(1000, 0))
	job := func(name string, change func(*batchv1.Job)) batchv1.Job {
		j := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: name}}
		change(&j)
		return j
	}
	reader := tenants{jobs: []batchv1.Job{
		job("runs", func(*batchv1.Job) {}),
		job("complete", func(j *batchv1.Job) { j.Status.CompletionTime = &now }),
		job("leaving", func(j *batchv1.Job) { j.DeletionTimestamp = &now }),
	}}
	hub := hubAt("c", "shared", 1)
	var got []string
	for _, one := range (Reconciler{reports: reportKind(newReporter())}).fetchRuns(t.Context(), reader, &hub) {
		got = append(got, one.job.Name)
	}
	if diff := cmp.Diff([]string{"runs"}, got); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
}

// TestReplicas: what the status of a Deployment says counts when it is about the Deployment as it is now.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		generation, observed int64
		replicas, ready      int32
		want                 bool
	}{
		"no pods yet":         {generation: 1, observed: 1},
		"all ready":           {generation: 2, observed: 2, replicas: 2, ready: 2, want: true},
		"some ready":          {generation: 2, observed: 2, replicas: 2, ready: 1},
		"of the spec before":  {generation: 2, observed: 1, replicas: 2, ready: 2},
		"without observation": {generation: 2, replicas: 2, ready: 2, want: true},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: c.generation}, Status: appsv1.DeploymentStatus{
			ObservedGeneration: c.observed, Replicas: c.replicas, ReadyReplicas: c.ready,
		}}
		if got := runs(d); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
	if runs(nil) {
		t.Error("no Deployment runs")
	}
}
