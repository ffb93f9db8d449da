package runtimes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Validate returns an error if a runtime uses names or ports that are reserved for the mesh, or does not fit its adapter. It returns
// the first error, with the message of the product. Types are the known servers of adapters.
func (r *Runtime) Validate(types []string) error {
	if err := r.validateAdapter(types); err != nil {
		return err
	}
	for i := range r.Spec.Containers {
		if err := validateContainer(&r.Spec.Containers[i]); err != nil {
			return fmt.Errorf("container spec for %s is invalid: %w", r.Spec.Containers[i].Name, err)
		}
	}
	for _, volume := range r.Spec.Volumes {
		if err := reserved("volume", volume.Name, "storage-config", "etcd-config", "tc-config", "domain-socket", "models-dir"); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runtime) validateAdapter(types []string) error {
	adapter := r.Spec.BuiltInAdapter
	switch {
	case adapter == nil:
		return nil
	case !slices.Contains(types, adapter.ServerType):
		return fmt.Errorf("unrecognized built-in runtime server type %s", adapter.ServerType)
	case r.container(adapter.ServerType) == nil:
		return fmt.Errorf("must include runtime container with name %s", adapter.ServerType)
	}
	return nil
}

func (r *Runtime) container(name string) *corev1.Container {
	for i := range r.Spec.Containers {
		if r.Spec.Containers[i].Name == name {
			return &r.Spec.Containers[i]
		}
	}
	return nil
}

const managed = "ReadinessProbe and Lifecycle are managed by modelmesh and cannot be set" // as the product has it

func validateContainer(c *corev1.Container) error {
	if err := reserved("container name", c.Name, "mm", "rest-proxy", "puller"); err != nil {
		return err
	}
	if c.ReadinessProbe != nil || c.Lifecycle != nil {
		return errors.New(managed)
	}
	for _, mount := range c.VolumeMounts {
		if err := reserved("volume", mount.Name, "storage-config", "etcd-config", "tc-config", "domain-socket"); err != nil {
			return err
		}
	}
	for _, port := range c.Ports {
		if err := validatePort(port); err != nil {
			return err
		}
	}
	return nil
}

// The range of ports of the mesh, which no container may use.
const firstReserved, lastReserved = 11881, 11899

func validatePort(port corev1.ContainerPort) error {
	if err := reserved("port name", port.Name, "grpc", "http", "prometheus"); err != nil {
		return err
	}
	switch n := port.ContainerPort; {
	case slices.Contains([]int32{8080, 8085, 8089, 8090}, n):
		return fmt.Errorf("%s %d is reserved for internal use", "Port", n)
	case n >= firstReserved && n <= lastReserved:
		return fmt.Errorf("%s [%d-%d] is reserved for internal use", "Port range", firstReserved, lastReserved)
	}
	return nil
}

func reserved(thing, name string, names ...string) error {
	if slices.Contains(names, name) {
		return fmt.Errorf("%s %s is reserved for internal use", thing, name)
	}
	if strings.HasPrefix(name, "mm-") {
		return fmt.Errorf(`%s cannot start with "mm-", which is reserved for internal use`, thing)
	}
	return nil
}
