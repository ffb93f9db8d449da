package runtimes_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/kserve/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/runtimes"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// input returns the input of a runtime under a configuration.
func input(t *testing.T, config string, r *v1alpha1.ServingRuntime) runtimes.Input {
	t.Helper()
	parsed, err := settings.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	replicas := parsed.PodsPerRuntime
	if r.Spec.Replicas != nil {
		replicas = *r.Spec.Replicas
	}
	return runtimes.Input{
		Runtime:   runtimes.Runtime{Name: r.Name, Annotations: r.Annotations, Spec: r.Spec},
		Namespace: r.Namespace, Config: parsed, EtcdSecret: "model-serving-etcd", StorageSecret: parsed.StorageSecretName,
		Replicas: int32(replicas),
	}
}

// asJSON returns a value as decoded from JSON.
func asJSON(t *testing.T, value any) (out any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// at returns the value at a path of names, numbers, @name for the list item with that name and * for all items; nil if
// there is none.
func at(value any, path string) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, "/")
	switch v := value.(type) {
	case map[string]any:
		return at(v[step], rest)
	case []any:
		if step == "*" {
			out := []any{}
			for _, item := range v {
				out = append(out, at(item, rest))
			}
			return out
		}
		for i, item := range v {
			if object, ok := item.(map[string]any); ok && "@"+text(object["name"]) == step || strconv.Itoa(i) == step {
				return at(item, rest)
			}
		}
	}
	return nil
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

type field struct {
	Ref        string
	Path       string
	Equals     any
	Base64JSON any
}

// TestCases runs the cases of the product that depend on a runtime alone.
func TestCases(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Config string
		Given        []v1alpha1.ServingRuntime
		Reconcile    struct{ Request string }
		Expect       struct {
			Fields []field
			Result struct{ Error string }
		}
	}
	if err := json.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			objects := map[string]any{}
			var problems []string
			var all []runtimes.Runtime
			for i := range test.Given {
				in := input(t, test.Config, &test.Given[i])
				all = append(all, in.Runtime)
				deployment, err := runtimes.Deployment(in)
				if err != nil {
					problems = append(problems, err.Error())
					continue
				}
				objects["apps/v1|Deployment|"+in.Namespace+"|"+deployment.Name] = asJSON(t, deployment)
			}
			proxy := input(t, test.Config, &test.Given[0]).Config.RESTProxy.Enabled
			shared, err := runtimes.ConfigMap(test.Given[0].Namespace, all, proxy)
			if err != nil {
				t.Fatal(err)
			}
			objects["v1|ConfigMap|"+shared.Namespace+"|"+shared.Name] = asJSON(t, shared)
			problem := strings.Join(problems, "; ")
			if want := test.Expect.Result.Error; (problem != "") != (want != "") || !strings.Contains(problem, want) {
				t.Errorf("got error %q, want %q", problem, want)
			}
			for _, f := range test.Expect.Fields {
				got, want := at(objects[f.Ref], f.Path), f.Equals
				if f.Base64JSON != nil {
					content, err := base64.StdEncoding.DecodeString(text(got))
					if err != nil {
						t.Fatal(err)
					}
					got, want = asJSON(t, json.RawMessage(content)), f.Base64JSON
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s %s: -want +got:\n%s", f.Ref, f.Path, diff)
				}
			}
		})
	}
}

// runtime returns a runtime with a spec given as JSON.
func runtime(t *testing.T, spec string) *v1alpha1.ServingRuntime {
	t.Helper()
	out := &v1alpha1.ServingRuntime{}
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"r","namespace":"n"},"spec":{"multiModel":true,`+spec+`}}`), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDeployment(t *testing.T) {
	t.Parallel()
	const plain = "metrics: {enabled: false}\nrestProxy: {enabled: false}\n"
	const custom = `"grpcEndpoint":"port:8001","containers":[{"name":"srv","image":"i:1","volumeMounts":[{"name":"own","mountPath":"/own"}],"resources":{"limits":{"memory":"1Gi"}}}],"volumes":[{"name":"own"}]`
	const built = `"builtInAdapter":{"serverType":"triton"},"containers":[{"name":"triton","image":"t:23"}]`
	for name, test := range map[string]struct {
		config, spec string
		claims       []string
		path         string
		want         any
	}{
		"built-in adapter": {plain, built, nil, "spec/template/spec/containers/*/name", []any{"triton-adapter", "triton", "mm"}},
		"adapter and proxy": {
			"", built, nil, "spec/template/spec/containers/*/name", []any{"rest-proxy", "triton", "triton-adapter", "mm"},
		},
		"adapter without endpoint": {plain, built, nil, "spec/template/spec/containers/@mm/env/@INTERNAL_GRPC_PORT/value", "8085"},
		"custom":                   {plain, custom, nil, "spec/template/spec/containers/*/name", []any{"srv", "mm", "puller"}},
		"own mount next to two claims": {
			plain, custom, []string{"a", "b"}, "spec/template/spec/containers/@srv/volumeMounts/*/name", []any{"models-dir", "a", "b", "own"},
		},
		"size of the models": {plain, custom, nil, "spec/template/spec/volumes/@models-dir/emptyDir/sizeLimit", "1536Mi"},
		"order of volumes": {
			plain + "tls: {secretName: cert}\n", custom,
			[]string{"a"},
			"spec/template/spec/volumes/*/name",
			[]any{"own", "models-dir", "storage-config", "a", "tc-config", "etcd-config", "tls-certs"},
		},
		"labels that the selector needs": {
			plain, custom + `,"labels":{"name":"mine","team":"x"}`, nil, "spec/template/metadata/labels/name", "modelmesh-serving-r",
		},
		"labels of the user": {
			plain + "runtimePodLabels: {team: y, z: y}\n", custom + `,"labels":{"team":"x"}`, nil,
			"spec/template/metadata/labels/team", "x",
		},
		"pull secrets": {
			plain + "imagePullSecrets: [{name: a}, {name: b}]\n", custom + `,"imagePullSecrets":[{"name":"c"},{"name":"a"}]`, nil,
			"spec/template/spec/imagePullSecrets/*/name",
			[]any{"a", "b", "c"},
		},
		"every term requires a processor": {
			plain, custom + `,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]},{"matchExpressions":[{"key":"b","operator":"Exists"}]}]}}}`, nil,
			"spec/template/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/*/matchExpressions/*/key",
			[]any{[]any{"a", "kubernetes.io/arch"}, []any{"b", "kubernetes.io/arch"}},
		},
		"the mesh sets the store": {
			plain + "internalModelMeshEnvVars: [{name: KV_STORE, value: x}, {name: MM_METRICS, value: x}]\n", custom, nil,
			"spec/template/spec/containers/@mm/env/@KV_STORE/value", "etcd:/opt/kserve/mmesh/etcd/etcd_connection",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(t, test.config, runtime(t, test.spec))
			in.Claims = test.claims
			before := asJSON(t, in)
			deployment, err := runtimes.Deployment(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, at(asJSON(t, deployment), test.path)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(before, asJSON(t, in)); diff != "" {
				t.Errorf("the input was changed:\n%s", diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, want string }{
		"no endpoint":      {`"containers":[]`, "spec.grpcEndpoint is empty; want port:<number> or unix:<path>"},
		"a port too large": {`"grpcEndpoint":"port:70000","containers":[]`, "Invaid Endpoint: port:70000"},
		"an adapter on a socket": {
			`"grpcEndpoint":"unix:/a/b","builtInAdapter":{"serverType":"triton"},"containers":[{"name":"triton"}]`,
			"want port:<number> together with spec.builtInAdapter",
		},
		"an unknown server": {`"builtInAdapter":{"serverType":"x"},"containers":[]`, "unrecognized built-in runtime server type x"},
		"a reserved port": {
			`"containers":[{"name":"a","ports":[{"containerPort":8085}]}]`,
			"container spec for a is invalid: Port 8085 is reserved for internal use",
		},
		"a reserved range": {
			`"containers":[{"name":"a","ports":[{"containerPort":11890}]}]`, "Port range [11881-11899] is reserved for internal use",
		},
		"an empty lifecycle": {
			`"containers":[{"name":"a","lifecycle":{}}]`, "ReadinessProbe and Lifecycle are managed by modelmesh and cannot be set",
		},
		"a volume of the mesh": {`"containers":[],"volumes":[{"name":"models-dir"}]`, "volume models-dir is reserved for internal use"},
		"a prefix of the mesh": {
			`"containers":[],"volumes":[{"name":"mm-x"}]`, `volume cannot start with "mm-", which is reserved for internal use`,
		},
		"a container twice": {`"grpcEndpoint":"port:1","containers":[{"name":"a"},{"name":"a"}]`, `container "a" is defined twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := runtimes.Deployment(input(t, "", runtime(t, test.spec)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
