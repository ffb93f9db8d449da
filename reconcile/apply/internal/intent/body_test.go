package intent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/content"
	"github.com/reconcilekit/reconcilekit/reconcile/apply/internal/intent"
)

// TestAggregatedClusterRole checks that the rules of an aggregated ClusterRole are left to the control plane, for each representation.
func TestAggregatedClusterRole(t *testing.T) {
	t.Parallel()
	rules := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}}
	selectors := []metav1.LabelSelector{{MatchLabels: map[string]string{"to": "edit"}}}
	manifest := func(content map[string]any) client.Object { return &unstructured.Unstructured{Object: content} }
	role := map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": map[string]any{"to": "edit"}}}}
	for name, c := range map[string]struct {
		object client.Object
		kind   string
		rules  bool
	}{
		"a type":                   {&rbacv1.ClusterRole{Rules: rules, AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: selectors}}, "ClusterRole", false},
		"a manifest":               {manifest(map[string]any{"rules": []any{}, "aggregationRule": role}), "ClusterRole", false},
		"without aggregation":      {&rbacv1.ClusterRole{Rules: rules}, "ClusterRole", true},
		"an empty aggregation":     {manifest(map[string]any{"rules": []any{}, "aggregationRule": map[string]any{}}), "ClusterRole", true},
		"a field of another kind":  {manifest(map[string]any{"rules": []any{}, "aggregationRule": role}), "Role", true},
		"nothing is planned there": {&rbacv1.ClusterRole{}, "ClusterRole", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := intent.Body(content.NewEncoder(), &apply.Child{Object: c.object}, schema.GroupKind{Group: rbacv1.GroupName, Kind: c.kind}, nil, intent.Marks{})
			if err != nil {
				t.Fatal(err)
			}
			_, planned := body["rules"]
			if diff := cmp.Diff(c.rules, planned); diff != "" {
				t.Errorf("rules are planned (-want +got):\n%s\n%v", diff, body)
			}
		})
	}
}
