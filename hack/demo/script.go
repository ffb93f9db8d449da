package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// script is what happens after the samples are ready.
type script struct {
	Acts []act `json:"acts"`
	// ServerOnly runs the demo on etcd and kube-apiserver alone: no sample needs
	// a pod, a service account of the cluster or garbage collection.
	ServerOnly bool `json:"serverOnly,omitempty"`
}

// act applies or deletes a sample, named Kind/name, and says what comes of it.
// A sample that an act applies is not applied before.
type act struct {
	Say    string  `json:"say"`
	Apply  string  `json:"apply,omitempty"`
	Delete string  `json:"delete,omitempty"`
	See    []sight `json:"see"`
}

// sight is what has to become true about an object that is no sample.
type sight struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Field is the path of a field: of a map its keys are looked at.
	Field []string `json:"field,omitempty"`
	Want  []string `json:"want,omitempty"`
	Gone  bool     `json:"gone,omitempty"`
}

// readScript reads the script of a product; none is an empty one.
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

	for i, a := range s.Acts {
		if (a.Apply == "") == (a.Delete == "") {
			return s, fmt.Errorf("script %s: act %d must either apply or delete a sample", file, i+1)
		}
	}

	return s, nil
}

// opening returns the samples that are applied before the first act.
func (s script) opening(samples []manifest) []manifest {
	return slices.DeleteFunc(slices.Clone(samples), func(m manifest) bool {
		return slices.ContainsFunc(s.Acts, func(a act) bool { return a.Apply == title(m.object) })
	})
}

func title(object *unstructured.Unstructured) string {
	return object.GetKind() + "/" + object.GetName()
}

// play plays the acts, and returns the samples that were not there before.
func (s script) play(ctx context.Context, within time.Duration, p product, scene *scene, out *screen) (created []*unstructured.Unstructured, err error) {
	for i, a := range s.Acts {
		out.step(fmt.Sprintf("act %d of %d: %s", i+1, len(s.Acts), a.Say))

		fresh, err := a.perform(ctx, p, scene)
		created = append(created, fresh...)

		if err != nil {
			return created, err
		}

		for _, wanted := range a.See {
			if err := wanted.await(ctx, scene.client, out); err != nil {
				return created, err
			}
		}

		if err := follow(ctx, within, scene, out); err != nil {
			return created, err
		}
	}

	return created, nil
}

// perform applies or deletes the sample of the act.
func (a act) perform(ctx context.Context, p product, scene *scene) ([]*unstructured.Unstructured, error) {
	if a.Delete != "" {
		at := slices.IndexFunc(scene.samples, func(o *unstructured.Unstructured) bool { return title(o) == a.Delete })
		if at < 0 {
			return nil, fmt.Errorf("the script deletes %s, which is not on the scene", a.Delete)
		}

		gone := scene.samples[at]
		scene.samples = slices.Delete(scene.samples, at, at+1)

		return nil, scene.client.deleteAll(ctx, []*unstructured.Unstructured{gone})
	}

	var wanted []manifest

	for _, m := range p.samples {
		if title(m.object) == a.Apply {
			wanted = append(wanted, m)
		}
	}

	if len(wanted) == 0 {
		return nil, fmt.Errorf("the script applies %s, which is no sample", a.Apply)
	}

	applied, created, err := scene.client.applyAll(ctx, wanted)
	scene.samples = append(scene.samples, applied...)

	return created, err
}

// await waits until the object is as wanted, and shows it.
func (s sight) await(ctx context.Context, c *cluster, out *screen) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	for {
		seen, done, err := s.look(ctx, c)
		if done {
			out.say("  " + seen)

			return nil
		}

		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("want %s %s, have: %s", s, s.Want, seen), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// look reads the object, and reports what there is and whether it is as wanted.
func (s sight) look(ctx context.Context, c *cluster) (seen string, done bool, err error) {
	client, err := c.resource(schema.FromAPIVersionAndKind(s.APIVersion, s.Kind), s.Namespace)
	if err != nil {
		return "", false, err
	}

	object, err := client.Get(ctx, s.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s.String() + " is gone", s.Gone, nil
	}

	if err != nil {
		return "", false, err
	}

	found, _, err := unstructured.NestedFieldNoCopy(object.Object, s.Field...)
	if err != nil {
		return "", false, err
	}

	values := []string{fmt.Sprint(found)}
	if m, ok := found.(map[string]any); ok {
		values = slices.Sorted(maps.Keys(m))
	}

	return fmt.Sprintf("%s: %s", s, strings.Join(values, ", ")), !s.Gone && slices.Equal(values, s.Want), nil
}

// String names the object and the field.
func (s sight) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s/%s %s", s.Kind, s.Namespace, s.Name, strings.Join(s.Field, ".")))
}
