package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/conditions"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// teams plans one ConfigMap for all Services of a team. The key of a team is the namespace of the Services and their label.
type teams struct{}

// team is the remote state and the observation: the members.
type team struct {
	controller.Members[*corev1.Service]
}

// teamOf returns the groups that a Service is a member of.
func teamOf(object client.Object) []types.NamespacedName {
	team := object.GetLabels()["example.com/team"]
	if team == "" {
		return nil
	}
	return []types.NamespacedName{{Namespace: object.GetNamespace(), Name: team}}
}

const weight = "example.com/weight"

// modest returns an error if the part of a member is not valid.
func modest(s *corev1.Service) error {
	if n, err := strconv.Atoi(s.Annotations[weight]); err != nil || n > 99 {
		return fmt.Errorf("annotation %s %q: want a number, at most 99", weight, s.Annotations[weight])
	}
	return nil
}

// FetchRemoteState lists the members in order, without those that are being deleted.
func (teams) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*controller.Group]) *team {
	return &team{Members: controller.FetchMembers(ctx, r, rc.Object, &corev1.ServiceList{}, modest)}
}

// PlanResources plans one child for all members, and no child without members.
func (teams) PlanResources(_ context.Context, rc reconcile.ReconcileContext[*controller.Group], t *team) (reconcile.PlanResult, error) {
	var plan reconcile.PlanResult
	data := map[string]string{}
	for _, s := range t.Valid {
		data[s.Name] = s.Annotations[weight]
	}
	if len(data) > 0 {
		plan.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name}, Data: data})
	}
	return plan, nil
}

// player is the reconciler of a Service. It plans no children and reports the outcome of the Service's part.
type player struct{}

type membership = reconcile.FetchResult[*controller.Group]

// FetchRemoteState reads the group like an object. A change of the group enqueues the Service.
func (player) FetchRemoteState(ctx context.Context, r reconcile.Reader, rc reconcile.ReconcileContext[*corev1.Service]) membership {
	return reconcile.Fetch(ctx, r, teamOf(rc.Object)[0], controller.GroupOf("teams"))
}

// DecorateStatus reports the contribution.
func (player) DecorateStatus(_ *corev1.ServiceStatus, cm *conditions.Manager, sc reconcile.StatusContext[*corev1.Service], team membership) {
	effect, why := team.Value.Effect(sc.Object)
	if effect == controller.EffectApplied {
		cm.MarkTrue("Plays", string(effect), "")
	} else {
		cm.MarkFalse("Plays", string(effect), why)
	}
}

// PlanResources plans nothing. The result is in the status.
func (player) PlanResources(context.Context, reconcile.ReconcileContext[*corev1.Service], membership) (reconcile.PlanResult, error) {
	return reconcile.PlanResult{}, nil
}

// Finalize holds the Service until the team no longer counts it.
func (player) Finalize(_ context.Context, rc reconcile.ReconcileContext[*corev1.Service], team membership) (reconcile.PlanResult, error) {
	return controller.Leave(rc.Object, time.Minute, team), nil
}

// printer prints the failures of a scenario.
type printer struct{ testing.TB }

func (printer) Helper()                  {}
func (printer) Context() context.Context { return context.Background() }
func (printer) Error(args ...any)        { fmt.Println(args...) }
func (printer) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }

// Three Services share one ConfigMap that none of them owns. It stays while at least one of them exists, and
// is deleted with the last. A part that is not valid is left out and reported in the status of its Service.
func ExampleNewGroup() {
	setup := func(mgr manager.Manager) error {
		groups := controller.NewGroup("teams", teams{}).
			Members(&corev1.Service{}, teamOf).
			Owns(&corev1.ConfigMap{}).Build()
		players := controller.New("player", player{}).
			Joins(groups).Build()
		return errors.Join(groups.SetupWithManager(mgr), players.SetupWithManager(mgr))
	}
	member := func(name, weighs string) client.Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"example.com/team": "red"}, Annotations: map[string]string{weight: weighs},
		}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	system := reconciletest.System{
		Setup: setup, Scheme: clientscheme.Scheme,
		Owners:   []client.Object{member("ann", "7"), member("bob", "10"), member("max", "100")},
		StandIns: []reconciletest.StandIn{leaving("ann", "bob")},
	}
	reconciletest.Scenario{System: system}.Run(printer{})
	// Output:
	// red is map[ann:7 bob:10] and ann: Applied, bob: Applied, max: Refused annotation example.com/weight "100": want a number, at most 99
	// red is map[bob:10] and bob: Applied, max: Refused annotation example.com/weight "100": want a number, at most 99
	// red is gone
}

// leaving prints the child and the parts in the members' statuses, then deletes the members one after the other.
func leaving(members ...string) reconciletest.StandIn {
	printed := ""
	return func(ctx context.Context, c client.Client) error {
		child := &corev1.ConfigMap{}
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "red"}, child)
		if apierrors.IsNotFound(err) && len(members) == 0 && printed != "" {
			fmt.Println("red is gone")
			printed = ""
		}
		now := fmt.Sprint("red is ", child.Data)
		if err != nil || now == printed {
			return client.IgnoreNotFound(err)
		}
		told, err := effects(ctx, c)
		if err != nil || told == "" {
			return err
		}
		fmt.Println(now, "and "+told)
		printed = now
		leaver := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: members[0]}}
		members = members[1:]
		return c.Delete(ctx, leaver)
	}
}

// effects returns what the remaining Services report about their parts, or nothing until all of them report.
func effects(ctx context.Context, c client.Client) (string, error) {
	list := &corev1.ServiceList{}
	if err := c.List(ctx, list); err != nil {
		return "", err
	}
	var told []string
	for i := range list.Items {
		if !list.Items[i].DeletionTimestamp.IsZero() {
			continue
		}
		plays := meta.FindStatusCondition(list.Items[i].Status.Conditions, "Plays")
		if plays == nil || plays.Reason == string(controller.EffectNone) {
			return "", nil
		}
		told = append(told, strings.TrimSpace(list.Items[i].Name+": "+plays.Reason+" "+plays.Message))
	}
	return strings.Join(told, ", "), nil
}
