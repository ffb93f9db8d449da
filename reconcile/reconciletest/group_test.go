package reconciletest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/check"
)

// TestConvergeWithSeveralOwners checks a group of three owners with one child, which has no owner reference.
func TestConvergeWithSeveralOwners(t *testing.T) {
	t.Parallel()
	reconciletest.Converge(t, sharedSystem(func(mgr manager.Manager) error {
		groups := controller.NewGroup("sums", sums{}).
			Members(&widget.Widget{}, func(o client.Object) []types.NamespacedName {
				return []types.NamespacedName{{Namespace: o.GetNamespace(), Name: o.(*widget.Widget).Spec.Ref}}
			}).
			Owns(&corev1.ConfigMap{}).Build()
		return errors.Join(groups.SetupWithManager(mgr), controller.New("parts", part{}).Joins(groups).Build().SetupWithManager(mgr))
	}))
}

// TestConvergeFindsEntriesOfDeletedOwners checks that a reconciler that never removes the entry of a deleted owner
// is found.
func TestConvergeFindsEntriesOfDeletedOwners(t *testing.T) {
	t.Parallel()
	out, err := reconciletest.Explore(t.Context(), sharedSystem(func(mgr manager.Manager) error {
		return builder.ControllerManagedBy(mgr).Named("sharer").For(&widget.Widget{}).Complete(sharedReconciler{mgr.GetClient()})
	}))
	if err != nil {
		t.Fatal(err)
	}
	caught := slices.ContainsFunc(out.Findings, func(f reconciletest.Finding) bool {
		return f.Check == check.State && f.Case == "no fault, A-less"
	})
	if !caught {
		t.Errorf("%d cases, and the remaining entry is not found; findings: %v", out.Cases, out.Findings)
	}
}

func sharedSystem(setup func(manager.Manager) error) reconciletest.System {
	system := reconciletest.System{
		Setup:  setup,
		Scheme: widgetScheme(),
		CRDs:   []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Change: func(o client.Object) {
			w := o.(*widget.Widget)
			if w.Name == "b" {
				w.Spec.Ref = "h" // moves to another group
			}
			w.Spec.Count += 10
		},
	}
	for n, name := range []string{"a", "b", "c"} {
		system.Owners = append(system.Owners, &widget.Widget{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: widget.Spec{Ref: "g", Count: n + 1},
		})
	}
	return system
}

// sums plans one ConfigMap for all widgets with the same ref.
type sums struct{}

// sum is the remote state and the observation of a group.
type sum struct {
	widgets reconcile.FetchResult[*widget.WidgetList]
}

func (s sum) present() []widget.Widget {
	if s.widgets.HasError() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.widgets.Value.Items), func(w widget.Widget) bool { return !w.DeletionTimestamp.IsZero() })
}

func (s sum) GetComponentHealth(context.Context) []health.Component { return nil }

func (s sum) GetMembers() []controller.Member {
	var members []controller.Member
	for _, w := range s.present() {
		members = append(members, controller.MemberOf(&w, nil))
	}
	return members
}

func (sums) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) sum {
	return sum{reconcile.FetchList(ctx, r, &widget.WidgetList{}, client.MatchingFields{"group." + rc.Object.Kind: client.ObjectKeyFromObject(rc.Object).String()})}
}

func (sums) PlanResources(
	_ context.Context, rc reconcile.ReconcileContext[*controller.Group], s sum,
) (plan reconcile.PlanResult, _ error) {
	data := map[string]string{}
	for _, w := range s.present() {
		data[w.Name] = strconv.Itoa(w.Spec.Count)
	}
	if len(data) > 0 {
		plan.Apply(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: "sum-" + rc.Object.Name}, Data: data,
		})
	}
	return plan, nil
}

// part reports the outcome of each widget's part.
type part struct{}

type reading struct {
	owner *widget.Widget
	group reconcile.FetchResult[*controller.Group]
}

func (part) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget],
) reading {
	key := types.NamespacedName{Namespace: rc.Object.Namespace, Name: rc.Object.Spec.Ref}
	return reading{rc.Object, reconcile.Fetch(ctx, r, key, controller.GroupOf("sums"))}
}

func (part) PlanResources(context.Context, reconcile.ReconcileContext[*widget.Widget], reading) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

func (r reading) GetComponentHealth(context.Context) []health.Component {
	if r.group.HasError() {
		return []health.Component{{Name: "Part", Errors: []error{r.group.Error}}}
	}
	effect, message := r.group.Value.Effect(r.owner)
	c := health.Component{Name: "Part", State: health.Ready, Reason: string(effect), Message: message, Child: true}
	if effect != controller.EffectApplied {
		c.State = health.Progressing
	}
	return []health.Component{c}
}

// sharedReconciler writes the part of each widget into the ConfigMap of its ref, without using a group.
type sharedReconciler struct{ client.Client }

func (s sharedReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	w := &widget.Widget{}
	if err := s.Get(ctx, request.NamespacedName, w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "sum-" + w.Spec.Ref}}
	if err := s.Get(ctx, client.ObjectKeyFromObject(child), child); err == nil && child.Data[w.Name] == strconv.Itoa(w.Spec.Count) {
		return ctrl.Result{}, nil
	} else if apierrors.IsNotFound(err) {
		child.Data = map[string]string{w.Name: strconv.Itoa(w.Spec.Count)}
		return ctrl.Result{}, s.Create(ctx, child)
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("read the child: %w", err)
	}
	data, err := json.Marshal(map[string]any{"data": map[string]string{w.Name: strconv.Itoa(w.Spec.Count)}})
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, s.Patch(ctx, child, client.RawPatch(types.MergePatchType, data))
}
