package routing

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Layer is what one place says about routing: the owner, the configuration of its namespace, that of the cluster. Nil
// fields say nothing.
type Layer struct {
	// Name tells users where to look, in messages; such as "spec.routing".
	Name string
	// Enabled turns routing on or off. An explicit false is final.
	Enabled *bool
	// PathTemplate is the template of the path; see [ParsePath]. An explicit empty string asks for [DefaultPath].
	PathTemplate *string
	// Timeout bounds a request. An explicit zero asks the gateway for no timeout (GEP-1742); negative is an error.
	Timeout *metav1.Duration
	// Gateway is the parent of the route. It is taken whole: no field of it comes from another layer.
	Gateway *gatewayv1.ParentReference
	// Annotations of the route, merged by key.
	Annotations map[string]string
}

// Settings is what the layers say together, each setting with the layer that decided it.
type Settings struct {
	Enabled      Choice[bool]
	PathTemplate Choice[string]
	Timeout      Choice[metav1.Duration]
	Gateway      Choice[gatewayv1.ParentReference]
	Annotations  map[string]string
}

// Resolve reads the layers, the most specific first: the owner, then its configuration from near to far.
func Resolve(layers ...Layer) Settings {
	enabled := make([]Source[bool], len(layers))
	templates := make([]Source[string], len(layers))
	timeouts := make([]Source[metav1.Duration], len(layers))
	gateways := make([]Source[gatewayv1.ParentReference], len(layers))
	annotations := make([]map[string]string, len(layers))
	for i, layer := range layers {
		enabled[i] = Source[bool]{Layer: layer.Name, Value: layer.Enabled}
		templates[i] = Source[string]{Layer: layer.Name, Value: layer.PathTemplate}
		timeouts[i] = Source[metav1.Duration]{Layer: layer.Name, Value: layer.Timeout}
		gateways[i] = Source[gatewayv1.ParentReference]{Layer: layer.Name, Value: layer.Gateway}
		annotations[i] = layer.Annotations
	}
	settings := Settings{
		Enabled:      First(enabled...),
		PathTemplate: First(templates...),
		Timeout:      First(timeouts...),
		Gateway:      First(gateways...),
		Annotations:  MergeMaps(annotations...),
	}
	settings.Gateway.Value = *settings.Gateway.Value.DeepCopy()
	return settings
}

// Path renders the path of the object: by the chosen template, or [DefaultPath] when there is none or it is empty. Errors name
// the layer of the template and are those of [PathTemplate.Render].
func (s Settings) Path(object metav1.Object, opts ...PathOption) (string, error) {
	opts = append([]PathOption{Field(inLayer("path template", s.PathTemplate.Layer))}, opts...)
	if s.PathTemplate.Value != "" {
		return RenderPath(s.PathTemplate.Value, object, opts...)
	}
	path := DefaultPath(object)
	if options := pathOptions(opts); path == "/" && options.Root != AllowRoot {
		t := &PathTemplate{options: options}
		return "", t.fail(errors.New(`the default path collapses to "/"`), "the object has neither namespace nor UID yet")
	}
	return path, nil
}

// RequestTimeout returns the chosen timeout as an HTTPRoute holds it, nil when no layer says anything. Errors name the layer, are
// of category InvalidSpec and have reason [ReasonTimeoutInvalid].
func (s Settings) RequestTimeout() (*gatewayv1.Duration, error) {
	if !s.Timeout.Found {
		return nil, nil
	}
	timeout, err := formatTimeout(inLayer("timeout", s.Timeout.Layer), s.Timeout.Value.Duration)
	if err != nil {
		return nil, err
	}
	return &timeout, nil
}

// Parent returns the gateway to attach to, nil when routing is off. Routing that is on without a gateway is an error of category
// InvalidSpec and reason [ReasonGatewayNotConfigured].
func (s Settings) Parent() (*gatewayv1.ParentReference, error) {
	switch {
	case !s.Enabled.Value:
		return nil, nil
	case !s.Gateway.Found:
		return nil, invalid(ReasonGatewayNotConfigured, nil,
			"routing is enabled by %s, and nothing names a gateway: set one there or in the configuration, or disable routing",
			s.Enabled.Layer)
	}
	return s.Gateway.Value.DeepCopy(), nil
}

// inLayer names a setting and where it stands.
func inLayer(setting, layer string) string {
	if layer == "" {
		return setting
	}
	return setting + " in " + layer
}
