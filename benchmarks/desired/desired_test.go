package desired_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/reconcilekit/reconcilekit/benchmarks/desired"
	"github.com/reconcilekit/reconcilekit/benchmarks/widget"
)

func TestChildren(t *testing.T) {
	t.Parallel()
	owner := &widget.Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "w"},
		Spec:       widget.Spec{Image: "i", Count: 7},
	}
	children := desired.Children(owner)
	if len(children) != owner.Spec.Count {
		t.Fatalf("%d children, want %d", len(children), owner.Spec.Count)
	}
	for i, child := range children {
		if child.GetName() != desired.ChildName(owner, i) || child.GetNamespace() != "a" || child.GetLabels()[desired.OwnerLabel] != "w" {
			t.Errorf("child %d is %s/%s with the labels %v", i, child.GetNamespace(), child.GetName(), child.GetLabels())
		}
		if reflect.TypeOf(child) != reflect.TypeOf(desired.Kind(i)) || child.GetObjectKind().GroupVersionKind().Kind == "" {
			t.Errorf("child %d is a %T with the kind %s, want a %T", i, child, child.GetObjectKind().GroupVersionKind(), desired.Kind(i))
		}
	}
	if diff := cmp.Diff(children, desired.Children(owner)); diff != "" {
		t.Errorf("two plans for one owner differ (-first +second):\n%s", diff)
	}
}
