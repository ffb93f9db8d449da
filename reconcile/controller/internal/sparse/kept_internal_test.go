package sparse

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	source "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeletedObjectsAreReleased(t *testing.T) {
	t.Parallel()
	i := NewInformer(source.NewFakeControllerSource(), &corev1.Secret{}, 0, toolscache.Indexers{},
		corev1.SchemeGroupVersion.WithKind("Secret"), Ours{Has: func(metav1.Object) bool { return false }})
	NewLink("shop", func(client.Object) bool { return true }).join(i)
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "theirs", UID: "a", ResourceVersion: "1"}}
	stored, err := i.reduce(o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := i.reduce(stored); err != nil || again != stored {
		t.Errorf("a second transform: got %v, %v", again, err)
	}
	if len(i.kept) != 1 {
		t.Fatalf("kept: got %d", len(i.kept))
	}
	another := o.DeepCopy()
	another.UID = "b"
	i.deleted(reduce(another, "shop"))
	if len(i.kept) != 1 {
		t.Error("the deletion of another object of the name gives back this one")
	}
	i.deleted(toolscache.DeletedFinalStateUnknown{Key: "shop/theirs", Obj: stored})
	if len(i.kept) != 0 {
		t.Errorf("kept after the deletion: got %d", len(i.kept))
	}
}
