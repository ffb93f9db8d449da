package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/health/inspect"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// scene is the set of displayed objects: the samples that the operator reconciles, and their children.
type scene struct {
	client  *cluster
	flow    flow
	samples []*unstructured.Unstructured
	created []*unstructured.Unstructured // samples that did not exist before
	last    []actor
}

// apply applies samples.
func (s *scene) apply(ctx context.Context, samples []manifest) error {
	applied, created, err := s.client.applyAll(ctx, samples)
	s.samples = append(s.samples, applied...)
	s.created = append(s.created, created...)

	return err
}

// actor is one displayed object.
type actor struct {
	depth      int // 0 is an owner, 1 its child, and so on
	kind, key  string
	component  health.Component
	conditions []condition // of owners only
	ready      bool
}

// condition is a status condition, as the API conventions define it.
type condition struct {
	Type, Status, Reason, Message string
	ObservedGeneration            int64
}

// grandchildren returns kinds that built-in controllers create for children.
func grandchildren() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
		{Group: "batch", Version: "v1", Kind: "Job"},
		{Version: "v1", Kind: "Pod"},
	}
}

// owners returns the samples of the kinds that the operator reconciles.
func (s *scene) owners() []*unstructured.Unstructured {
	var owners []*unstructured.Unstructured

	for _, sample := range s.samples {
		if slices.Contains(s.flow.owners, sample.GroupVersionKind()) {
			owners = append(owners, sample)
		}
	}

	return owners
}

// look reads the current scene.
func (s *scene) look(ctx context.Context) ([]actor, error) {
	var actors []actor

	listed := map[string][]*unstructured.Unstructured{}

	for _, sample := range s.owners() {
		client, err := s.client.resource(sample.GroupVersionKind(), sample.GetNamespace())
		if err != nil {
			return nil, err
		}

		owner, err := client.Get(ctx, sample.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", sample.GetKind(), sample.GetName(), err)
		}

		actors = append(actors, newActor(owner, 0))

		namespace := owner.GetNamespace()
		if _, known := listed[namespace]; !known {
			if listed[namespace], err = s.list(ctx, namespace); err != nil {
				return nil, err
			}
		}

		actors = appendChildren(actors, listed[namespace], owner.GetUID(), 1)
	}

	s.last = actors

	return actors, nil
}

// list reads the objects of all kinds that may be children in a namespace, for a cluster-scoped owner in all namespaces.
func (s *scene) list(ctx context.Context, namespace string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured

	kinds := slices.Concat(s.flow.children, grandchildren())
	for i, kind := range kinds {
		if slices.Contains(kinds[:i], kind) {
			continue
		}

		client, err := s.client.resource(kind, namespace)
		if meta.IsNoMatchError(err) {
			continue // an optional kind that this cluster does not serve
		}

		if err != nil {
			return nil, err
		}

		list, err := client.List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}

		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}

		for i := range list.Items {
			found = append(found, &list.Items[i])
		}
	}

	return found, nil
}

// appendChildren appends the children of owner and their children, depth first and in the order of the list.
func appendChildren(actors []actor, all []*unstructured.Unstructured, owner types.UID, depth int) []actor {
	for _, object := range all {
		owned := slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner })
		if !owned {
			continue
		}

		actors = append(actors, newActor(object, depth))
		actors = appendChildren(actors, all, object.GetUID(), depth+1)
	}

	return actors
}

func newActor(object *unstructured.Unstructured, depth int) actor {
	a := actor{
		depth:     depth,
		kind:      object.GetKind(),
		key:       strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/"),
		component: inspect.Of(object),
	}

	if depth > 0 {
		a.ready = a.component.GetState() == health.Ready

		return a
	}

	a.conditions = conditionsOf(object)
	if len(a.conditions) == 0 { // of a kind without conditions
		a.ready, _, _ = unstructured.NestedBool(object.Object, "status", "available")

		return a
	}

	a.ready = slices.ContainsFunc(a.conditions, func(c condition) bool {
		// Some kinds have conditions without a generation.
		return c.Type == "Ready" && c.Status == "True" && (c.ObservedGeneration == 0 || c.ObservedGeneration == object.GetGeneration())
	})

	return a
}

// conditionsOf reads status.conditions; malformed conditions are omitted.
func conditionsOf(object *unstructured.Unstructured) []condition {
	list, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return nil
	}

	var found []condition

	for _, entry := range list {
		fields, ok := entry.(map[string]any)
		if !ok {
			continue
		}

		text := func(name string) string {
			value, _, _ := unstructured.NestedString(fields, name)

			return value
		}
		generation, _, _ := unstructured.NestedInt64(fields, "observedGeneration")
		found = append(found, condition{
			Type: text("type"), Status: text("status"), Reason: text("reason"), Message: text("message"),
			ObservedGeneration: generation,
		})
	}

	return found
}

// follow shows the scene until every owner is ready. A script may create its owners later.
func follow(ctx context.Context, within time.Duration, s *scene, out *screen) error {
	if len(s.owners()) == 0 && out.brief {
		return nil
	}

	if len(s.owners()) == 0 {
		return fmt.Errorf("no sample is of a kind that the operator reconciles: %v", s.flow.owners)
	}

	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("not ready within %s", within))
	defer cancel()

	began := time.Now()

	for {
		actors, err := s.look(ctx)
		if err == nil {
			out.draw(time.Since(began), actors)

			if allReady(actors) {
				out.settled(time.Since(began))

				return nil
			}
		}

		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), reasons(s.last), err)
		case <-time.After(400 * time.Millisecond):
		}
	}
}

func allReady(actors []actor) bool {
	return !slices.ContainsFunc(actors, func(a actor) bool { return a.depth == 0 && !a.ready })
}

// reasons returns the conditions of owners, and the children, that are not ready.
func reasons(actors []actor) error {
	var lines []error

	for _, a := range actors {
		if a.depth > 0 && !a.ready {
			lines = append(lines, fmt.Errorf("  %s %s is %s: %s %s",
				a.kind, a.key, a.component.GetState(), a.component.GetReason(), a.component.GetMessage()))
		}

		if a.depth > 0 || a.ready {
			continue
		}

		lines = append(lines, fmt.Errorf("%s %s is not ready:", a.kind, a.key)) //nolint:staticcheck // a heading of what follows
		if len(a.conditions) == 0 {
			lines = append(lines, errors.New("  no conditions: the operator has not written its status"))
		}

		for _, c := range a.conditions {
			if c.Status != "True" {
				lines = append(lines, fmt.Errorf("  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
			}
		}
	}

	return errors.Join(lines...)
}
