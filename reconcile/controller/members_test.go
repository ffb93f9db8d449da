package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// pods is a reader that lists one Pod.
type pods struct{ reconcile.Reader }

func (pods) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*corev1.PodList).Items = make([]corev1.Pod, 1)
	return nil
}

// TestNilArguments checks that a nil argument has its documented meaning or is an error that names the argument.
func TestNilArguments(t *testing.T) {
	t.Parallel()
	fetch := func(g *controller.Group, into client.ObjectList) controller.Members[*corev1.Pod] {
		return controller.FetchMembers[*corev1.Pod](t.Context(), pods{}, g, into, nil)
	}
	if m := fetch(&controller.Group{}, &corev1.PodList{}); m.Error != nil || len(m.Valid) != 1 {
		t.Errorf("a nil check refuses none: got %d members, %v", len(m.Valid), m.Error)
	}
	for want, got := range map[string]controller.Members[*corev1.Pod]{
		"members of no group": fetch(nil, &corev1.PodList{}),
		"an empty list":       fetch(&controller.Group{}, nil),
	} {
		if got.Error == nil || !strings.Contains(got.Error.Error(), want) {
			t.Errorf("want %q, got %v", want, got.Error)
		}
	}
	plan := controller.Leave(&corev1.Pod{}, time.Minute, reconcile.FetchResult[*controller.Group]{})
	if plan.RequeueAfter != 0 {
		t.Errorf("a group that is nil holds a member for %s", plan.RequeueAfter)
	}
}
