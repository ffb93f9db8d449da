package recording_test

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
)

// quiet is an engine whose status is as it should be.
type quiet struct{ *engine }

func (*quiet) WriteStatus(context.Context, client.Object, client.Object, []string) (bool, error) {
	return false, nil
}

// forms reads one Secret in all forms.
type forms struct{ shop }

func (forms) FetchRemoteState(
	ctx context.Context, r reconcile.Reader, _ reconcile.ReconcileContext[*widget.Widget],
) (out seen) {
	key := client.ObjectKey{Namespace: "shop", Name: "db"}
	u := reconcile.Fetch(ctx, r, key, dynamic())
	m := reconcile.Fetch(ctx, r, key, &metav1.PartialObjectMetadata{TypeMeta: secretKind})
	t := reconcile.Fetch(ctx, r, key, &corev1.Secret{})
	list := reconcile.FetchList(ctx, r, &corev1.SecretList{}, all()...)
	lists := reconcile.FetchList(ctx, r, dynamicList(), all()...)
	one := reconcile.FetchList(ctx, r, &corev1.SecretList{}, client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", "db"),
	})
	if err := errors.Join(u.Error, m.Error, t.Error, list.Error, lists.Error); err != nil || one.OK() && len(list.Value.Items) == 0 {
		out.sources.Error = err
	}
	out.sources.Value = &corev1.ConfigMapList{}
	return out
}

var secretKind = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}

func dynamic() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(secretKind.GroupVersionKind())
	return u
}

func dynamicList() *unstructured.UnstructuredList {
	u := &unstructured.UnstructuredList{}
	u.SetAPIVersion("v1")
	u.SetKind("SecretList")
	return u
}

func all() []client.ListOption {
	return []client.ListOption{client.InNamespace("shop"), client.Limit(5)}
}
