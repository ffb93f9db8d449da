package search_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/description"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/search"
)

// copier plans a Secret with the data of each ConfigMap, with the name that its function returns.
func copier(name func(owner *corev1.ConfigMap) string) func(mgr manager.Manager) error {
	return func(mgr manager.Manager) error {
		c := mgr.GetClient()
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(reconcile.Func(
			func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var owner corev1.ConfigMap
				if err := c.Get(ctx, request.NamespacedName, &owner); err != nil || owner.DeletionTimestamp != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name(&owner)}}
				_, err := controllerutil.CreateOrUpdate(ctx, c, secret, func() error {
					secret.Data = map[string][]byte{"color": []byte(owner.Data["color"])}
					secret.OwnerReferences = nil
					return controllerutil.SetControllerReference(&owner, secret, c.Scheme())
				})
				return reconcile.Result{}, err
			}))
	}
}

func ofItsName(owner *corev1.ConfigMap) string { return "of-" + owner.Name }

// ofOne returns the system of one ConfigMap whose color changes.
func ofOne(setup func(manager.Manager) error) description.System {
	return description.System{
		Setup:  setup,
		Owners: []client.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Data: map[string]string{"color": "red"}}},
		Change: func(owner client.Object) { owner.(*corev1.ConfigMap).Data = map[string]string{"color": "blue"} },
		Cases:  1,
	}
}

func explore(t *testing.T, system description.System) *search.Exploration {
	t.Helper()
	out, err := search.Explore(t.Context(), system)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSecondOwner checks that the children of an owner do not depend on another owner.
func TestSecondOwner(t *testing.T) {
	t.Parallel()
	about := func(out *search.Exploration) (cases []string) {
		for _, f := range out.Findings {
			if strings.HasPrefix(f.Case, "no fault, a second owner") {
				cases = append(cases, fmt.Sprintf("%s: %s", f.Check, strings.TrimPrefix(f.Case, "no fault, a second owner ")))
			}
		}
		return cases
	}
	const untried = "not tried: several owners"
	tried := func(out *search.Exploration) bool {
		return !slices.ContainsFunc(out.Notes, func(note string) bool { return strings.HasPrefix(note, untried) })
	}
	if out := explore(t, ofOne(copier(ofItsName))); len(out.Findings) > 0 || !tried(out) {
		t.Errorf("two owners with children of their own: %v; second owner tried: %t", out.Findings, tried(out))
	}
	out := explore(t, ofOne(copier(func(*corev1.ConfigMap) string { return "shared" })))
	if diff := cmp.Diff([]string{"rest: of another name"}, about(out)); diff != "" {
		t.Errorf("one child of two owners (-want +got):\n%s\n%v", diff, out.Findings)
	}
}

// TestNotes checks that notes list what was not tested.
func TestNotes(t *testing.T) {
	t.Parallel()
	const (
		change   = "not tried: a change of the spec; set System.Change"
		prune    = "not tried: a prune, because System.Change removes nothing that the operator deletes"
		standIns = "not tried: children that become ready or fail; set System.StandIns"
	)
	rule := func(resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{resource}, Verbs: verbs}
	}
	for name, c := range map[string]struct {
		system func(s *description.System)
		want   []string
	}{
		"no change":      {func(*description.System) {}, []string{prune, standIns}},
		"without change": {func(s *description.System) { s.Change = nil }, []string{change, standIns}},
		"with stand-ins": {func(s *description.System) {
			s.StandIns = []description.StandIn{func(context.Context, client.Client) error { return nil }}
		}, []string{prune}},
		"rights": {
			func(s *description.System) {
				s.Rules = []rbacv1.PolicyRule{rule("configmaps", "get", "list", "watch", "delete"), rule("secrets", "list", "watch", "create", "update", "patch")}
			},
			[]string{
				prune, "not tried: delete configmaps, which System.Rules allow, because no run sends it",
				"not tried: patch secrets, which System.Rules allow, because no run sends it", standIns,
			},
		},
		"a kind that is never created": {
			func(s *description.System) { s.Optional = []schema.GroupKind{{Kind: "Secret"}, {Kind: "Service"}} },
			[]string{prune, "not tried: children of the kind Service of System.Optional, because no run creates one", standIns},
		},
		"a kind without objects": {
			func(s *description.System) {
				s.Setup = func(mgr manager.Manager) error {
					_, err := mgr.GetCache().GetInformer(context.Background(), &corev1.Service{})
					if err == nil {
						err = copier(ofItsName)(mgr)
					}
					return err
				}
			},
			[]string{prune, "not tried: objects of the kind Service, which the operator reads from its cache, because no run has one", standIns},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			system := ofOne(copier(ofItsName))
			c.system(&system)
			out := explore(t, system)
			var notes []string
			for _, note := range out.Notes {
				if !strings.Contains(note, "pairs of two writes") && !strings.Contains(note, "second faults") {
					notes = append(notes, note)
				}
			}
			if diff := cmp.Diff(c.want, notes); diff != "" || len(out.Findings) > 0 {
				t.Errorf("%v (-want +got):\n%s", out.Findings, diff)
			}
		})
	}
}

// TestAccepted checks that an accepted finding is noted once with its reason.
func TestAccepted(t *testing.T) {
	t.Parallel()
	system := ofOne(copies) // the Secrets outlive their owners
	system.Change = nil
	orphans := func(out *search.Exploration) (n int) {
		for _, f := range out.Findings {
			if f.Check == finding.CheckOrphan {
				n++
			}
		}
		return n
	}
	before := explore(t, system)
	system.Accepted = []finding.Acceptance{{Check: finding.CheckOrphan, About: "Secret default/shop", Reason: "it is kept for the next owner"}}
	after := explore(t, system)
	if orphans(before) == 0 || orphans(after) != 0 || len(after.Findings) >= len(before.Findings) {
		t.Errorf("%d orphans among %d findings, then %d among %d", orphans(before), len(before.Findings), orphans(after), len(after.Findings))
	}
	const want = "accepted, it is kept for the next owner: Secret default/shop"
	if n := strings.Count(strings.Join(after.Notes, "\n"), want); n != 1 {
		t.Errorf("the reason is noted %d times: %v", n, after.Notes)
	}
}

// TestExploreRefuses checks that the error for an invalid system states what is expected.
func TestExploreRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *description.System)
		want   string
	}{
		"no description": {func(s *description.System) { s.Owners = nil }, "Owners are required"},
		"a real server":  {func(s *description.System) { s.Environment = &environment.Environment{} }, "cases run on the fake API server only"},
		"broken set-up":  {func(s *description.System) { s.Setup = func(manager.Manager) error { return fmt.Errorf("no flag") } }, "Setup: no flag"},
	} {
		system := ofOne(copier(ofItsName))
		c.change(&system)
		if out, err := search.Explore(t.Context(), system); err == nil || !strings.Contains(err.Error(), c.want) || out != nil {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestScheduleExtendsTheHorizon checks that an operator with endless reconciliations is found before any case runs.
func TestScheduleExtendsTheHorizon(t *testing.T) {
	t.Parallel()
	n := 0
	out := explore(t, ofOne(func(mgr manager.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
			func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				var owner corev1.ConfigMap
				if err := mgr.GetClient().Get(ctx, request.NamespacedName, &owner); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				n++
				owner.Annotations = map[string]string{"n": fmt.Sprint(n)}
				return reconcile.Result{}, mgr.GetClient().Update(ctx, &owner)
			}))
	}))
	if out.Cases != 0 || len(out.Findings) == 0 || out.Findings[0].Check != finding.CheckRest || !strings.HasPrefix(out.Findings[0].Case, "no fault, A") {
		t.Errorf("%d cases; %v", out.Cases, out.Findings)
	}
}

// TestExploreUntil checks that the search for one finding ends when it is found.
func TestExploreUntil(t *testing.T) {
	t.Parallel()
	system := ofOne(copies)
	system.Cases = 0
	all, err := search.ExploreUntil(t.Context(), system, func(f finding.Finding) bool { return f.Check == finding.CheckOrphan })
	if err != nil {
		t.Fatal(err)
	}
	if all.Cases != 0 || !slices.ContainsFunc(all.Findings, func(f finding.Finding) bool { return f.Check == finding.CheckOrphan }) {
		t.Errorf("%d cases after the finding; %v", all.Cases, all.Findings)
	}
}
