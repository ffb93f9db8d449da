package service

import (
	"errors"
	"slices"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// planned returns the plan of the namespace n, whose Service exists.
func planned(t *testing.T, change func(*observed)) reconcile.PlanResult {
	t.Helper()
	config, err := settings.Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{config: config, owner: &metav1.OwnerReference{Name: "n", UID: "1"}}
	o.service.Value = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: config.InferenceServiceName, UID: "2"}}
	o.service.Value.Spec.ClusterIP = corev1.ClusterIPNone
	change(o)
	group := &controller.Group{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: Name}}
	plan, err := (&Reconciler{}).PlanResources(t.Context(), rcontext{Object: group}, o)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestServicesOfOtherNames checks that a Service of ModelMesh with a former name is deleted, including one created by
// the product. A child of the group is left to pruning.
func TestServicesOfOtherNames(t *testing.T) {
	t.Parallel()
	plan := planned(t, func(o *observed) {
		list := &corev1.ServiceList{Items: []corev1.Service{*o.service.Value}}
		for name, annotations := range map[string]map[string]string{"of the product": nil, "of the group": {apply.GroupAnnotation: "x"}} {
			list.Items = append(list.Items, corev1.Service{ObjectMeta: metav1.ObjectMeta{
				Namespace: "n", Name: name, Labels: map[string]string{label: name}, Annotations: annotations,
			}})
		}
		o.services.Value = list
	})
	var got []string
	for _, d := range plan.Deletes {
		got = append(got, d.Object.GetName())
	}
	if want := []string{"of the product"}; !slices.Equal(got, want) {
		t.Errorf("deletes %q, want %q", got, want)
	}
}

// TestMonitor checks that a ServiceMonitor is created once the Service and etcd exist, is kept while one of them is
// missing, and is deleted when metrics are disabled.
func TestMonitor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change        func(*observed)
		planned, kept bool
	}{
		"all objects exist":        {change: func(*observed) {}, planned: true},
		"etcd's Secret is missing": {change: func(o *observed) { o.noEtcd = errors.New("away") }, planned: true, kept: true},
		"no Service yet":           {change: func(o *observed) { o.service.Value = nil }, planned: true, kept: true},
		"no metrics":               {change: func(o *observed) { o.config.Metrics.Enabled = false }},
		"no such monitor":          {change: func(o *observed) { o.config.Metrics.DisablePrometheusOperatorSupport = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planned(t, tc.change)
			at := slices.IndexFunc(plan.Children, func(c apply.Child) bool { return c.Object.GetName() == monitorName })
			if (at >= 0) != tc.planned || at >= 0 && plan.Children[at].Existing != tc.kept {
				t.Errorf("children %+v; want a ServiceMonitor: %t, only kept: %t", plan.Children, tc.planned, tc.kept)
			}
		})
	}
}
