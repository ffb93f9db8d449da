package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// recorded is a recorded result of the public operator for a set of objects and servers.
type recorded struct {
	Name string `json:"name"`
	// Given lists objects created before the operator starts, Owners those created afterwards.
	Given  string `json:"given,omitempty"`
	Owners string `json:"owners"`
	// Available makes the Deployments available.
	Available bool `json:"available,omitempty"`
	// Expect lists objects that must exist with at least these fields, Gone those that must not exist.
	Expect string `json:"expect,omitempty"`
	Gone   string `json:"gone,omitempty"`
	// Before has the dashboards and folders of each server before the test, Grafana those after it. Keys are hosts.
	Before  map[string]map[string]map[string]any `json:"before,omitempty"`
	Grafana map[string][]string                  `json:"grafana,omitempty"`
}

// TestCases compares the results of the controllers with the recorded results of the public operator.
func TestCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
}

func (c recorded) run(t *testing.T) {
	servers := &fakeGrafana{}
	for host, kinds := range c.Before {
		for uid, dashboard := range kinds["dashboards"] {
			servers.server(host).dashboards[uid] = dashboard.(map[string]any)
		}
	}
	program := grafanas(servers.client())
	caches, err := controller.CacheOptions(env.Scheme, program.Controllers...)
	if err != nil {
		t.Fatal(err)
	}
	s := reconciletest.Scenario{ExpectYAML: c.Expect, Gone: objects(t, c.Gone), System: reconciletest.System{
		Scheme: env.Scheme, CRDPaths: []string{"config/crd"}, Cache: caches,
		GivenYAML: c.Given, Owners: objects(t, c.Owners),
		Setup: func(mgr ctrl.Manager) error {
			var errs []error
			for _, of := range program.Controllers {
				errs = append(errs, of.SetupWithManager(mgr))
			}
			return errors.Join(errs...)
		},
	}}
	if c.Available {
		s.System.StandIns = append(s.System.StandIns, reconciletest.DeploymentsAvailable)
	}
	s.Run(t)
	for host, want := range c.Grafana {
		if diff := cmp.Diff(want, servers.contents(host), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", host, diff)
		}
	}
}

// objects decodes YAML documents. An unknown field fails the test.
func objects(t *testing.T, text string) (list []client.Object) {
	t.Helper()
	decoder := serializer.NewCodecFactory(env.Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decoder.Decode(content, nil, nil)
		if err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		list = append(list, object.(client.Object))
	}
}
