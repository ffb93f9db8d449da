package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// alone lists the services, the resources to which only the named services have permissions, and a recorded case of
// each.
var alone = []struct {
	service   string
	resources []string
	scenario  string
}{
	{"TAS", []string{
		"trustyaiservices", "inferenceservices", "destinationrules", "virtualservices", "secrets", "persistentvolumeclaims", "pods",
	}, "tas-raw-isvc-gets-https-logger-and-istio"},
	{"LMES", []string{"lmevaljobs", "pods", "pods/exec", "persistentvolumeclaims"}, "lmes-managed-pvc"},
	{"EVALHUB", []string{
		"evalhubs", "evaluations", "namespaces", "jobs", "pods", "pods/log", "workloads", "clusterroles", "roles", "rolebindings",
	}, "evalhub-tenant-namespace-provisioned"},
	{"GORCH", []string{"guardrailsorchestrators", "inferenceservices", "servingruntimes", "secrets"}, "gorch-auth-gateway-detectors"},
	{
		"NEMO_GUARDRAILS",
		[]string{"nemoguardrails", "envoyfilters", "gateways", "mcpgatewayextensions"},
		"nemo-cross-namespace-envoyfilter-leaks",
	},
	{"JOB_MGR", []string{"lmevaljobs", "workloads", "resourceflavors"}, "jobmgr-workload-goes"},
}

// TestRightsOfServices checks that a disabled service has no permissions, and that running several services adds none,
// except that jobs create workloads for the job manager.
func TestRightsOfServices(t *testing.T) {
	t.Parallel()
	needed := map[string][]string{}
	for _, s := range alone {
		for _, resource := range s.resources {
			needed[resource] = append(needed[resource], s.service)
		}
	}
	each := map[string]map[string]bool{}
	for _, s := range alone {
		each[s.service] = rightsOf(t, s.service)
		has := map[string]bool{}
		for right := range each[s.service] {
			resource := strings.Fields(right)[1]
			has[resource] = true
			owner, _, _ := strings.Cut(resource, "/")
			for _, name := range []string{resource, owner} {
				if services := needed[name]; services != nil && !slices.Contains(services, s.service) {
					t.Errorf("%s alone has the permission %s, which only %v need", s.service, right, services)
				}
			}
		}
		for _, resource := range s.resources {
			if !has[resource] {
				t.Errorf("%s has no permission to %s", s.service, resource)
			}
		}
	}
	for _, services := range []string{everyService, "TAS,NEMO_GUARDRAILS", "GORCH,EVALHUB", "LMES,EVALHUB"} {
		sum := map[string]bool{}
		for service := range strings.SplitSeq(services, ",") {
			maps.Copy(sum, each[service])
		}
		if diff := cmp.Diff(sum, rightsOf(t, services)); diff != "" {
			t.Errorf("%s have other permissions together than separately (-separate +together):\n%s", services, diff)
		}
	}
	for right := range rightsOf(t, "LMES,JOB_MGR") {
		if !each["LMES"][right] && !each["JOB_MGR"][right] && !strings.HasSuffix(right, " workloads") {
			t.Errorf("LMES and JOB_MGR have the permission %s together, but neither has it alone", right)
		}
	}
}

// rightsOf returns the permissions of the page of some services: verb and resource, with the object names if the rule
// has them.
func rightsOf(t *testing.T, services string) map[string]bool {
	t.Helper()
	page, err := trustyai().Page("--enable-services=" + services)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, rule := range page.Rules() {
		for _, verb := range rule.Verbs {
			for _, what := range append(rule.Resources, rule.NonResourceURLs...) {
				if len(rule.ResourceNames) > 0 {
					what += " " + strings.Join(rule.ResourceNames, ",")
				}
				out[verb+" "+what] = true
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("the page of %s has no permissions", services)
	}
	return out
}

// TestServicesAlone checks that each service works with only the permissions of its own page, and that creating and
// deleting an owner leaves all objects of the cluster as before.
func TestServicesAlone(t *testing.T) {
	w := newServer(t)
	byName := map[string]scenario{}
	for _, s := range append(scenarios(t), workloadCase()) {
		byName[s.Name] = s
	}
	w.configure(t, byName["lmes-managed-pvc"].settings())
	for _, one := range alone {
		t.Run(one.service, func(t *testing.T) {
			w.start(t, one.service)
			p := &player{cluster: w, T: t, ns: "alone-" + strings.ToLower(one.service[:1])} // short, because names of children are derived from it
			w.namespace(t, p.ns)
			p.comeAndGo(byName[one.scenario])
		})
	}
}

// owns returns true if the object is an owner of the service. The owner of the job manager is the workload, not the job.
func (s scenario) owns(object map[string]any) bool {
	if s.Controller == "jobmgr" {
		return object["kind"] == "Workload"
	}
	return strings.HasPrefix(object["apiVersion"].(string), "trustyai.")
}

// comeAndGo runs a case, deletes its owners, and compares the cluster with its initial state.
func (p *player) comeAndGo(s scenario) {
	p.Helper()
	for name, labels := range s.Namespaces {
		namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		namespace.SetName(p.substitute(name).(string))
		namespace.SetLabels(labels)
		p.must(p.Create(p.Context(), namespace))
	}
	var owners []map[string]any
	for _, object := range s.Given {
		if s.owns(object) {
			owners = append(owners, object)
		} else {
			p.create(object)
		}
	}
	if s.Controller == "tas" {
		p.create(meshDeployment)
		p.create(map[string]any{"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": map[string]any{
			"namespace": "{ns}", "name": "meshed", "annotations": map[string]any{"serving.kserve.io/deploymentMode": "ModelMesh"},
		}, "spec": map[string]any{"predictor": map[string]any{}}})
	}
	before := p.everything(nil)
	for _, owner := range owners {
		p.create(owner)
	}
	if s.Prefer == nil && len(s.Steps) == 0 {
		p.expect(s.Expect)
	}
	for _, one := range s.Steps {
		if one.Do == "delete" {
			break
		}
		p.step(one)
	}
	if s.Controller == "tas" {
		p.expect(expectation{Exists: []map[string]any{sending("https://svc.{ns}.svc/consumer/kserve/v2")}})
	}
	gone := map[types.UID]bool{}
	for _, given := range owners {
		owner := p.object(given)
		p.must(p.Get(p.Context(), client.ObjectKeyFromObject(owner), owner))
		gone[owner.GetUID()] = true
		p.must(p.Delete(p.Context(), owner))
	}
	p.eventually("restore the cluster", 30*time.Second, func() error { return unlike(before, p.everything(gone)) })
}

// meshDeployment is a Deployment of ModelMesh that already sends its payloads to another address.
var meshDeployment = map[string]any{
	"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": map[string]any{"namespace": "{ns}", "name": "mesh", "labels": map[string]any{"modelmesh-service": "modelmesh-serving"}},
	"spec": map[string]any{"replicas": 0, "selector": map[string]any{"matchLabels": map[string]any{"a": "mesh"}}, "template": map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a": "mesh"}},
		"spec": map[string]any{"containers": []any{
			map[string]any{"name": "mm", "image": "x", "env": []any{map[string]any{"name": "MM_PAYLOAD_PROCESSORS", "value": "http://user"}}},
			map[string]any{"name": "other", "image": "x"},
		}},
	}},
}

// sending returns the expected Deployment after the addresses of services were added.
func sending(addresses string) map[string]any {
	env := func(value string) []any {
		return []any{map[string]any{"name": "MM_PAYLOAD_PROCESSORS", "value": value}}
	}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{
		"namespace": "{ns}", "name": "mesh",
	}, "spec": map[string]any{
		"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "mm", "env": env("http://user " + addresses)}, map[string]any{"name": "other", "env": env(addresses)},
		}}},
	}}
}

// everything returns the objects of the cluster, or of a namespace, without those that the garbage collector deletes
// after their owners.
func (p *player) everything(gone map[types.UID]bool, in ...client.ListOption) map[string]any {
	p.Helper()
	out := map[string]any{}
	p.each(func(key string, item unstructured.Unstructured) {
		if slices.ContainsFunc(item.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return gone[o.UID] }) {
			return
		}
		content := maps.Clone(item.Object)
		delete(content, "status")
		meta := maps.Clone(content["metadata"].(map[string]any))
		for _, field := range []string{"resourceVersion", "managedFields", "generation"} {
			delete(meta, field)
		}
		content["metadata"] = meta
		out[key] = content
	}, in...)
	return out
}

// each visits all objects of the cluster, or of a namespace, except those that other components create and delete.
func (p *player) each(visit func(key string, item unstructured.Unstructured), in ...client.ListOption) {
	p.Helper()
	found, err := discovery.NewDiscoveryClientForConfig(p.env.Config())
	p.must(err)
	lists, err := found.ServerPreferredResources()
	p.must(err)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		p.must(err)
		for _, resource := range list.APIResources {
			passing := []string{"Event", "Lease", "IPAddress"}
			if slices.Contains(resource.Verbs, "list") && (len(in) == 0 || resource.Namespaced) && !slices.Contains(passing, resource.Kind) {
				p.eachOf(version.WithKind(resource.Kind), visit, in...)
			}
		}
	}
}

func (p *player) eachOf(gvk schema.GroupVersionKind, visit func(key string, item unstructured.Unstructured), in ...client.ListOption) {
	p.Helper()
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := p.List(context.WithoutCancel(p.Context()), &list, in...); apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
		return
	} else if err != nil {
		p.Fatal(err)
	}
	for _, item := range list.Items {
		visit(gvk.Kind+"."+gvk.Group+"/"+item.GetNamespace()+"/"+item.GetName(), item)
	}
}
