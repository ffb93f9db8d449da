package reconciletest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

const onSale = "test.reconcilekit.dev/on-sale"

// stall lists the ConfigMaps with a label in one ConfigMap, and has a Service while there is at least one.
type stall struct {
	closed bool
	notes  bool // it has notes, which are kept when it is switched off
	bug    stallBug
	start  int64           // number of the operator's start
	first  *[]string       // the objects that the first reconciliation read
	offers map[string]bool // all objects that were read since the start
}

// stallBug is the fault of a stall.
type stallBug string

const (
	remembersFirst stallBug = "keeps the list of the first pass"
	addsOnly       stallBug = "keeps removed offers"
	keepsService   stallBug = "keeps the Service without offers"
	valuePerStart  stallBug = "writes a new value after each restart"
	retriesHot     stallBug = "requeues immediately"
	forgets        stallBug = "deletes nothing when it is switched off"
)

type offers struct {
	reconcile.FetchResult[*corev1.ConfigMapList]
}

func (offers) GetComponentHealth(context.Context) []health.Component {
	return []health.Component{{Name: "Stall", State: health.Ready, Reason: "Listed"}}
}

func (stall) FetchRemoteState(ctx context.Context, r reconcile.Reader, _ reconcile.ReconcileContext[*controller.Group]) offers {
	return offers{reconcile.FetchList(ctx, r, &corev1.ConfigMapList{}, client.InNamespace("default"), client.MatchingLabels{onSale: "true"})}
}

func (s stall) PlanResources(_ context.Context, _ reconcile.ReconcileContext[*controller.Group], o offers) (plan reconcile.PlanResult, _ error) {
	notes := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "notes"}}
	switch {
	case s.notes && s.closed:
		plan.Keep(notes)
	case s.notes:
		plan.Apply(notes)
	}
	if s.closed {
		return plan, nil
	}
	var names []string
	for _, item := range o.Value.Items {
		names = append(names, item.Name+"="+item.Data["price"])
		s.offers[names[len(names)-1]] = true
	}
	if *s.first == nil {
		*s.first = append([]string{}, names...)
	}
	switch s.bug {
	case remembersFirst:
		names = *s.first
	case addsOnly:
		for name := range s.offers {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
	case retriesHot:
		plan.RequeueAfter = 1
	case valuePerStart:
		names = append(names, fmt.Sprint(s.start))
	}
	at := metav1.ObjectMeta{Namespace: "default", Name: "stall"}
	plan.Apply(&corev1.ConfigMap{ObjectMeta: at, Data: map[string]string{"offers": strings.Join(names, ",")}})
	service := &corev1.Service{ObjectMeta: at, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	if len(o.Value.Items) > 0 {
		plan.Apply(service)
	} else if s.bug == keepsService {
		plan.Keep(service)
	}
	return plan, nil
}

func stallSystem(bug stallBug) reconciletest.System {
	var starts atomic.Int64
	return stallOf(func(closed bool) func(mgr manager.Manager) error {
		return func(mgr manager.Manager) error {
			name := "stall"
			if closed && bug == forgets {
				name = "another"
			}
			s := stall{closed: closed, bug: bug, start: starts.Add(1), first: new([]string), offers: map[string]bool{}}
			return controller.NewSingleton(name, s).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Build().SetupWithManager(mgr)
		}
	})
}

func stallOf(setup func(closed bool) func(mgr manager.Manager) error) reconciletest.System {
	return reconciletest.System{
		Setup: setup(false),
		Singleton: &reconciletest.Singleton{
			Inputs: []client.Object{offer("apples"), offer("pears")},
			Off:    setup(true),
		},
		Change: func(o client.Object) { o.(*corev1.ConfigMap).Data["price"] = "2" },
	}
}

func offer(name string) client.Object {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{onSale: "true"}}, Data: map[string]string{"price": "1"},
	}
}

func TestConvergeWithoutAnOwner(t *testing.T) {
	t.Parallel()
	s := stallSystem("")
	s.Cases = 100
	reconciletest.Converge(t, s)
}

// TestConvergeWithObjectsThatASingletonKeeps checks a singleton whose objects are kept when it is switched off. They are not written again when it is switched on, so no
// case injects a fault into such a write.
func TestConvergeWithObjectsThatASingletonKeeps(t *testing.T) {
	t.Parallel()
	s := stallOf(func(closed bool) func(mgr manager.Manager) error {
		return func(mgr manager.Manager) error {
			one := stall{closed: closed, notes: true, first: new([]string), offers: map[string]bool{}}
			return controller.NewSingleton("stall", one).Owns(&corev1.ConfigMap{}).Owns(&corev1.Service{}).Build().SetupWithManager(mgr)
		}
	})
	s.Outlives, s.Cases = []string{"ConfigMap default/notes"}, 10000
	out, err := reconciletest.Explore(t.Context(), s)
	if err != nil || len(out.Findings) > 0 {
		t.Errorf("%d cases, error %v, findings %v", out.Cases, err, out.Findings)
	}
	for _, note := range out.Notes {
		if strings.Contains(note, "did not come again") {
			t.Error(note)
		}
	}
}

// TestConvergeWithoutAnOwnerOrInputs checks a singleton without Inputs and without Off.
func TestConvergeWithoutAnOwnerOrInputs(t *testing.T) {
	t.Parallel()
	s := stallSystem("")
	s.Singleton, s.Change = &reconciletest.Singleton{}, nil
	out, err := reconciletest.Explore(t.Context(), s)
	if err != nil || len(out.Findings) > 0 || out.Calls == 0 {
		t.Errorf("%d calls, error %v, findings %v", out.Calls, err, out.Findings)
	}
}

// TestConvergeCatchesFaultsOfASingleton checks that each fault of a singleton is found by the check for it.
func TestConvergeCatchesFaultsOfASingleton(t *testing.T) {
	t.Parallel()
	for bug, want := range map[stallBug]struct {
		check check.Check
		in    string // the name of the case, "" for any
	}{
		remembersFirst: {check.State, "no fault, A-B"},
		addsOnly:       {check.State, "no fault, A-delete"},
		keepsService:   {check.Orphan, "no fault, A-delete"},
		valuePerStart:  {check.Quiet, ""},
		retriesHot:     {check.Rest, ""},
		forgets:        {check.Orphan, "no fault, A-off"},
	} {
		t.Run(string(bug), func(t *testing.T) {
			t.Parallel()
			s := stallSystem(bug)
			s.Cases = 10 // the runs without faults find it
			out, err := reconciletest.Explore(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool {
				return f.Check == want.check && (want.in == "" || f.Case == want.in)
			}) {
				t.Errorf("%d cases, none found by the check %q in %q; findings: %v", out.Cases, want.check, want.in, out.Findings)
			}
		})
	}
}

func TestSingletonOrOwners(t *testing.T) {
	t.Parallel()
	both := shopSystem()
	both.Singleton = &reconciletest.Singleton{}
	for name, test := range map[string]struct {
		system reconciletest.System
		want   string
	}{
		"Both":    {both, "Owners and Singleton are both set"},
		"Neither": {reconciletest.System{Setup: both.Setup}, "Owners are required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := reconciletest.Explore(t.Context(), test.system); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("want an error with %q, got %v", test.want, err)
			}
		})
	}
}

// TestChecksOfASingleton checks that other checks also use the inputs of a singleton and its state when switched off.
func TestChecksOfASingleton(t *testing.T) {
	t.Parallel()
	s := stallSystem("")
	reconciletest.Steady(t, s, reconciletest.Budget{})
	reconciletest.Writes(t, s, s.Change, 1+1) // one write for each of the two offers
	reconciletest.Scenario{System: s, Expect: []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stall"}, Data: map[string]string{"offers": "apples=1,pears=1"}},
	}}.Run(t)
	s.Setup = func(manager.Manager) error { return errors.New("no cluster") }
	if _, err := reconciletest.Explore(t.Context(), s); err == nil || !strings.Contains(err.Error(), "no cluster") {
		t.Errorf("want the error of Setup, got %v", err)
	}
}
