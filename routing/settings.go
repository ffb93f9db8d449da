package routing

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/layers"
	"github.com/reconcilekit/reconcilekit/routing/internal/problem"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// ReasonGatewayNotConfigured reports that routing is enabled and no layer sets a gateway.
const ReasonGatewayNotConfigured = "GatewayNotConfigured"

// Layer holds the routing settings of one source: the owner, the configuration of its namespace, that of the cluster. Nil fields are
// unset.
type Layer struct {
	// Name names the layer in messages, such as "spec.routing".
	Name string
	// Enabled enables or disables routing. An explicit false overrides less specific layers.
	Enabled *bool
	// PathTemplate is the template of the path; see package pathtemplate. An explicit empty string selects [pathtemplate.Default].
	PathTemplate *string
	// Timeout bounds a request. An explicit zero disables the timeout (GEP-1742); a negative value is an error.
	Timeout *metav1.Duration
	// Gateway is the parent of the route. All of its fields come from the same layer.
	Gateway *gatewayv1.ParentReference
	// Annotations of the route, merged by key.
	Annotations map[string]string
}

// Settings are the merged settings, each with the layer that set it.
type Settings struct {
	Enabled      layers.Choice[bool]
	PathTemplate layers.Choice[string]
	Timeout      layers.Choice[metav1.Duration]
	Gateway      layers.Choice[gatewayv1.ParentReference]
	Annotations  map[string]string
}

// Resolve merges the layers, the most specific first.
func Resolve(list ...Layer) Settings {
	enabled := make([]layers.Source[bool], len(list))
	templates := make([]layers.Source[string], len(list))
	timeouts := make([]layers.Source[metav1.Duration], len(list))
	gateways := make([]layers.Source[gatewayv1.ParentReference], len(list))
	annotations := make([]map[string]string, len(list))
	for i, layer := range list {
		enabled[i] = layers.Source[bool]{Layer: layer.Name, Value: layer.Enabled}
		templates[i] = layers.Source[string]{Layer: layer.Name, Value: layer.PathTemplate}
		timeouts[i] = layers.Source[metav1.Duration]{Layer: layer.Name, Value: layer.Timeout}
		gateways[i] = layers.Source[gatewayv1.ParentReference]{Layer: layer.Name, Value: layer.Gateway}
		annotations[i] = layer.Annotations
	}
	settings := Settings{
		Enabled:      layers.First(enabled...),
		PathTemplate: layers.First(templates...),
		Timeout:      layers.First(timeouts...),
		Gateway:      layers.First(gateways...),
		Annotations:  layers.Maps(annotations...),
	}
	settings.Gateway.Value = *settings.Gateway.Value.DeepCopy()
	return settings
}

// Path renders the path of the object with the chosen template, or [pathtemplate.Default] if there is none or it is empty. Errors name
// the layer of the template unless the options set a field; see [pathtemplate.Template.Render].
func (s Settings) Path(object metav1.Object, o pathtemplate.Options) (string, error) {
	if o.Field == "" {
		o.Field = inLayer("path template", s.PathTemplate.Layer)
	}
	if s.PathTemplate.Value == "" {
		return pathtemplate.Default(object, o)
	}
	template, err := pathtemplate.Parse(s.PathTemplate.Value, o)
	if err != nil {
		return "", err
	}
	return template.Render(object)
}

// RequestTimeout returns the chosen timeout in the format of an HTTPRoute, nil if no layer sets one. Errors name the layer, are of
// category InvalidSpec and have reason "TimeoutInvalid".
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

// Parent returns the gateway to attach to, nil if routing is disabled. If routing is enabled without a gateway, Parent returns an error
// of category InvalidSpec and reason [ReasonGatewayNotConfigured].
func (s Settings) Parent() (*gatewayv1.ParentReference, error) {
	switch {
	case !s.Enabled.Value:
		return nil, nil
	case !s.Gateway.Found:
		return nil, problem.Invalid(ReasonGatewayNotConfigured, nil,
			"routing is enabled by %s, and nothing names a gateway: set one there or in the configuration, or disable routing",
			s.Enabled.Layer)
	}
	return s.Gateway.Value.DeepCopy(), nil
}

// HTTPRoute returns the object's route, as [NewHTTPRoute] does, and completes the plan from the settings: the namespace is that of the
// object, the parent is [Settings.Parent], a rule without a match gets [Settings.Path], a rule without a timeout gets
// [Settings.RequestTimeout], and annotations of the plan override those of the settings. It returns nil if routing is disabled. Errors
// are those of these functions.
func (s Settings) HTTPRoute(object metav1.Object, o pathtemplate.Options, plan Route) (*gatewayv1.HTTPRoute, error) {
	parent, err := s.Parent()
	if err != nil || parent == nil {
		return nil, err
	}
	path, err := s.Path(object, o)
	if err != nil {
		return nil, err
	}
	timeout, err := s.RequestTimeout()
	if err != nil {
		return nil, err
	}
	plan.Namespace = cmp.Or(plan.Namespace, object.GetNamespace())
	plan.Annotations = layers.Maps(plan.Annotations, s.Annotations)
	if len(plan.Parents) == 0 {
		plan.Parents = []gatewayv1.ParentReference{*parent}
	}
	plan.Rules = slices.Clone(plan.Rules)
	for i := range plan.Rules {
		rule := &plan.Rules[i]
		rule.Timeout = cmp.Or(rule.Timeout, timeout)
		if len(rule.Matches) == 0 {
			rule.Matches = []Match{{Path: path}}
		}
	}
	return NewHTTPRoute(plan)
}

// inLayer names a setting and its layer.
func inLayer(setting, layer string) string {
	if layer == "" {
		return setting
	}
	return setting + " in " + layer
}
