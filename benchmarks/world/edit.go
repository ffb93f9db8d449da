package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// editor is the field manager of the edits.
const editor = client.FieldOwner("kubectl-edit")

// Churn writes the status of children that have one, as their own controllers would do; updates is the total number.
func (w *World) Churn(ctx context.Context, updates int) error {
	var targets []client.Object
	for n := range w.Owners * w.Children {
		switch child := w.child(n).(type) {
		case *appsv1.Deployment, *corev1.Service:
			targets = append(targets, child)
		}
	}
	if len(targets) == 0 {
		return errors.New("no child has a status")
	}
	var round atomic.Int64
	return each(updates, func(i int) error {
		patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Benchmark","status":"True","reason":"Round","message":"%d",`+
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, round.Add(1))
		target, _ := targets[i%len(targets)].DeepCopyObject().(client.Object)
		return w.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, []byte(patch)), editor)
	})
}

// Drift edits a field that the subject owns on every child of a stride, and adds a foreign annotation to every child of another stride.
// It returns the number of edited children of each kind, and a function that counts the edits that were not repaired.
func (w *World) Drift(ctx context.Context, stride int) (edited int, unrepaired func(context.Context) (int, error), err error) {
	total := w.Owners * w.Children
	before := map[int]string{}
	for n := 0; n < total; n += stride {
		if before[n], err = w.content(ctx, n); err != nil {
			return 0, nil, err
		}
	}
	for n := 0; n < total; n += stride {
		patch := client.RawPatch(types.MergePatchType, []byte(ownedEdit(w.child(n))))
		if err = w.client.Patch(ctx, w.child(n), patch, editor); err != nil {
			return 0, nil, err
		}
		if other := n + stride/2 + 1; other < total && stride > 1 {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/foreign":"1"}}}`))
			if err = w.client.Patch(ctx, w.child(other), patch, editor); err != nil {
				return 0, nil, err
			}
		}
	}
	return len(before), func(ctx context.Context) (int, error) {
		left := 0
		for n, want := range before {
			got, err := w.content(ctx, n)
			if err != nil {
				return 0, err
			}
			if got != want {
				left++
			}
		}
		return left, nil
	}, nil
}

// ownedEdit returns a merge patch of a field that every subject sets.
func ownedEdit(child client.Object) string {
	switch child.(type) {
	case *appsv1.Deployment:
		return `{"spec":{"replicas":7}}`
	case *corev1.Service:
		return `{"spec":{"selector":{"benchmark.reconcilekit.dev/owner":"drifted"}}}`
	case *corev1.ConfigMap:
		return `{"data":{"config.yaml":"drifted"}}`
	case *corev1.Secret:
		return `{"data":{"token":"ZHJpZnRlZA=="}}`
	}
	return `{"metadata":{"labels":{"app.kubernetes.io/component":"drifted"}}}`
}

// content returns the content of the child, without fields that change by themselves.
func (w *World) content(ctx context.Context, n int) (string, error) {
	child := w.child(n)
	if err := w.client.Get(ctx, client.ObjectKeyFromObject(child), child); err != nil {
		return "", err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child)
	if err != nil {
		return "", err
	}
	delete(fields, "status")
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		fields["metadata"] = map[string]any{"labels": metadata["labels"], "ownerReferences": metadata["ownerReferences"]}
	}
	text, err := json.Marshal(fields)
	return string(text), err
}
