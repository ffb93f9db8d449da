package podtemplate

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/layers/container"
)

// Compose adds the parts to a copy of the base, the most specific part first. New containers, volumes and pull secrets are appended to
// those of the base, the least specific part first. Compose joins the errors of all parts. With an error, the returned template omits the
// conflicting items and must not be used.
func Compose(base corev1.PodTemplateSpec, parts ...Part) (corev1.PodTemplateSpec, error) {
	c := &composition{template: *base.DeepCopy(), owners: map[string]string{}}
	c.adopt()
	least := slices.Clone(parts)
	slices.Reverse(least)
	for i := range least {
		c.addContainers(&least[i])
	}
	for i := range least {
		c.addToContainers(&least[i])
		c.addToPod(&least[i])
	}
	return c.template, errors.Join(c.errs...)
}

// composition is a template under construction.
type composition struct {
	template corev1.PodTemplateSpec
	owners   map[string]string // source of each item
	errs     []error
}

// taken records that the part adds the item and reports whether the item exists already. An existing item that differs is a conflict.
func (c *composition) taken(what, from string, same func() bool) bool {
	first, known := c.owners[what]
	if !known {
		c.owners[what] = from
		return false
	}
	if first == from || !same() {
		c.errs = append(c.errs, &ConflictError{What: what, First: first, Second: from})
	}
	return true
}

// adopt records the items of the base and reports conflicts among them.
func (c *composition) adopt() {
	spec := &c.template.Spec
	never := func() bool { return false }
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			c.taken(containerName(list[i].Name), base, never)
			c.noteMounts(&list[i], base)
		}
	}
	for i := range spec.Volumes {
		c.taken(volumeName(spec.Volumes[i].Name), base, never)
	}
}

func (c *composition) noteMounts(owner *corev1.Container, from string) {
	for i := range owner.VolumeMounts {
		c.taken(mountName(owner, owner.VolumeMounts[i].MountPath), from, func() bool { return false })
	}
}

func (c *composition) addContainers(part *Part) {
	c.template.Spec.InitContainers = c.append(c.template.Spec.InitContainers, part.InitContainers, part.From)
	c.template.Spec.Containers = c.append(c.template.Spec.Containers, part.Containers, part.From)
}

func (c *composition) append(list, added []corev1.Container, from string) []corev1.Container {
	for i := range added {
		same := func() bool {
			at := slices.IndexFunc(list, func(known corev1.Container) bool { return known.Name == added[i].Name })
			return at >= 0 && equality.Semantic.DeepEqual(list[at], added[i])
		}
		if c.taken(containerName(added[i].Name), from, same) {
			continue
		}
		list = append(list, *added[i].DeepCopy())
		c.noteMounts(&list[len(list)-1], from)
	}
	return list
}

// addToContainers adds variables and mounts in the order of the container names, so that errors have a stable order.
func (c *composition) addToContainers(part *Part) {
	for _, name := range slices.Sorted(maps.Keys(part.Env)) {
		if target := c.find(name, part.From); target != nil {
			target.Env = container.Env{}.Merge(part.Env[name], target.Env)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(part.Mounts)) {
		if target := c.find(name, part.From); target != nil {
			c.mount(target, part.Mounts[name], part.From)
		}
	}
}

func (c *composition) mount(target *corev1.Container, mounts []corev1.VolumeMount, from string) {
	for i := range mounts {
		same := func() bool {
			return slices.ContainsFunc(target.VolumeMounts, func(known corev1.VolumeMount) bool {
				return equality.Semantic.DeepEqual(known, mounts[i])
			})
		}
		if !c.taken(mountName(target, mounts[i].MountPath), from, same) {
			target.VolumeMounts = append(target.VolumeMounts, *mounts[i].DeepCopy())
		}
	}
}

func (c *composition) find(name, from string) *corev1.Container {
	spec := &c.template.Spec
	var known []string
	for _, list := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
			known = append(known, list[i].Name)
		}
	}
	c.errs = append(c.errs, &unknownContainerError{from: from, container: name, known: known})
	return nil
}

// addToPod adds the items of the pod itself. The least specific part comes first, so that later parts win.
func (c *composition) addToPod(part *Part) {
	c.template.Labels = layers.Maps(part.Labels, c.template.Labels)
	c.template.Annotations = layers.Maps(part.Annotations, c.template.Annotations)
	spec := &c.template.Spec
	for i := range part.Volumes {
		same := func() bool {
			return slices.ContainsFunc(spec.Volumes, func(known corev1.Volume) bool {
				return equality.Semantic.DeepEqual(known, part.Volumes[i])
			})
		}
		if !c.taken(volumeName(part.Volumes[i].Name), part.From, same) {
			spec.Volumes = append(spec.Volumes, *part.Volumes[i].DeepCopy())
		}
	}
	for _, secret := range part.PullSecrets {
		if !slices.Contains(spec.ImagePullSecrets, secret) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, secret)
		}
	}
}

func containerName(name string) string { return fmt.Sprintf("container %q", name) }

func volumeName(name string) string { return fmt.Sprintf("volume %q", name) }

// mountName names a mount. Paths are cleaned before they are compared, as the kubelet does.
func mountName(target *corev1.Container, at string) string {
	return fmt.Sprintf("mount at %q in container %q", path.Clean(at), target.Name)
}
