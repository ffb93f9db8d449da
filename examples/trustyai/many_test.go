package main

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// drawn is a part of what is played whole when all cases are asked for.
func drawn(part, whole int) int {
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		return whole
	}
	return part
}

// TestMany plays what needs many owners: no job and no orchestrator may stay behind, and hubs with many tenants rest.
func TestMany(t *testing.T) {
	w := newWorld(t, "LMES,GORCH,EVALHUB")
	for _, s := range scenarios(t) {
		if s.Name == "evalhub-sqlite-full-set" {
			w.configure(t, s.settings())
		}
	}
	t.Run("jobs", func(t *testing.T) { w.manyJobs(t, drawn(10, 60)) })
	t.Run("orchestrators", func(t *testing.T) { w.manyOrchestrators(t, drawn(20, 900)) })
	t.Run("tenants", func(t *testing.T) { w.manyTenants(t, drawn(2, 10), drawn(4, 100)) })
}

// manyJobs: the pod of each fails at once, and each job ends.
func (w *world) manyJobs(t *testing.T, count int) {
	p := &player{world: w, T: t, ns: w.env.Namespace(t)}
	for i := range count {
		p.must(p.Create(t.Context(), &v1alpha1.LMEvalJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("job-%d", i)},
			Spec:       v1alpha1.LMEvalJobSpec{Model: "hf", TaskList: v1alpha1.TaskList{TaskNames: []v1alpha1.TaskName{"task1"}}},
		}))
	}
	failed := []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}}}}
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

// manyOrchestrators: each waits for its configuration, and none has failed.
func (w *world) manyOrchestrators(t *testing.T, count int) {
	p := &player{world: w, T: t, ns: w.env.Namespace(t)}
	absent := "absent"
	for i := range count {
		p.must(p.Create(t.Context(), &v1alpha1.GuardrailsOrchestrator{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("go-%d", i)},
			Spec:       v1alpha1.GuardrailsOrchestratorSpec{Replicas: 1, OrchestratorConfig: &absent},
		}))
	}
	p.eventually("let all orchestrators wait", 5*time.Minute, func() error {
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

// manyTenants: all hubs settle in the namespaces of all tenants and rest. A tenant that leaves is cleaned, and nothing else changes.
func (w *world) manyTenants(t *testing.T, hubs, tenants int) {
	p := &player{world: w, T: t, ns: w.env.Namespace(t)}
	for i := range tenants {
		p.must(p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("many-%d", i), Labels: map[string]string{"evalhub.trustyai.opendatahub.io/tenant": ""},
		}}))
	}
	for i := range hubs {
		p.must(p.Create(t.Context(), &v1.EvalHub{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: fmt.Sprintf("hub-%d", i)},
			Spec:       v1.EvalHubSpec{EvalHubBase: v1.EvalHubBase{Database: &v1.Database{Type: "sqlite"}, Providers: []string{}, Collections: []string{}}},
		}))
	}
	const each = 2 // ConfigMaps of a hub in the namespace of a tenant, besides the one by which hubs are found
	p.eventually("settle the tenants", 5*time.Minute, func() (err error) {
		for i := range tenants {
			if found := p.configMaps(fmt.Sprintf("many-%d", i)); len(found) != each*hubs+1 || len(found["evalhub-discovery"].Data) != hubs {
				err = errors.Join(err, fmt.Errorf("tenant %d has %d ConfigMaps", i, len(found)))
			}
		}
		return err
	})
	log, err := w.env.AuditLog()
	p.must(err)
	p.eventually("rest", time.Minute, func() error {
		p.must(log.Reset())
		time.Sleep(time.Duration(drawn(3, 60)) * time.Second)
		sent, err := log.Entries(reconciletest.User(w.user), reconciletest.Asked(func(r reconciletest.Request) bool { return r.Verb != "watch" }))
		if err == nil && len(sent) > 0 {
			err = errors.New(sent.String())
		}
		return err
	})
	others := p.configMaps("many-1")
	p.must(p.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many-0"}},
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"evalhub.trustyai.opendatahub.io/tenant":null}}}`))))
	p.eventually("clean the namespace that is no tenant's any more", 20*time.Second, func() error {
		if left := p.configMaps("many-0"); len(left) > 0 {
			return fmt.Errorf("%d ConfigMaps are left", len(left))
		}
		return nil
	})
	for name, now := range p.configMaps("many-1") {
		if now.ResourceVersion != others[name].ResourceVersion {
			t.Errorf("ConfigMap %s of another tenant was written", name)
		}
	}
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
