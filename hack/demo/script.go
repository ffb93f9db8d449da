package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// script is the life cycle of a product, in steps.
type script struct {
	// Steps in order. The first one applies every sample that no other step applies, and waits until all owners among them are ready.
	Steps []step `json:"steps"`
	// ServerOnly runs the demo only on etcd and kube-apiserver: no sample needs a pod, a service account of the cluster or garbage
	// collection.
	ServerOnly bool `json:"serverOnly,omitempty"`
}

// step changes objects and waits until the facts are true.
type step struct {
	// Say is one sentence: the change, and the reason for the operator's reaction.
	Say string `json:"say"`
	// Apply and Delete list samples as Kind/name. A sample that a step applies is not applied before.
	Apply  []string `json:"apply,omitempty"`
	Delete []string `json:"delete,omitempty"`
	// Patch are merge patches with apiVersion, kind and metadata of their objects.
	Patch []map[string]any `json:"patch,omitempty"`
	// See are the facts, in the order in which they become true.
	See []sight `json:"see,omitempty"`
}

// sight is a fact about one object.
type sight struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Condition is the type of a status condition, followed by its expected status and reason. Its message is displayed.
	Condition string `json:"condition,omitempty"`
	// Field is the path of a field: an element of a list is selected by its name or its index; for a map the keys are compared.
	Field []string `json:"field,omitempty"`
	Want  []string `json:"want,omitempty"`
	// Message is a text in the message of the condition.
	Message string `json:"message,omitempty"`
	// Gone requires that the object does not exist.
	Gone bool `json:"gone,omitempty"`
}

// readScript reads the script of a product; a missing script is empty.
func readScript(file string) (script, error) {
	var s script

	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}

	if err == nil {
		err = yaml.UnmarshalStrict(data, &s)
	}

	if err != nil {
		return s, fmt.Errorf("read the script %s: %w", file, err)
	}

	for i := range s.Steps {
		if err := s.Steps[i].validate(i); err != nil {
			return s, fmt.Errorf("script %s: step %d %w", file, i+1, err)
		}
	}

	return s, nil
}

// validate checks a step by its index.
func (s step) validate(index int) error {
	changes := len(s.Apply) + len(s.Delete) + len(s.Patch)

	switch {
	case s.Say == "" || strings.Contains(s.Say, "\n"):
		return errors.New("must describe the step in one line (say)")
	case index == 0 && changes > 0:
		return errors.New("is the first one, which applies the samples of no other step: it must not apply, patch or delete objects")
	case index > 0 && (changes == 0 || len(s.See) == 0):
		return errors.New("must apply, patch or delete an object, and list the expected result (see)")
	}

	for _, patch := range s.Patch {
		object := unstructured.Unstructured{Object: patch}
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			return fmt.Errorf("has a patch without apiVersion, kind or metadata.name: %v", patch)
		}
	}

	for _, seen := range s.See {
		expects := len(seen.Field) > 0 || seen.Condition != ""
		if seen.APIVersion == "" || seen.Kind == "" || seen.Name == "" || seen.Gone == expects || expects != (len(seen.Want) > 0) {
			return fmt.Errorf("sees %q, which needs apiVersion, kind and name, and either gone, or field or condition with the wanted value", seen)
		}
	}

	return nil
}

// opening returns the samples of the first step.
func (s script) opening(samples []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(samples), func(m manifest) bool {
		return slices.ContainsFunc(s.Steps, func(a step) bool { return slices.Contains(a.Apply, title(m.object)) })
	})
}

// rehearse checks the script without a cluster: every sample that a step applies or deletes must exist then.
func (s script) rehearse(samples []manifest) error {
	scene := map[string]bool{}
	for _, m := range s.opening(samples) {
		scene[title(m.object)] = true
	}

	for i, a := range s.Steps {
		for _, name := range a.Apply {
			if !slices.ContainsFunc(samples, func(m manifest) bool { return title(m.object) == name }) {
				return fmt.Errorf("step %d applies %s, which is not a sample", i+1, name)
			}

			scene[name] = true
		}

		for _, name := range a.Delete {
			if !scene[name] {
				return fmt.Errorf("step %d deletes %s, which was not applied", i+1, name)
			}

			scene[name] = false
		}
	}

	return nil
}

// brief reports whether the demo shows only the steps: there are several, and they are executed.
func (s script) brief(fail string) bool { return len(s.Steps) > 1 && fail == "" }

// heading returns the line of a step by its index.
func (s script) heading(index int) string {
	if len(s.Steps) == 1 {
		return s.Steps[index].Say
	}

	return fmt.Sprintf("%d of %d. %s", index+1, len(s.Steps), s.Steps[index].Say)
}

func title(object *unstructured.Unstructured) string {
	return object.GetKind() + "/" + object.GetName()
}

// play executes the steps after the first one, and waits for the facts of all.
func (s script) play(ctx context.Context, p product, scene *scene, out *screen) error {
	for i, a := range s.Steps {
		if i > 0 {
			out.act(s.heading(i))

			if err := a.perform(ctx, p.samples, scene); err != nil {
				return fmt.Errorf("step %s: %w", s.heading(i), err)
			}
		}

		for _, wanted := range a.See {
			if err := wanted.await(ctx, scene, out); err != nil {
				return fmt.Errorf("step %s: %w", s.heading(i), err)
			}
		}
	}

	return nil
}

// perform applies, patches and deletes the objects of the step. rehearse has checked that the samples exist.
func (s step) perform(ctx context.Context, samples []manifest, scene *scene) error {
	var wanted []manifest

	for _, m := range samples {
		if slices.Contains(s.Apply, title(m.object)) {
			wanted = append(wanted, m)
		}
	}

	if err := scene.apply(ctx, wanted); err != nil {
		return err
	}

	for _, patch := range s.Patch {
		if err := scene.client.patch(ctx, patch); err != nil {
			return err
		}
	}

	var gone, kept []*unstructured.Unstructured

	for _, sample := range scene.samples {
		if slices.Contains(s.Delete, title(sample)) {
			gone = append(gone, sample)
		} else {
			kept = append(kept, sample)
		}
	}

	scene.samples = kept

	return scene.client.deleteAll(ctx, gone)
}

// patch merges a partial object into the existing one.
func (c *cluster) patch(ctx context.Context, partial map[string]any) error {
	object := unstructured.Unstructured{Object: partial}

	client, err := c.resource(object.GroupVersionKind(), object.GetNamespace())
	if err != nil {
		return err
	}

	data, err := json.Marshal(partial)
	if err != nil {
		return err
	}

	if _, err := client.Patch(ctx, object.GetName(), types.MergePatchType, data, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("patch %s: %w", title(&object), err)
	}

	return nil
}

// await waits until the object is as expected, and shows it.
func (s sight) await(ctx context.Context, scene *scene, out *screen) error {
	began := time.Now()

	ctx, cancel := context.WithTimeoutCause(ctx, factWithin, fmt.Errorf("not seen within %s", factWithin))
	defer cancel()

	for round := 0; ; round++ {
		seen, done, err := s.look(ctx, scene.client)
		if done {
			out.fact(time.Since(began), seen)

			return nil
		}

		if round%4 == 3 && out.live() {
			// The picture is optional, so a read error does not fail the step.
			if actors, err := scene.look(ctx); err == nil {
				out.draw(time.Since(began), actors)
			}
		}

		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%w: want %s, have %s", context.Cause(ctx), s.wanted(), seen), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// look reads the object, and returns its state and whether it is as expected.
func (s sight) look(ctx context.Context, c *cluster) (seen string, done bool, err error) {
	client, err := c.resource(schema.FromAPIVersionAndKind(s.APIVersion, s.Kind), s.Namespace)
	if meta.IsNoMatchError(err) {
		return s.String() + ": the kind is not served", false, nil
	}

	if err != nil {
		return "an error", false, err
	}

	object, err := client.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s.String() + ": does not exist", s.Gone, nil
	}

	if err != nil {
		return "an error", false, err
	}

	values, message := s.read(object)
	seen = s.String() + ": " + strings.Join(values, ", ")

	if message != "" {
		seen += " (" + message + ")"
	}

	return seen, !s.Gone && slices.Equal(values, s.Want) && strings.Contains(message, s.Message), nil
}

// read returns the value of the object that the sight describes.
func (s sight) read(object *unstructured.Unstructured) (values []string, message string) {
	if s.Gone {
		return []string{"exists"}, ""
	}

	if s.Condition == "" {
		return valuesOf(fieldOf(object.Object, s.Field)), ""
	}

	for _, c := range conditionsOf(object) {
		stale := c.ObservedGeneration != 0 && c.ObservedGeneration != object.GetGeneration()
		if c.Type == s.Condition && !stale {
			return []string{c.Status, c.Reason}, c.Message
		}
	}

	return []string{"no condition of this generation"}, ""
}

// fieldOf returns the value at a path, nil for none.
func fieldOf(at any, path []string) any {
	for _, part := range path {
		switch value := at.(type) {
		case map[string]any:
			at = value[part]
		case []any:
			at = elementOf(value, part)
		default:
			return nil
		}
	}

	return at
}

// elementOf returns the element of a list with the name or index, nil for none.
func elementOf(list []any, part string) any {
	for _, element := range list {
		if fields, ok := element.(map[string]any); ok && fields["name"] == part {
			return element
		}
	}

	if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}

	return nil
}

// valuesOf returns a value as text, for a map the keys.
func valuesOf(value any) []string {
	if value == nil {
		return []string{"nothing"}
	}

	if fields, ok := value.(map[string]any); ok {
		return slices.Sorted(maps.Keys(fields))
	}

	return []string{fmt.Sprint(value)}
}

// String returns the object and the path or condition.
func (s sight) String() string {
	name := strings.TrimPrefix(s.Namespace+"/"+s.Name, "/")

	return strings.TrimSpace(s.Kind + " " + name + " " + s.Condition + strings.Join(s.Field, "."))
}

// wanted returns the fact as text.
func (s sight) wanted() string {
	if s.Gone {
		return s.String() + ": does not exist"
	}

	text := s.String() + ": " + strings.Join(s.Want, ", ")
	if s.Message != "" {
		text += " (" + s.Message + ")"
	}

	return text
}
