package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// zones derives the sorted zones of all nodes without duplicates.
var zones = &reconcile.Derivation[*metav1.PartialObjectMetadata, []string]{
	Name: "zones",
	List: &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}},
	Each: func(node *metav1.PartialObjectMetadata) []string { return []string{node.Labels["zone"]} },
	Merge: func(parts [][]string) []string {
		all := slices.Concat(parts...)
		slices.Sort(all)
		return slices.Compact(all)
	},
}

func node(name, zone string) client.Object {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}}}
}

// TestDerivedOfAnyReader checks that a reader that remembers nothing gives the same value.
func TestDerivedOfAnyReader(t *testing.T) {
	t.Parallel()
	reader := fake.NewClientBuilder().WithObjects(node("a", "east"), node("b", "west"), node("c", "east")).Build()
	got := reconcile.FetchDerived(t.Context(), reader, zones)
	if diff := cmp.Diff([]string{"east", "west"}, got.Value); diff != "" || !got.OK() {
		t.Errorf("%v, value (-want +got):\n%s", got.Error, diff)
	}
}

// TestDerivedOfASelection checks that a value is computed from the objects that namespace and labels select.
func TestDerivedOfASelection(t *testing.T) {
	t.Parallel()
	reader := fake.NewClientBuilder().WithObjects(node("a", "east"), node("b", "west")).Build()
	for name, test := range map[string]struct {
		options []client.ListOption
		want    []string
		err     string
	}{
		"Labels":        {options: []client.ListOption{client.MatchingLabels{"zone": "west"}}, want: []string{"west"}},
		"LabelsOfAll":   {options: []client.ListOption{client.MatchingLabelsSelector{Selector: labels.Everything()}}, want: []string{"east", "west"}},
		"LabelsOfNone":  {options: []client.ListOption{client.MatchingLabelsSelector{Selector: labels.Nothing()}}, want: nil},
		"OtherLabels":   {options: []client.ListOption{client.HasLabels{"zone", "rack"}}, want: nil},
		"Fields":        {options: []client.ListOption{client.MatchingFields{"metadata.name": "a"}}, err: "want client.InNamespace"},
		"Limit":         {options: []client.ListOption{client.Limit(1)}, err: "want client.InNamespace"},
		"OtherNotation": {options: []client.ListOption{&client.ListOptions{LabelSelector: labels.Set{"zone": "east"}.AsSelector()}}, want: []string{"east"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := reconcile.FetchDerived(t.Context(), reader, zones, test.options...)
			if diff := cmp.Diff(test.want, got.Value, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if got.OK() != (test.err == "") || !got.OK() && !strings.Contains(got.Error.Error(), test.err) {
				t.Errorf("got error %v, want %q", got.Error, test.err)
			}
		})
	}
}

func TestDerivationIsChecked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*reconcile.Derivation[*metav1.PartialObjectMetadata, []string])
		want   string
	}{
		"NoFunction": {func(d *reconcile.Derivation[*metav1.PartialObjectMetadata, []string]) { d.Each = nil }, `derive "zones": a Derivation needs List, Each and Merge`},
		"OtherList":  {func(d *reconcile.Derivation[*metav1.PartialObjectMetadata, []string]) { d.List = &corev1.NodeList{} }, "*v1.NodeList is no list of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := *zones
			test.change(&wrong)
			got := reconcile.FetchDerived(t.Context(), fake.NewClientBuilder().Build(), &wrong)
			if got.Error == nil || !strings.Contains(got.Error.Error(), test.want) {
				t.Errorf("got %v, want %q", got.Error, test.want)
			}
		})
	}
}
