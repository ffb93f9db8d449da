package routing_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/routing"
	"github.com/reconcilekit/reconcilekit/routing/pathtemplate"
)

// app is the custom resource of an example operator.
type app struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              appSpec   `json:"spec,omitempty"`
	Status            appStatus `json:"status,omitempty"`
}

type appSpec struct {
	App     appReference    `json:"app,omitempty"`
	Profile appProfile      `json:"profile,omitempty"`
	Env     []corev1.EnvVar `json:"env,omitempty"`
}

type appReference struct {
	Name  *string `json:"name,omitempty"`
	Image *string `json:"image,omitempty"`
}

type appProfile struct {
	Name    string `json:"name,omitempty"`
	Relaxed bool   `json:"relaxed,omitempty"`
}

type appStatus struct {
	ResolvedApp *struct {
		Name string `json:"name,omitempty"`
	} `json:"resolvedApp,omitempty"`
}

// layerVector has the routing settings of an owner or of its configuration.
type layerVector struct {
	Enabled        *bool                      `json:"enabled"`
	PathTemplate   *string                    `json:"pathTemplate"`
	RequestTimeout *metav1.Duration           `json:"requestTimeout"`
	GatewayRef     *gatewayv1.ParentReference `json:"gatewayRef"`
	Annotations    map[string]string          `json:"annotations"`
}

// vector is a recorded case. Quirk describes a surprise of the recorded implementation, Decision the behaviour of this
// package and the reason.
type vector struct {
	Name        string            `json:"name"`
	Layers      []json.RawMessage `json:"layers"`
	Object      json.RawMessage   `json:"object"`
	Default     bool              `json:"default"`
	Path        string            `json:"path"`
	Error       string            `json:"error"` // "*" is any
	DecodeError bool              `json:"decodeError"`
	Enabled     bool              `json:"enabled"`
	Timeout     *string           `json:"timeout"`
	Annotations map[string]string `json:"annotations"`
	Spec        json.RawMessage   `json:"spec"`
	Quirk       string            `json:"quirk"`
	Decision    string            `json:"decision"`
}

func (v vector) settings(t *testing.T) (routing.Settings, error) {
	t.Helper()
	names := []string{"spec.routing", "the configuration"}
	layers := make([]routing.Layer, 0, len(v.Layers))
	for i, raw := range v.Layers {
		var layer layerVector
		if err := json.Unmarshal(raw, &layer); err != nil {
			return routing.Settings{}, err
		}
		layers = append(layers, routing.Layer{
			Name: names[i], Enabled: layer.Enabled, PathTemplate: layer.PathTemplate,
			Timeout: layer.RequestTimeout, Gateway: layer.GatewayRef, Annotations: layer.Annotations,
		})
	}
	return routing.Resolve(layers...), nil
}

func (v vector) object(t *testing.T) *app {
	t.Helper()
	object := &app{}
	if err := json.Unmarshal(v.Object, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// forVectors runs each case of a file and logs the number of cases and of decided quirks.
func forVectors(t *testing.T, file string, run func(t *testing.T, v vector)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	passed, quirks := 0, 0
	for _, v := range vectors {
		if v.Quirk != "" {
			quirks++
			if v.Decision == "" {
				t.Errorf("%s: a quirk without a decision", v.Name)
			}
			t.Logf("quirk %q: %s; decided: %s", v.Name, v.Quirk, v.Decision)
		}
		if t.Run(v.Name, func(t *testing.T) { run(t, v) }) {
			passed++
		}
	}
	t.Logf("%s: %d of %d cases pass, %d of them decided quirks", file, passed, len(vectors), quirks)
}

// checkError compares an error with the recorded one, which must be the cause of an InvalidSpec error.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	var invalid *health.Error
	if !errors.As(err, &invalid) {
		t.Fatalf("got error %v, want a *health.Error with %q", err, want)
	}
	if invalid.Category != health.InvalidSpec {
		t.Errorf("category = %s, want InvalidSpec", invalid.Category)
	}
	if want == "*" {
		return
	}
	if invalid.Cause == nil || invalid.Cause.Error() != want {
		t.Errorf("cause = %v, want %s", invalid.Cause, want)
	}
	if len(want) < 300 && !strings.Contains(invalid.Message, want) {
		t.Errorf("message %q does not contain %q", invalid.Message, want)
	}
}

func TestVectorPaths(t *testing.T) {
	t.Parallel()
	forVectors(t, "paths.json", func(t *testing.T, v vector) {
		object := v.object(t)
		if v.Default {
			if got, err := pathtemplate.Default(object, pathtemplate.Options{AllowRoot: true}); err != nil || got != v.Path {
				t.Errorf("Default() = %q, %v, want %q", got, err, v.Path)
			}
			return
		}
		settings, err := v.settings(t)
		if err != nil {
			t.Fatal(err)
		}
		// The recorded implementation accepts a path that collapses to "/", so the cases need AllowRoot.
		got, err := settings.Path(object, pathtemplate.Options{AllowRoot: true})
		if v.Error != "" {
			checkError(t, err, v.Error)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got != v.Path {
			t.Errorf("Path() = %q, want %q", got, v.Path)
		}
	})
}

func TestVectorEnabled(t *testing.T) {
	t.Parallel()
	forVectors(t, "enabled.json", func(t *testing.T, v vector) {
		settings, err := v.settings(t)
		if err != nil {
			t.Fatal(err)
		}
		if settings.Enabled.Value != v.Enabled {
			t.Errorf("Enabled = %t, want %t", settings.Enabled.Value, v.Enabled)
		}
	})
}

func TestVectorTimeouts(t *testing.T) {
	t.Parallel()
	forVectors(t, "timeouts.json", func(t *testing.T, v vector) {
		settings, err := v.settings(t)
		if v.DecodeError {
			if err == nil {
				t.Error("decoded, want an error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := settings.RequestTimeout()
		if v.Error != "" {
			checkError(t, err, v.Error)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff((*gatewayv1.Duration)(v.Timeout), got); diff != "" {
			t.Errorf("timeout (-want +got):\n%s", diff)
		}
	})
}

func TestVectorRoutes(t *testing.T) {
	t.Parallel()
	forVectors(t, "routes.json", func(t *testing.T, v vector) {
		settings, err := v.settings(t)
		if err != nil {
			t.Fatal(err)
		}
		route, err := vectorRoute(settings, v.object(t))
		switch {
		case v.Error != "":
			checkError(t, err, v.Error)
			return
		case v.Spec == nil:
			if route != nil {
				t.Errorf("planned %v, want none", route)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		var want gatewayv1.HTTPRouteSpec
		if err := json.Unmarshal(v.Spec, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, route.Spec); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(v.Annotations, route.Annotations); diff != "" {
			t.Errorf("annotations (-want +got):\n%s", diff)
		}
	})
}

// vectorRoute plans a route as the recorded product does: none without a gateway, and otherwise one backend with the
// prefix removed.
func vectorRoute(settings routing.Settings, object metav1.Object) (*gatewayv1.HTTPRoute, error) {
	parent, err := settings.Parent()
	if parent == nil {
		return nil, err
	}
	path, err := settings.Path(object, pathtemplate.Options{})
	if err != nil {
		return nil, err
	}
	timeout, err := settings.RequestTimeout()
	if err != nil {
		return nil, err
	}
	root := "/"
	return routing.NewHTTPRoute(routing.Route{
		Namespace: object.GetNamespace(), Name: object.GetName(), Annotations: settings.Annotations,
		Parents: []gatewayv1.ParentReference{*parent},
		Rules: []routing.Rule{{
			Matches: []routing.Match{{Path: path}}, ReplacePrefix: &root, Timeout: timeout,
			Backends: []routing.Backend{{Kind: "Service", Name: "demo-backend", Namespace: object.GetNamespace(), Port: 80}},
		}},
	})
}
