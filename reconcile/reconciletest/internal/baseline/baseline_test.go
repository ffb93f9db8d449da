package baseline_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/baseline"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

// keeper creates several objects for each ConfigMap named shop, reads two others, and updates one child when the color changes.
func keeper(mgr manager.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			c := mgr.GetClient()
			var owner, input corev1.ConfigMap
			if err := c.Get(ctx, request.NamespacedName, &owner); err != nil || owner.Name != "shop" {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "input"}, &input); err != nil {
				return reconcile.Result{}, err
			}
			held := &corev1.Secret{ObjectMeta: named("held")}
			held.Finalizers = []string{"example.com/hold"}
			drawn := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "drawn-"}}
			job := &batchv1.Job{ObjectMeta: named("once")}
			pod := &corev1.Pod{ObjectMeta: named("once"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}}
			if owner.Data["color"] == "red" {
				for _, child := range []client.Object{&corev1.Secret{ObjectMeta: named("kept")}, &corev1.Secret{ObjectMeta: named("shared")}, held, drawn, job, pod} {
					if err := c.Create(ctx, child); client.IgnoreAlreadyExists(err) != nil {
						return reconcile.Result{}, err
					}
				}
			}
			var kept corev1.Secret
			if err := mgr.GetAPIReader().Get(ctx, client.ObjectKey{Namespace: "default", Name: "kept"}, &kept); err != nil {
				return reconcile.Result{}, err
			}
			if string(kept.Data["color"]) == owner.Data["color"] {
				return reconcile.Result{}, nil
			}
			kept.Data = map[string][]byte{"color": []byte(owner.Data["color"])}
			return reconcile.Result{}, c.Update(ctx, &kept)
		}))
}

// known returns the baselines of the keeper.
func known(t *testing.T, change func(s *description.System)) *baseline.Known {
	t.Helper()
	system := description.System{
		Setup:  keeper,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"color": "red"}}},
		Change: func(owner client.Object) { owner.(*corev1.ConfigMap).Data = map[string]string{"color": "blue"} },
		Given: []client.Object{
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "input"}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}},
		},
		Outlives: []string{"Secret default/shared"},
	}
	change(&system)
	prepared, err := description.Prepare(system)
	if err != nil {
		t.Fatal(err)
	}
	out := &baseline.Known{System: prepared}
	for _, steps := range [][]description.Step{{description.StepA}, {description.StepA, description.StepB}} {
		r := run.Execute(t.Context(), prepared, run.Spec{Steps: steps, At: len(steps) - 1}, "")
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		r.Last.End()
		if len(steps) == 1 {
			out.Probe = r.Cluster
		}
		out.Baselines = append(out.Baselines, baseline.Of(steps, r))
	}
	return out
}

// TestChildren checks which children are targets of interference: no owners, and no objects that run once, are held, are shared, or have a random name.
func TestChildren(t *testing.T) {
	t.Parallel()
	children := known(t, func(*description.System) {}).Children()
	if len(children) != 1 || children[0].String() != "Secret default/kept" || !children[0].Updated {
		t.Fatalf("children: %v", children)
	}
	if children[0].Sent["kind"] != "Secret" || children[0].Sent["data"] != nil {
		t.Errorf("sent %v, want the content of the create", children[0].Sent)
	}
	shared := known(t, func(s *description.System) { s.Outlives = nil }).Children()
	if len(shared) != 2 || shared[1].String() != "Secret default/shared" || shared[1].Updated {
		t.Errorf("an object that does not outlive its owner is missing: %v", shared)
	}
}

// TestInputs checks that interference changes given objects that the operator does not write, except namespaces.
func TestInputs(t *testing.T) {
	t.Parallel()
	names := func(targets []baseline.Target) (out []string) {
		for _, one := range targets {
			out = append(out, one.String())
		}
		return out
	}
	k := known(t, func(*description.System) {})
	if diff := cmp.Diff([]string{"ConfigMap default/input", "ServiceAccount default/robot"}, names(k.Inputs())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	k = known(t, func(s *description.System) {
		s.Given = append(s.Given, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}) // the operator updates it
	})
	if diff := cmp.Diff([]string{"ConfigMap default/input", "ServiceAccount default/robot"}, names(k.Inputs())); diff != "" {
		t.Errorf("with one that is written (-want +got):\n%s", diff)
	}
	if children := k.Children(); len(children) != 0 {
		t.Errorf("a given object is a child: %v", children)
	}
}

// TestOf checks that a baseline records the state after its last step.
func TestOf(t *testing.T) {
	t.Parallel()
	baselines := known(t, func(*description.System) {}).Baselines
	var live []string
	for _, c := range baselines[1].Live {
		live = append(live, c.String())
	}
	if diff := cmp.Diff([]string{"get configmaps default/input#1", "get secrets default/kept#1"}, live); diff != "" {
		t.Errorf("live reads (-want +got):\n%s", diff)
	}
	if len(baselines[1].Calls) != 3 || baselines[1].Calls[2].String() != "update secrets default/kept#1" {
		t.Errorf("the requests of step B are %v", baselines[1].Calls)
	}
	if diff := cmp.Diff([]string{"ConfigMap"}, baselines[1].Kinds); diff != "" {
		t.Errorf("kinds of the caches (-want +got):\n%s", diff)
	}
	present := strings.Join(baselines[0].Present, " ")
	for _, kind := range []string{"ConfigMap", "Secret", "Job", "Pod", "Namespace", "ServiceAccount"} {
		if !strings.Contains(present, kind) {
			t.Errorf("%s is not among the kinds: %s", kind, present)
		}
	}
	if len(baselines[0].Reads) == 0 || baselines[1].Name != "A-B" || baselines[1].Last() != description.StepB || baselines[1].Deleted["Secret default/kept"] {
		t.Errorf("story %s: reads %v, deleted %v", baselines[1].Name, baselines[0].Reads, baselines[1].Deleted)
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"A": false, "A B": false, "A delete": false, "A delete A": true, "A B delete A": true} {
		s := &baseline.Baseline{}
		for step := range strings.FieldsSeq(text) {
			s.Steps = append(s.Steps, description.Step(step))
		}
		if got := s.Again(); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

// TestDisturbs checks that interference is tested only in steady state, with an operator that does not act by time alone.
func TestDisturbs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(k *baseline.Known)
		want   bool
	}{
		"no change":   {func(*baseline.Known) {}, true},
		"no sequence": {func(k *baseline.Known) { k.Baselines = nil }, false},
		"no end":      {func(k *baseline.Known) { k.Probe = nil }, false},
		"a schedule":  {func(k *baseline.Known) { k.System.Horizon = 1 }, false},
		"no owners":   {func(k *baseline.Known) { k.System.Singleton = &description.Singleton{} }, false},
	} {
		k := known(t, func(*description.System) {})
		c.change(k)
		if got := k.Disturbs(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
