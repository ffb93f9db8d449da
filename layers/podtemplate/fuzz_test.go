package podtemplate_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
)

// FuzzCompose checks that the arguments are unchanged, that a second composition has the same result, and that without
// an error every container, volume and mount path appears once.
func FuzzCompose(f *testing.F) {
	f.Add("server", "data", "/data", "X")
	f.Add("init", "v", "/data/.", "")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, name, volume, path, variable string) {
		parts := func() []podtemplate.Part {
			return []podtemplate.Part{
				{
					From: "near", Containers: []corev1.Container{{Name: name, Args: []string{path}}},
					Mounts: map[string][]corev1.VolumeMount{"server": {{Name: volume, MountPath: path}}},
				},
				{
					From: "far", Volumes: []corev1.Volume{{Name: volume}},
					Env: map[string][]corev1.EnvVar{name: {{Name: variable, Value: "1"}}, "server": {{Name: variable, Value: "2"}}},
				},
			}
		}
		given, untouched := base(), parts()
		got, err := podtemplate.Compose(given, untouched...)
		again, errAgain := podtemplate.Compose(base(), parts()...)
		if !reflect.DeepEqual(got, again) || (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
			t.Errorf("got %v (%v), then %v (%v)", got, err, again, errAgain)
		}
		scribble(&got)
		if !reflect.DeepEqual(given, base()) || !reflect.DeepEqual(untouched, parts()) {
			t.Errorf("the arguments have changed")
		}
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, c := range append(again.Spec.InitContainers, again.Spec.Containers...) {
			if names[c.Name] {
				t.Errorf("container %q appears twice", c.Name)
			}
			names[c.Name] = true
		}
	})
}

// scribble changes everything that a template could share with its inputs.
func scribble(t *corev1.PodTemplateSpec) {
	for key := range t.Labels {
		t.Labels[key] = "scribbled"
	}
	for i := range t.Spec.Containers {
		c := &t.Spec.Containers[i]
		c.Image = "scribbled"
		for j := range c.Args {
			c.Args[j] = "scribbled"
		}
		for j := range c.Env {
			c.Env[j].Value = "scribbled"
		}
		for j := range c.VolumeMounts {
			c.VolumeMounts[j].Name = "scribbled"
		}
	}
	for i := range t.Spec.Volumes {
		t.Spec.Volumes[i].Name = "scribbled"
	}
	for i := range t.Spec.ImagePullSecrets {
		t.Spec.ImagePullSecrets[i].Name = "scribbled"
	}
}
