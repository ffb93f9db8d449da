package sparse

import (
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReduceKeepsWhatIdentifies(t *testing.T) {
	t.Parallel()
	now := metav1.NewTime(time.Unix(1, 0))
	for name, want := range map[string]metav1.ObjectMeta{
		"as the API server makes it":  {Namespace: "n", Name: "o", UID: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", ResourceVersion: "18446744073709551615"},
		"a UID that is no UUID":       {Namespace: "n", Name: "o", UID: "0f1e2d3c4b5a69788796a5b4c3d2e1f0", ResourceVersion: "7"},
		"upper case":                  {Namespace: "n", Name: "o", UID: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0", ResourceVersion: "7"},
		"without a UID":               {Namespace: "n", Name: "o", ResourceVersion: "7"},
		"a version that is no number": {Namespace: "n", Name: "o", UID: "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", ResourceVersion: "007"},
		"all that events need": {
			Name: "o", UID: "u", ResourceVersion: "x", Labels: map[string]string{"a": "b"}, DeletionTimestamp: &now,
			OwnerReferences: []metav1.OwnerReference{{Kind: "K", Name: "k", UID: "x"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := want.DeepCopy()
			o.Annotations = map[string]string{"large": "text"}
			if diff := cmp.Diff(&want, reduce(o, o.Namespace).GetObjectMeta()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReduceIsSmall(t *testing.T) {
	t.Parallel()
	const most = 64 // bytes in addition to the name, so that 50,000 foreign objects need half the memory of 1,000 owners with children
	if got := unsafe.Sizeof(metadataOnly{}); got > most {
		t.Errorf("an object of others takes %d bytes, want at most %d", got, most)
	}
}
