package runtimes

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
)

// Runtime is an effective runtime of one namespace: a ServingRuntime, or a ClusterServingRuntime that no ServingRuntime hides.
type Runtime struct {
	Name        string
	Annotations map[string]string
	Spec        v1alpha1.ServingRuntimeSpec
	// Owner is the reference to the runtime, for its children.
	Owner []metav1.OwnerReference
}

// served reports whether the mesh serves models with the runtime.
func (r *Runtime) served() bool {
	return ptr.Deref(r.Spec.MultiModel, false) && !ptr.Deref(r.Spec.Disabled, false)
}

// Prefixes of labels of runtimes.
const (
	byName     = "rt:"
	byModel    = "mt:"
	byProtocol = "pv:"
)

// models returns the labels of the formats that a model may request without the name of the runtime, sorted.
func (r *Runtime) models() []string {
	var labels []string
	for _, format := range r.Spec.SupportedModelFormats {
		if !ptr.Deref(format.AutoSelect, false) {
			continue
		}
		label := byModel + format.Name
		if labels = append(labels, label); ptr.Deref(format.Version, "") != "" {
			labels = append(labels, label+":"+*format.Version)
		}
	}
	return sorted(labels)
}

// protocols returns the labels of the protocols, sorted. The REST proxy adds the protocol that it translates to.
func (r *Runtime) protocols(proxy bool) []string {
	var labels []string
	for _, protocol := range r.Spec.ProtocolVersions {
		if labels = append(labels, byProtocol+protocol); proxy && protocol == "grpc-v2" {
			labels = append(labels, byProtocol+"v2")
		}
	}
	return sorted(labels)
}

// Labels returns all labels of the runtime, sorted.
func (r *Runtime) Labels(proxy bool) []string {
	return sorted(slices.Concat([]string{byName + r.Name}, r.models(), r.protocols(proxy)))
}

func sorted(labels []string) []string {
	slices.Sort(labels)
	return slices.Compact(labels)
}

// required contains labels that the runtime of a model must have.
type required struct {
	Required []string `json:"required"`
}

// constraints returns the constraints of the mesh for the runtimes of a namespace, as JSON.
func constraints(runtimes []Runtime, proxy bool) ([]byte, error) {
	all := map[string]required{"_default": {[]string{"_no_runtime"}}} // a label that no runtime has
	for i := range runtimes {
		r := &runtimes[i]
		if !r.served() {
			continue
		}
		all[byName+r.Name] = required{[]string{byName + r.Name}}
		for _, model := range r.models() {
			all[model] = required{[]string{model}}
			for _, protocol := range r.protocols(proxy) {
				all[model+"|"+protocol] = required{[]string{model, protocol}}
			}
		}
	}
	return json.Marshal(all)
}
