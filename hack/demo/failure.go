package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// failure is a failure that the demo causes.
type failure struct {
	say string
	// cause causes the failure, and returns the function that repairs it.
	cause func(ctx context.Context, v *victim) (repair func(context.Context) error, err error)
}

// failures returns the failures, keyed by the value of the variable FAIL that selects them.
func failures() map[string]failure {
	return map[string]failure{
		"webhook": {"an admission webhook is down, and a child is deleted", webhookDown},
		"quota":   {"a quota is used up, and a child is deleted", quotaUsedUp},
		"rights":  {"the operator loses the permission to write a kind, and a child is deleted", rightsGone},
		"fight":   {"another manager repeatedly takes a field by force", fight},
		"spec":    {"an owner gets an invalid spec", badSpec},
	}
}

// findFailure returns the failure with the name.
func findFailure(name string) (failure, error) {
	f, found := failures()[name]
	if !found {
		return f, fmt.Errorf("no failure %q, want FAIL to be one of: %s", name, strings.Join(slices.Sorted(maps.Keys(failures())), ", "))
	}

	return f, nil
}

// victim is an owner, one of its children, and other inputs of a failure.
type victim struct {
	client       *cluster
	owner, child *unstructured.Unstructured
	mapping      *meta.RESTMapping // of the child
	rights       []manifest        // of the operator
	badSpec      *unstructured.Unstructured
	sample       *unstructured.Unstructured // of the owner
}

// pickVictim returns the first owner that controls a child that can be deleted safely.
func pickVictim(ctx context.Context, s *scene) (*victim, error) {
	for _, sample := range s.owners() {
		client, err := s.client.resource(sample.GroupVersionKind(), sample.GetNamespace())
		if err != nil {
			return nil, err
		}

		owner, err := client.Get(ctx, sample.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", title(sample), err)
		}

		objects, err := s.list(ctx, owner.GetNamespace())
		if err != nil {
			return nil, err
		}

		for _, object := range objects {
			if metav1.IsControlledBy(object, owner) && object.GetKind() != "PersistentVolumeClaim" && object.GetKind() != "Secret" {
				kind := object.GroupVersionKind()
				mapping, err := s.client.mapper.RESTMapping(kind.GroupKind(), kind.Version)

				return &victim{client: s.client, owner: owner, child: object, mapping: mapping, sample: sample}, err
			}
		}
	}

	return nil, fmt.Errorf("no owner has a child that can be deleted for a demo: %v", s.flow.owners)
}

// resource returns the child's resource for quotas and roles.
func (v *victim) resource() (group, plural string) {
	return v.mapping.Resource.Group, v.mapping.Resource.Resource
}

// deleteChild deletes the child, so that the operator has to recreate it.
func (v *victim) deleteChild(ctx context.Context) error {
	client, err := v.client.resource(v.child.GroupVersionKind(), v.child.GetNamespace())
	if err != nil {
		return err
	}

	return client.Delete(ctx, v.child.GetName(), metav1.DeleteOptions{})
}

// refused waits until the API server rejects another object like the child, because rules take effect with a delay.
func (v *victim) refused(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	client, err := v.client.resource(v.child.GroupVersionKind(), v.child.GetNamespace())
	if err != nil {
		return err
	}

	trial := &unstructured.Unstructured{Object: map[string]any{}}
	if spec, found := v.child.Object["spec"]; found {
		trial.Object["spec"] = spec
	}

	trial.SetGroupVersionKind(v.child.GroupVersionKind())
	trial.SetName("trial")
	trial.SetNamespace(v.child.GetNamespace())

	for {
		if _, err := client.Create(ctx, trial, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			return context.Cause(ctx)
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server still accepts %s: %w", v.child.GetKind(), context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// refuse applies an object that makes the API server reject the child, and then deletes the child.
func (v *victim) refuse(ctx context.Context, by *unstructured.Unstructured) (repair func(context.Context) error, err error) {
	repair = func(ctx context.Context) error { return v.client.deleteOne(ctx, by) }
	if err := v.client.apply(ctx, by); err != nil {
		return repair, err
	}

	if by.GetKind() == "ResourceQuota" {
		if err := v.usedUp(ctx, by); err != nil {
			return repair, err
		}
	}

	if err := v.refused(ctx); err != nil {
		return repair, err
	}

	return repair, v.deleteChild(ctx)
}

func webhookDown(ctx context.Context, v *victim) (func(context.Context) error, error) {
	group, plural := v.resource()

	return v.refuse(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": fieldManager},
		"webhooks": []any{map[string]any{
			"name": "down.example.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
			"clientConfig":      map[string]any{"url": "https://127.0.0.1:1"},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": v.child.GetNamespace()}},
			"rules": []any{map[string]any{
				"operations": []any{"CREATE", "UPDATE"}, "apiGroups": []any{group}, "apiVersions": []any{"*"}, "resources": []any{plural},
			}},
		}},
	}})
}

func quotaUsedUp(ctx context.Context, v *victim) (func(context.Context) error, error) {
	group, plural := v.resource()

	return v.refuse(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota",
		"metadata": map[string]any{"name": fieldManager, "namespace": v.child.GetNamespace()},
		"spec":     map[string]any{"hard": map[string]any{strings.TrimSuffix("count/"+plural+"."+group, "."): "0"}},
	}})
}

// usedUp writes the status of a quota, because the quota controller may be missing.
func (v *victim) usedUp(ctx context.Context, quota *unstructured.Unstructured) error {
	client, err := v.client.resource(quota.GroupVersionKind(), quota.GetNamespace())
	if err != nil {
		return err
	}

	hard, _, _ := unstructured.NestedMap(quota.Object, "spec", "hard")

	patch, err := json.Marshal(map[string]any{"status": map[string]any{"hard": hard, "used": hard}})
	if err != nil {
		return err
	}

	_, err = client.Patch(ctx, quota.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status")

	return err
}

// rightsGone removes the permission to write the child's kind from the operator's roles.
func rightsGone(ctx context.Context, v *victim) (func(context.Context) error, error) {
	repair := func(ctx context.Context) error { return v.applyRights(ctx, func(*unstructured.Unstructured) {}) }

	if err := v.applyRights(ctx, v.readOnly); err != nil {
		return repair, err
	}

	return repair, v.deleteChild(ctx)
}

func (v *victim) applyRights(ctx context.Context, change func(*unstructured.Unstructured)) error {
	for _, m := range v.rights {
		object := m.object.DeepCopy()
		change(object)

		if err := v.client.apply(ctx, object); err != nil {
			return err
		}
	}

	return nil
}

// readOnly keeps only the reading verbs for the child's kind in a role.
func (v *victim) readOnly(role *unstructured.Unstructured) {
	group, plural := v.resource()
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")

	for _, item := range rules {
		rule, _ := item.(map[string]any)
		groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		verbs, _, _ := unstructured.NestedStringSlice(rule, "verbs")

		if slices.Contains(groups, group) && slices.Contains(resources, plural) {
			verbs = slices.DeleteFunc(verbs, func(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) })
			_ = unstructured.SetNestedStringSlice(rule, verbs, "verbs")
		}
	}

	if len(rules) > 0 {
		_ = unstructured.SetNestedSlice(role.Object, rules, "rules")
	}
}

// fight makes another field manager repeatedly set another value of a label that the operator sets.
func fight(ctx context.Context, v *victim) (func(context.Context) error, error) {
	labels := slices.DeleteFunc(slices.Sorted(maps.Keys(v.child.GetLabels())), func(key string) bool {
		return strings.HasPrefix(key, "applyset.kubernetes.io/")
	})
	if len(labels) == 0 {
		return nil, fmt.Errorf("%s has no label for the conflict", title(v.child))
	}

	client, err := v.client.resource(v.child.GroupVersionKind(), v.child.GetNamespace())
	if err != nil {
		return nil, err
	}

	theirs := &unstructured.Unstructured{Object: map[string]any{}}
	theirs.SetGroupVersionKind(v.child.GroupVersionKind())
	theirs.SetNamespace(v.child.GetNamespace())
	theirs.SetName(v.child.GetName())
	theirs.SetLabels(map[string]string{labels[0]: "painted"})

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		for ctx.Err() == nil {
			_, _ = client.Apply(ctx, theirs.GetName(), theirs, metav1.ApplyOptions{FieldManager: "painter", Force: true})

			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	}()

	return func(ctx context.Context) error {
		cancel()
		<-ended
		// The other manager releases the label.
		theirs.SetLabels(nil)

		_, err := client.Apply(ctx, theirs.GetName(), theirs, metav1.ApplyOptions{FieldManager: "painter", Force: true})

		return err
	}, nil
}

// badSpec merges the product's demo/bad-spec.yaml into the owner.
func badSpec(ctx context.Context, v *victim) (func(context.Context) error, error) {
	if v.badSpec == nil {
		return nil, fmt.Errorf("the product has no demo/bad-spec.yaml for %s", title(v.owner))
	}

	client, err := v.client.resource(v.owner.GroupVersionKind(), v.owner.GetNamespace())
	if err != nil {
		return nil, err
	}

	patch, err := json.Marshal(map[string]any{"spec": v.badSpec.Object["spec"]})
	if err != nil {
		return nil, err
	}

	_, err = client.Patch(ctx, v.owner.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})

	return func(ctx context.Context) error { return v.client.apply(ctx, v.sample) }, err
}

// eventKind is the kind of events.
var eventKind = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"} //nolint:gochecknoglobals // a constant
