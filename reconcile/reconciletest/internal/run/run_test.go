package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/run"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/view"
)

// operator is a controller of ConfigMaps. It counts its starts and records the colors that the reconciliations of its instance read.
type operator struct {
	do      func(ctx context.Context, c client.Client, owner *corev1.ConfigMap) (reconcile.Result, error)
	started int
	colors  []string // colors that reconciliations read, "-" for none
}

func (o *operator) setup(mgr manager.Manager) error {
	o.started++
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var owner corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, request.NamespacedName, &owner); err != nil {
				o.colors = append(o.colors, "-")
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			o.colors = append(o.colors, owner.Data["color"])
			return o.do(ctx, mgr.GetClient(), &owner)
		}))
}

// copying plans a Secret with the color of each ConfigMap.
func copying(ctx context.Context, c client.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name}}
	err := c.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) {
		secret.Data = map[string][]byte{"color": []byte(owner.Data["color"])}
		return reconcile.Result{}, c.Create(ctx, secret)
	}
	if err == nil && string(secret.Data["color"]) != owner.Data["color"] {
		secret.Data = map[string][]byte{"color": []byte(owner.Data["color"])}
		err = c.Update(ctx, secret)
	}
	return reconcile.Result{}, err
}

// execute runs a spec of a ConfigMap that is red in step A and blue in step B.
func execute(t *testing.T, o *operator, p run.Spec, change ...func(s *description.System)) *run.Run {
	t.Helper()
	system := description.System{
		Setup:  o.setup,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"color": "red"}}},
		Change: func(owner client.Object) { owner.(*corev1.ConfigMap).Data = map[string]string{"color": "blue"} },
	}
	for _, one := range change {
		one(&system)
	}
	prepared, err := description.Prepare(system)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Execute(t.Context(), prepared, p, "")
	if r.Last != nil {
		t.Cleanup(r.Last.End)
	}
	return r
}

func steps(text string) (out []description.Step) {
	for one := range strings.FieldsSeq(text) {
		out = append(out, description.Step(one))
	}
	return out
}

// color returns the color of the stored Secret, or "-" if it does not exist.
func color(t *testing.T, r *run.Run) string {
	t.Helper()
	var secret corev1.Secret
	switch err := r.Cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop"}, &secret); {
	case apierrors.IsNotFound(err):
		return "-"
	case err != nil:
		t.Fatal(err)
	}
	return string(secret.Data["color"])
}

// TestRest checks that a run ends when the operator is idle, and otherwise reports the reason.
func TestRest(t *testing.T) {
	t.Parallel()
	annotate := func(ctx context.Context, c client.Client, owner *corev1.ConfigMap, n int) error {
		owner.Annotations = map[string]string{"n": fmt.Sprint(n)}
		return c.Update(ctx, owner)
	}
	for name, c := range map[string]struct {
		do        func(ctx context.Context, c client.Client, owner *corev1.ConfigMap, n int) (reconcile.Result, error)
		err       string
		perpetual bool
		most      int // maximum number of reconciliations
	}{
		"does nothing": {func(context.Context, client.Client, *corev1.ConfigMap, int) (reconcile.Result, error) {
			return reconcile.Result{}, nil
		}, "", false, 1},
		"requeues soon, forever": {func(context.Context, client.Client, *corev1.ConfigMap, int) (reconcile.Result, error) {
			return reconcile.Result{RequeueAfter: time.Millisecond}, nil
		}, "hot retry: 30 passes in a row for default/shop, within 29ms, have changed nothing", false, 30},
		"requeues soon, a few times": {func(_ context.Context, _ client.Client, _ *corev1.ConfigMap, n int) (reconcile.Result, error) {
			if n < 20 {
				return reconcile.Result{RequeueAfter: time.Millisecond}, nil
			}
			return reconcile.Result{}, nil
		}, "", false, 20},
		"polls": {func(context.Context, client.Client, *corev1.ConfigMap, int) (reconcile.Result, error) {
			return reconcile.Result{RequeueAfter: time.Minute}, nil
		}, "", false, run.MaxIdle},
		"fails forever": {func(context.Context, client.Client, *corev1.ConfigMap, int) (reconcile.Result, error) {
			return reconcile.Result{}, errors.New("broken")
		}, "", false, run.MaxIdle},
		"writes in each reconciliation": {func(ctx context.Context, c client.Client, owner *corev1.ConfigMap, n int) (reconcile.Result, error) {
			return reconcile.Result{}, annotate(ctx, c, owner, n)
		}, "no steady state after 60 passes, the last one for default/shop", false, 60},
		"writes every hour": {func(ctx context.Context, c client.Client, owner *corev1.ConfigMap, n int) (reconcile.Result, error) {
			if owner.Annotations == nil || n%2 == 1 {
				return reconcile.Result{RequeueAfter: time.Hour}, annotate(ctx, c, owner, n)
			}
			return reconcile.Result{RequeueAfter: time.Hour}, nil
		}, "", true, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			o := &operator{do: func(ctx context.Context, cl client.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
				n++
				return c.do(ctx, cl, owner, n)
			}}
			r := execute(t, o, run.Spec{Steps: steps("A")}, func(s *description.System) { s.MaxPasses, s.Change = 60, nil })
			if (r.Err == nil) != (c.err == "") || r.Err != nil && !strings.HasPrefix(r.Err.Error(), c.err) {
				t.Errorf("got %v, want %q", r.Err, c.err)
			}
			if unsteadyErr := (*run.SteadyStateError)(nil); r.Err != nil && !errors.As(r.Err, &unsteadyErr) {
				t.Errorf("the error is a %T", r.Err)
			}
			if r.Cluster.Perpetual != c.perpetual || r.Passes > c.most || r.Passes == 0 {
				t.Errorf("%d passes, want %d at most; it is perpetual: %t, want %t", r.Passes, c.most, r.Cluster.Perpetual, c.perpetual)
			}
		})
	}
}

// TestHorizon checks that each step lasts until the horizon, and that all reconciliations that are scheduled before it run.
func TestHorizon(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]int{10 * time.Minute: 13, 25 * time.Minute: 5, 3 * time.Hour: 2, 0: 2} {
		o := &operator{do: func(context.Context, client.Client, *corev1.ConfigMap) (reconcile.Result, error) {
			return reconcile.Result{RequeueAfter: every}, nil
		}}
		r := execute(t, o, run.Spec{Steps: steps("A B"), At: 1}, func(s *description.System) { s.Horizon = time.Hour })
		if lasted := r.Cluster.Clock.Now().Sub(r.Cluster.Began); r.Err != nil || r.Passes < want || r.Passes > want+1 || every > 0 && lasted != 2*time.Hour {
			t.Errorf("every %s: %d passes in %s, %v; want %d", every, r.Passes, lasted, r.Err, want)
		}
	}
}

// TestVariations checks for each fault of a run the number of starts, the read colors, the requests, and the final state.
func TestVariations(t *testing.T) {
	t.Parallel()
	crash := func(call string) run.Variation {
		return run.Variation{Inject: []*transport.Injection{{Call: call, Fault: transport.FaultCrash}}}
	}
	const create, update = "create secrets default/shop#1", "update secrets default/shop#1"
	again := crash(create)
	again.Again = true
	for name, c := range map[string]struct {
		spec    run.Spec
		started int
		end     string
		colors  string
		trace   []string
	}{
		"nothing":                    {run.Spec{Steps: steps("A B"), At: 1}, 1, "blue", "red blue", []string{"pass 2: " + update, "2 passes"}},
		"from the first step":        {run.Spec{Steps: steps("A B")}, 1, "blue", "red blue", []string{"pass 1: " + create, "pass 2: " + update, "2 passes"}},
		"the owner is deleted":       {run.Spec{Steps: steps("A delete"), At: 1}, 1, "red", "red -", []string{"2 passes"}},
		"a crash":                    {run.Spec{Steps: steps("A"), Variant: crash(create)}, 2, "red", "red red", []string{"pass 1: " + create + ": the operator has crashed", "2 passes"}},
		"a crash in step B":          {run.Spec{Steps: steps("A B"), At: 1, Variant: crash(update)}, 2, "blue", "red blue blue", []string{"pass 2: " + update + ": the operator has crashed", "3 passes"}},
		"two crashes":                {run.Spec{Steps: steps("A B"), Variant: again}, 3, "blue", "red red blue blue", []string{"pass 1: " + create + ": the operator has crashed", "pass 2: " + update + ": the operator has crashed", "4 passes"}},
		"a change without its event": {run.Spec{Steps: steps("A B"), Variant: crash(create), Unseen: true}, 2, "blue", "red blue", []string{"pass 1: " + create + ": the operator has crashed", "pass 1: " + update, "2 passes"}},
		"an old cache":               {run.Spec{Steps: steps("A B"), At: 1, Variant: run.Variation{Behind: true}}, 2, "blue", "red blue red blue", []string{"pass 2: " + update, "4 passes"}},
		"a lagging cache":            {run.Spec{Steps: steps("A B"), At: 1, Variant: run.Variation{Lag: map[string]int{"": 1}}}, 1, "blue", "red blue", []string{"pass 2: " + update, "2 passes"}},
		"a pass after writing":       {run.Spec{Steps: steps("A"), Variant: run.Variation{Eager: true}}, 1, "red", "red red", []string{"pass 1: " + create, "2 passes"}},
		"a resync":                   {run.Spec{Steps: steps("A"), Variant: run.Variation{Resync: true, Shake: func([]view.Event) []view.Event { return nil }}}, 1, "red", "red", []string{"pass 1: " + create, "1 passes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &operator{do: copying}
			r := execute(t, o, c.spec)
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			trace := r.Trace()
			for i := range trace {
				trace[i], _, _ = strings.Cut(trace[i], " (")
			}
			if diff := cmp.Diff(c.trace, trace); c.trace != nil && diff != "" {
				t.Errorf("trace (-want +got):\n%s", diff)
			}
			if got := strings.Join(o.colors, " "); o.started != c.started || got != c.colors || color(t, r) != c.end {
				t.Errorf("started %d times, want %d; passes saw %q, want %q; the end is %s, want %s", o.started, c.started, got, c.colors, color(t, r), c.end)
			}
		})
	}
}

// TestLift checks that a lasting rejection is lifted when the operator is idle, that all owners are reconciled then, and that owners that were ready before are noted.
func TestLift(t *testing.T) {
	t.Parallel()
	for _, kind := range transport.Lasting() {
		gaveUp := &operator{do: func(ctx context.Context, c client.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
			_, err := copying(ctx, c, owner)
			if err != nil && owner.Annotations["gave-up"] == "" {
				owner.Annotations = map[string]string{"gave-up": "true"}
				return reconcile.Result{}, c.Update(ctx, owner)
			}
			return reconcile.Result{}, nil // no event enqueues it again
		}}
		fault := &transport.Injection{Call: "create secrets default/shop", Fault: kind, Lasting: transport.Forever}
		r := execute(t, gaveUp, run.Spec{Steps: steps("A"), Variant: run.Variation{Inject: []*transport.Injection{fault}}})
		if r.Err != nil || !r.Refused || color(t, r) != "red" || len(r.Claims) != 0 {
			t.Errorf("%s: %v; refused: %t, the end is %s, ready owners %v", kind, r.Err, r.Refused, color(t, r), r.Claims)
		}
	}
}

// TestOverlap checks that two concurrent instances end in the same state as one, and that the reconciliations of both count.
func TestOverlap(t *testing.T) {
	t.Parallel()
	o := &operator{do: func(ctx context.Context, c client.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		_, err := copying(ctx, c, owner)
		if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}
		return reconcile.Result{}, err
	}}
	r := execute(t, o, run.Spec{Steps: steps("A B"), At: 1, Variant: run.Variation{Overlap: true}})
	if r.Err != nil || o.started != 2 || color(t, r) != "blue" || r.Passes != len(o.colors) {
		t.Errorf("%v; %d instances, the end is %s, %d passes of %v", r.Err, o.started, color(t, r), r.Passes, o.colors)
	}
}

// TestSetup checks the error for a setup that fails or adds no controller.
func TestSetup(t *testing.T) {
	t.Parallel()
	for want, setup := range map[string]func(manager.Manager) error{
		"system: Setup: no flag":                               func(manager.Manager) error { return errors.New("no flag") },
		"system: Setup has added no controller to the manager": func(manager.Manager) error { return nil },
	} {
		r := execute(t, &operator{}, run.Spec{Steps: steps("A")}, func(s *description.System) { s.Setup = setup })
		if r.Err == nil || !strings.HasPrefix(r.Err.Error(), want) {
			t.Errorf("got %v, want %s", r.Err, want)
		}
	}
}

// TestDeleted checks that a run reports the objects that its delete requests deleted or marked for deletion.
func TestDeleted(t *testing.T) {
	t.Parallel()
	o := &operator{do: func(ctx context.Context, c client.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		for _, name := range []string{"gone", "held", "never"} {
			err := c.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name}})
			if client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
		}
		return reconcile.Result{}, nil
	}}
	r := execute(t, o, run.Spec{Steps: steps("A")}, func(s *description.System) {
		s.Given = []client.Object{
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kept"}},
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/hold"}}},
		}
	})
	if diff := cmp.Diff(map[string]bool{"Secret default/gone": true, "Secret default/held": true}, r.Deleted()); diff != "" || r.Err != nil {
		t.Errorf("%v (-want +got):\n%s", r.Err, diff)
	}
	want := []string{"pass 1: delete secrets default/gone#1", "pass 1: delete secrets default/held#1", `pass 1: delete secrets default/never#1: secrets "never" not found`, "1 passes"}
	if diff := cmp.Diff(want, r.Trace()); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}
