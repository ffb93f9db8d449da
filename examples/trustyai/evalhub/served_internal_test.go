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
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
)

// tenants reads a cluster in which every namespace is a tenant, with only these hubs and Jobs.
type tenants struct {
	client.Reader

	hubs     []v1.EvalHub
	jobs     []batchv1.Job
	accounts map[client.ObjectKey]corev1.ServiceAccount
	bindings map[client.ObjectKey]rbacv1.RoleBinding
	admitted string // value of the tenant's annotation
	home     string // a namespace that is not a tenant
}

// Get implements [client.Reader].
func (c tenants) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *corev1.Namespace:
		if *o = tenantNamed(key.Name); key.Name == c.home {
			o.Labels = nil
		}
		return nil
	case *corev1.ServiceAccount:
		if account, ok := c.accounts[key]; ok {
			*o = account
			return nil
		}
	case *rbacv1.RoleBinding:
		if binding, ok := c.bindings[key]; ok {
			*o = binding
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, key.Name)
}

// List implements [client.Reader].
func (c tenants) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch all := list.(type) {
	case *v1.EvalHubList:
		all.Items = c.hubs
	case *batchv1.JobList:
		all.Items = c.jobs
	case *corev1.NamespaceList:
		tenant := tenantNamed("tenant")
		tenant.Annotations = map[string]string{hubsAnnotation: c.admitted}
		all.Items = []corev1.Namespace{tenant}
	}
	return nil
}

func tenantNamed(name string) corev1.Namespace {
	return corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{tenantLabel: ""}}}
}

// TestServedHubs checks that a tenant has the objects for the hubs of several tenants, except for hubs that are being
// deleted.
func TestServedHubs(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	single, leaving, here := hubAt("a", "single", 1), hubAt("b", "leaving", 2), hubAt("tenant", "here", 3)
	single.Spec.Tenancy, leaving.DeletionTimestamp = v1.SingleTenancy, &now
	shared := hubAt("c", "shared", 4)
	reader := tenants{hubs: []v1.EvalHub{single, leaving, here, shared}, accounts: accountsOf(single, leaving, here, shared)}
	group := &controller.Group{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: TenantName}}
	found := Tenants{All: true}.FetchRemoteState(t.Context(), reader, reconcile.ReconcileContext[*controller.Group]{Object: group})
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

// accountsOf returns the service accounts of hubs, controlled by them.
func accountsOf(hubs ...v1.EvalHub) map[client.ObjectKey]corev1.ServiceAccount {
	out := map[client.ObjectKey]corev1.ServiceAccount{}
	for i := range hubs {
		key := client.ObjectKey{Namespace: hubs[i].Namespace, Name: accountOf(hubs[i].Name)}
		out[key] = corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			OwnerReferences: []metav1.OwnerReference{{UID: hubs[i].UID, Name: hubs[i].Name, Controller: new(true)}},
		}}
	}
	return out
}

// TestAdmitted checks that a hub gets permissions in the namespace of a tenant only if the tenant admits it, it is or
// was ready, and it owns its service account.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	const served, kept, none = "served", "kept", "none"
	hub := hubAt("c", "hub", 1)
	hub.Spec.Database = &v1.Database{Type: "sqlite"}
	other := hubAt("c", "other", 1)
	foreign := accountsOf(other)[client.ObjectKey{Namespace: "c", Name: "other-service"}]
	key := client.ObjectKey{Namespace: "c", Name: "hub-service"}
	for name, c := range map[string]struct {
		settings         Tenants
		admitted         string
		ready, boundOnce bool
		accounts         map[client.ObjectKey]corev1.ServiceAccount
		want             string
	}{
		"admitted and ready":                      {admitted: "c/hub", ready: true, accounts: accountsOf(hub), want: served},
		"admitted with other hubs":                {admitted: "a/b, c/hub", ready: true, accounts: accountsOf(hub), want: served},
		"admitted and not ready":                  {admitted: "c/hub", accounts: accountsOf(hub), want: kept},
		"admitted and rolled out":                 {admitted: "c/hub", boundOnce: true, accounts: accountsOf(hub), want: served},
		"not admitted":                            {ready: true, accounts: accountsOf(hub), want: none},
		"another hub is admitted":                 {admitted: "c/other", ready: true, accounts: accountsOf(hub), want: none},
		"a hub of that name in another namespace": {admitted: "d/hub", ready: true, accounts: accountsOf(hub), want: none},
		"without the namespace":                   {admitted: "hub", ready: true, accounts: accountsOf(hub), want: none},
		"without an account":                      {admitted: "c/hub", ready: true, want: none},
		"with an account of another owner": {
			admitted: "c/hub", ready: true, accounts: map[client.ObjectKey]corev1.ServiceAccount{key: foreign}, want: none,
		},
		"with an account that a user created": {
			admitted: "c/hub", ready: true, accounts: map[client.ObjectKey]corev1.ServiceAccount{key: {}}, want: none,
		},
		"all are admitted": {settings: Tenants{All: true}, accounts: accountsOf(hub), want: served},
		"all are admitted, foreign account": {
			settings: Tenants{All: true}, accounts: map[client.ObjectKey]corev1.ServiceAccount{key: {}}, want: none,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := hub
			if c.ready {
				one.Status.Ready = "True"
			}
			reader := tenants{hubs: []v1.EvalHub{one}, accounts: c.accounts, admitted: c.admitted, home: "c"}
			if c.boundOnce {
				reader.bindings = map[client.ObjectKey]rbacv1.RoleBinding{
					{Namespace: "tenant", Name: "hub-tenant-job-writer-rb"}: {Subjects: []rbacv1.Subject{account("c", "hub-service")}},
				}
			}
			group := &controller.Group{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: TenantName}}
			found := c.settings.FetchRemoteState(t.Context(), reader, reconcile.ReconcileContext[*controller.Group]{Object: group})
			got := none
			for _, hub := range found.hubs {
				if got = served; hub.unsettled {
					got = kept
				}
			}
			if got != c.want || found.failure != nil {
				t.Errorf("got %s (%v), want %s", got, found.failure, c.want)
			}
		})
	}
}

// TestRuns checks that evaluations count as running until they end or are deleted.
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
	for _, one := range (Reconciler{reports: reportKind(newReporter()), tenants: Tenants{All: true}}).fetchRuns(t.Context(), reader, &hub) {
		got = append(got, one.job.Name)
	}
	if diff := cmp.Diff([]string{"runs"}, got); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
}

// TestReplicas checks that the status of a Deployment counts only if it is of the current generation.
func TestReplicas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		generation, observed int64
		replicas, ready      int32
		want                 bool
	}{
		"no pods yet":          {generation: 1, observed: 1},
		"all ready":            {generation: 2, observed: 2, replicas: 2, ready: 2, want: true},
		"some ready":           {generation: 2, observed: 2, replicas: 2, ready: 1},
		"of the previous spec": {generation: 2, observed: 1, replicas: 2, ready: 2},
		"not observed":         {generation: 2, replicas: 2, ready: 2, want: true},
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
