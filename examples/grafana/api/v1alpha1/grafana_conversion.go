package v1alpha1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
	"github.com/reconcilekit/reconcilekit/examples/grafana/internal/versions"
)

// ConvertTo converts the object to v1beta1, the stored version.
func (o *Grafana) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta1.Grafana)
	if !ok {
		return fmt.Errorf("convert Grafana to %T: want *v1beta1.Grafana", hub)
	}
	to.ObjectMeta = *o.ObjectMeta.DeepCopy()
	return versions.Convert(o, to, "grafana.integreatly.org/v1alpha1-fields", "grafana.integreatly.org/v1beta1-fields", grafanaToHub, grafanaFromHub)
}

// ConvertFrom converts the object from v1beta1, the stored version.
func (o *Grafana) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*v1beta1.Grafana)
	if !ok {
		return fmt.Errorf("convert %T to Grafana: want *v1beta1.Grafana", hub)
	}
	o.ObjectMeta = *from.ObjectMeta.DeepCopy()
	return versions.Convert(from, o, "grafana.integreatly.org/v1beta1-fields", "grafana.integreatly.org/v1alpha1-fields", grafanaFromHub, grafanaToHub)
}

// grafanaToHub sets the fields of the hub. Copy copies the fields with the same JSON path; versions.Convert keeps those that only one
// version has in an annotation.
func grafanaToHub(from *Grafana, to *v1beta1.Grafana) error {
	to.Spec.Version = from.Spec.BaseImage
	return versions.Copy(from, to)
}

// grafanaFromHub is the reverse of grafanaToHub.
func grafanaFromHub(from *v1beta1.Grafana, to *Grafana) error {
	to.Spec.BaseImage = from.Spec.Version
	return versions.Copy(from, to)
}
