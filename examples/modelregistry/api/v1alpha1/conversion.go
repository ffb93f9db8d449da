package v1alpha1

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// LostFields is the annotation with the fields that this version lacks, so that a read and a write in this version keeps them.
const LostFields = "modelregistry.opendatahub.io/v1beta1-fields"

// lostFields are the fields of v1beta1 that this version does not have.
type lostFields struct {
	KubeRBACProxy      *v1beta1.ProxyConfig `json:"kubeRBACProxy,omitempty"`
	GenerateDeployment *bool                `json:"generateDeployment,omitempty"`
	PostgresImage      string               `json:"postgresImage,omitempty"`
}

var _ conversion.Convertible = (*ModelRegistry)(nil)

// ConvertTo converts to v1beta1.
func (m *ModelRegistry) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*v1beta1.ModelRegistry)
	if !ok {
		return fmt.Errorf("convert ModelRegistry %s: want the hub *v1beta1.ModelRegistry, got %T", m.Name, hub)
	}
	from := m.DeepCopy()
	from.Spec.istioToProxy()
	to.ObjectMeta, to.Status = from.ObjectMeta, from.Status
	if err := through(from.Spec, &to.Spec); err != nil {
		return err
	}
	if to.Spec.Grpc != nil && *to.Spec.Grpc == (v1beta1.GrpcSpec{}) {
		to.Spec.Grpc = nil // required here, and without a meaning
	}
	text, stashed := to.Annotations[LostFields]
	if !stashed {
		return nil
	}
	delete(to.Annotations, LostFields)
	var lost lostFields
	if err := json.Unmarshal([]byte(text), &lost); err != nil {
		return fmt.Errorf("annotation %s: %w", LostFields, err)
	}
	if to.Spec.OAuthProxy == nil { // a value in this version replaces the previous one
		to.Spec.KubeRBACProxy = lost.KubeRBACProxy
	}
	if p := to.Spec.Postgres; p != nil {
		p.Image = lost.PostgresImage
		if p.Host == "" && p.HostAddress == "" {
			p.GenerateDeployment = lost.GenerateDeployment
		}
	}
	return nil
}

// ConvertFrom converts from v1beta1.
func (m *ModelRegistry) ConvertFrom(hub conversion.Hub) error {
	given, ok := hub.(*v1beta1.ModelRegistry)
	if !ok {
		return fmt.Errorf("convert ModelRegistry %s: want the hub *v1beta1.ModelRegistry, got %T", m.Name, hub)
	}
	from := given.DeepCopy()
	m.ObjectMeta, m.Status = from.ObjectMeta, from.Status
	if err := through(from.Spec, &m.Spec); err != nil {
		return err
	}
	lost := lostFields{KubeRBACProxy: from.Spec.KubeRBACProxy}
	if p := from.Spec.Postgres; p != nil {
		lost.GenerateDeployment, lost.PostgresImage = p.GenerateDeployment, p.Image
	}
	if lost == (lostFields{}) {
		return nil
	}
	text, err := json.Marshal(lost)
	if err != nil {
		return fmt.Errorf("annotation %s: %w", LostFields, err)
	}
	if m.Annotations == nil {
		m.Annotations = map[string]string{}
	}
	m.Annotations[LostFields] = string(text)
	return nil
}

// through copies the fields that both types have under the same JSON names.
func through(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("convert the spec: %w", err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("convert the spec: %w", err)
	}
	return nil
}

// istioToProxy configures the proxy that is closest to the settings of the mesh.
func (s *ModelRegistrySpec) istioToProxy() {
	if s.Istio == nil {
		return
	}
	proxy := &v1beta1.ProxyConfig{Port: new(int32(8443)), RoutePort: new(int32(443)), ServiceRoute: v1beta1.RouteEnabled}
	if gateway := s.Istio.Gateway; gateway == nil {
		proxy.ServiceRoute = v1beta1.RouteDisabled
	} else {
		if gateway.Rest.GatewayRoute == v1beta1.RouteDisabled {
			proxy.ServiceRoute = v1beta1.RouteDisabled
		}
		proxy.Domain = gateway.Domain
		if gateway.Rest.TLS != nil && gateway.Rest.Port != nil {
			proxy.RoutePort = gateway.Rest.Port
		}
	}
	s.OAuthProxy, s.Istio = proxy, nil
}
