package environment

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNotReadySample checks the hints for a sample that does not become ready.
func TestNotReadySample(t *testing.T) {
	t.Parallel()

	sample := func(status map[string]any) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{"kind": "Website", "metadata": map[string]any{"name": "a"}}}
		if status != nil {
			object.Object["status"] = status
		}

		return object
	}

	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		err    error
		want   string
	}{
		"no status, such as of an owner that is not selected": {sample(nil), nil, "selects with Builder.Owners"},
		"a status":       {sample(map[string]any{"conditions": []any{}}), nil, "other controllers do not run here"},
		"a failed read":  {sample(nil), errors.New("away"), ": away"},
		"its own status": {sample(map[string]any{"phase": "Pending"}), nil, "like a stand-in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := notIn(test.object, "Ready", test.err)
			if !strings.HasPrefix(got, "Website a has no condition Ready that is True, after 2m0s") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want it to contain %q", got, test.want)
			}
		})
	}
}
