package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// sampled returns part, or all if RECONCILETEST_CASES=all.
func sampled(part, all int) int {
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		return all
	}
	return part
}

// TestMany runs cases with many owners: no job or orchestrator may remain unfinished, and hubs with many tenants must
// reach steady state.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("creates many objects")
	}
	w := newCluster(t, "LMES,GORCH,EVALHUB")
	for _, s := range scenarios(t) {
		if s.Name == "evalhub-sqlite-full-set" {
			w.configure(t, s.settings())
		}
	}
	t.Run("jobs", func(t *testing.T) { w.manyJobs(t, sampled(10, 60)) })
	t.Run("orchestrators", func(t *testing.T) { w.manyOrchestrators(t, sampled(20, 900)) })
	t.Run("tenants", func(t *testing.T) { w.manyTenants(t, sampled(2, 10), sampled(4, 100)) })
}

// manyJobs checks that each job ends when its pod fails at once.
func (w *cluster) manyJobs(t *testing.T, count int) {
	p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
	for i := range count {
		p.must(p.Create(t.Context(), &v1alpha1.LMEvalJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("job-%d", i)},
			Spec:       v1alpha1.LMEvalJobSpec{Model: "hf", TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}}},
		}))
	}
	failed := []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}},
	}}
	p.eventually("end all jobs", 2*time.Minute, func() error {
		var jobs v1alpha1.LMEvalJobList
		if err := p.List(t.Context(), &jobs, client.InNamespace(p.ns)); err != nil {
			return err
		}
		var errs []error
		for _, job := range jobs.Items {
			if job.Status.State == v1alpha1.JobScheduled {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: job.Name}}
				before := client.MergeFrom(pod.DeepCopy())
				pod.Status.ContainerStatuses = failed
				errs = append(errs, p.Status().Patch(t.Context(), pod, before))
			}
			if s := job.Status; s.State != v1alpha1.JobComplete || s.Reason != v1alpha1.JobFailed || s.Message != "Error" || s.CompleteTime == nil {
				errs = append(errs, fmt.Errorf("job %s is %s", job.Name, text(s)))
			}
		}
		return errors.Join(errs...)
	})
}

// manyOrchestrators checks that each orchestrator waits for its configuration and none fails.
func (w *cluster) manyOrchestrators(t *testing.T, count int) {
	p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
	absent := "absent"
	for i := range count {
		p.must(p.Create(t.Context(), &v1alpha1.GuardrailsOrchestrator{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("go-%d", i)},
			Spec:       v1alpha1.GuardrailsOrchestratorSpec{Replicas: 1, OrchestratorConfig: &absent},
		}))
	}
	p.eventually("make all orchestrators wait", 5*time.Minute, func() error {
		var all v1alpha1.GuardrailsOrchestratorList
		err := p.List(t.Context(), &all, client.InNamespace(p.ns))
		for _, o := range all.Items {
			if o.Status.Phase != "Progressing" {
				err = errors.Join(err, fmt.Errorf("orchestrator %s is %s", o.Name, text(o.Status)))
			}
		}
		return err
	})
	var all v1alpha1.GuardrailsOrchestratorList
	p.must(p.List(t.Context(), &all, client.InNamespace(p.ns)))
	for _, o := range all.Items {
		for _, c := range o.Status.Conditions {
			if c.Type == "ReconcileFailed" && c.Status == metav1.ConditionTrue {
				t.Errorf("orchestrator %s has failed: %s", o.Name, c.Message)
			}
		}
	}
}

// manyTenants checks that all hubs reach steady state in the namespaces of all tenants, that a namespace is cleaned when
// it stops being a tenant while nothing else is written, and that deleting all hubs restores the initial state of the
// cluster.
func (w *cluster) manyTenants(t *testing.T, hubs, tenants int) {
	p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
	for i := range tenants {
		p.must(p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("many-%d", i), Labels: map[string]string{tenantLabel: ""},
		}}))
	}
	before := p.everything(nil)
	gone := map[types.UID]bool{}
	for i := range hubs {
		hub := &v1.EvalHub{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("hub-%d", i)},
			Spec: v1.EvalHubSpec{EvalHubBase: v1.EvalHubBase{
				Database: &v1.Database{Type: "sqlite"}, Providers: []string{}, Collections: []string{},
			}},
		}
		p.must(p.Create(t.Context(), hub))
		gone[hub.UID] = true
	}
	served := func(i int) error {
		const each = 2 // ConfigMaps of a hub in the namespace of a tenant, in addition to the one that lists the hubs
		if found := p.configMaps(fmt.Sprintf("many-%d", i)); len(found) != each*hubs+1 || len(found["evalhub-discovery"].Data) != hubs {
			return fmt.Errorf("tenant %d has %d ConfigMaps", i, len(found))
		}
		return nil
	}
	p.eventually("settle the tenants", 15*time.Minute, func() (err error) {
		for i := range tenants {
			err = errors.Join(err, served(i))
		}
		return err
	})
	p.rest(time.Duration(sampled(3, 60)) * time.Second)

	others := p.versions("many-0")
	begun := time.Now()
	p.label(`null`)
	p.eventually("clean the namespace of a removed tenant", 20*time.Second, func() error {
		return unlike(within("many-0", before), p.everything(nil, client.InNamespace("many-0")))
	})
	t.Logf("the namespace was clean after %v", time.Since(begun).Round(time.Millisecond))
	if err := unlike(others, p.versions("many-0")); err != nil {
		t.Errorf("objects other than those of the removed tenant were written %v", err)
	}

	p.label(`""`)
	p.eventually("serve the tenant again", 20*time.Second, func() error { return served(0) })
	p.must(p.DeleteAllOf(t.Context(), &v1.EvalHub{}, client.InNamespace(p.ns)))
	p.eventually("restore the cluster to its state before the hubs", 15*time.Minute, func() error { return unlike(before, p.everything(gone)) })
}

const tenantLabel = "evalhub.trustyai.opendatahub.io/tenant"

// label sets or removes the label of a tenant.
func (p *player) label(value string) {
	p.Helper()
	p.must(p.Patch(p.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many-0"}},
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+tenantLabel+`":`+value+`}}}`))))
}

// rest waits until the operator has sent no request and the controllers of hubs and tenants have not reconciled for the
// given time, which shows that they do not poll.
func (p *player) rest(long time.Duration) {
	p.Helper()
	log, err := p.env.AuditLog()
	p.must(err)
	p.eventually("rest", 5*time.Minute, func() error {
		p.must(log.Reset())
		before := p.passes("trustyai-evalhub")
		time.Sleep(long)
		sent, err := log.Entries(environment.User(p.user), environment.Asked(func(r requests.Request) bool { return r.Verb != "watch" }))
		if err == nil && len(sent) > 0 {
			err = errors.New(sent.String())
		}
		if more := p.passes("trustyai-evalhub") - before; err == nil && more > 0 {
			err = fmt.Errorf("%v reconciliations without a request", more)
		}
		return err
	})
}

// passes counts the reconciliations of the controllers with a name prefix.
func (p *player) passes(controllers string) (sum float64) {
	p.Helper()
	sum = counted(
		p.T, "controller_runtime_reconcile_total",
		func(labels map[string]string) bool { return strings.HasPrefix(labels["controller"], controllers) },
	)
	if sum == 0 {
		p.Fatalf("the metrics have no reconciliation of %s", controllers)
	}
	return sum
}

// versions returns the resource versions of the objects in all namespaces but one, without objects of the API server and
// cluster-wide RBAC objects.
func (p *player) versions(except string) map[string]any {
	p.Helper()
	out := map[string]any{}
	p.each(func(key string, item unstructured.Unstructured) {
		namespace := item.GetNamespace()
		if namespace == "" && item.GroupVersionKind().Group == rbacv1.GroupName || p.ours(namespace) && namespace != except {
			out[key] = item.GetResourceVersion()
		}
	})
	return out
}

func (p *player) ours(namespace string) bool {
	return namespace == p.ns || namespace == operatorNamespace || strings.HasPrefix(namespace, "many-")
}

// within returns the objects that are in a namespace.
func within(namespace string, all map[string]any) map[string]any {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(key string, _ any) bool { return !strings.Contains(key, "/"+namespace+"/") })
	return out
}

// unlike describes the differences between before and after.
func unlike(before, after map[string]any) error {
	if diff := cmp.Diff(before, after); diff != "" {
		return fmt.Errorf("(-before +after):\n%s", diff[:min(len(diff), 4000)])
	}
	return nil
}

func (p *player) configMaps(namespace string) map[string]corev1.ConfigMap {
	p.Helper()
	var list corev1.ConfigMapList
	p.must(p.List(p.Context(), &list, client.InNamespace(namespace)))
	out := map[string]corev1.ConfigMap{}
	for _, c := range list.Items {
		if c.Name != images.ConfigMap && c.Name != "kube-root-ca.crt" {
			out[c.Name] = c
		}
	}
	return out
}
