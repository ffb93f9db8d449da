package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// scenario is a recorded case of the product for an operator with the given configuration and scope and a ModelMesh with
// the given responses. Where this operator differs from the product, the expectation is that of the README.
type scenario struct {
	Name                string           `json:"name"`
	Scope               string           `json:"scope"`
	ControllerNamespace string           `json:"controllerNamespace"`
	Config              string           `json:"config"`
	Mesh                *script          `json:"modelmesh"`
	Given               []map[string]any `json:"given"`
	Steps               []step           `json:"steps"`
	Expect              expectation      `json:"expect"`
}

type step struct {
	Sleep  float64        `json:"sleep"`
	Config *string        `json:"config"`
	Mesh   *script        `json:"modelmesh"`
	Create map[string]any `json:"create"`
	Delete string         `json:"delete"`
	Merge  *struct {
		Ref   string         `json:"ref"`
		Patch map[string]any `json:"patch"`
	} `json:"merge"`
	Expect expectation `json:"expect"`
}

type expectation struct {
	Exist  []map[string]any `json:"exist"`
	Absent []string         `json:"absent"`
	Error  string           `json:"error"` // text that the operator logs
	Result struct {
		Calls []call `json:"modelMeshCalls"`
	} `json:"result"`
	Fields []field `json:"fields"`
}

// field is an expected value at a path of an object.
type field struct {
	Ref        string `json:"ref"`
	Path       string `json:"path"`
	Equals     any    `json:"equals"`
	Base64JSON any    `json:"base64json"`
}

// Scopes of an operator.
const (
	oneNamespace = "namespace"
	allOfCluster = "cluster"
)

// read decodes the cases of a file.
func read[T any](t *testing.T, file string) (cases []T) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// draw returns a random sample of cases, with the seed RECONCILETEST_SEED (default 1), or all cases with
// RECONCILETEST_CASES=all.
func draw[T any](t *testing.T, cases []T, count int) []T {
	t.Helper()
	if os.Getenv("RECONCILETEST_CASES") == "all" || len(cases) <= count {
		return cases
	}
	seed, err := strconv.ParseUint(os.Getenv("RECONCILETEST_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	t.Logf("%d of %d cases, sampled with RECONCILETEST_SEED=%d; RECONCILETEST_CASES=all runs all", count, len(cases), seed)
	sampled := slices.Clone(cases)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(sampled), func(i, j int) { sampled[i], sampled[j] = sampled[j], sampled[i] })
	return sampled[:count]
}

// inScope returns the case for an operator with the scope, in its own namespaces.
func inScope(t *testing.T, recorded json.RawMessage, scope string) (s scenario) {
	t.Helper()
	err := json.Unmarshal(recorded, &s)
	if err == nil && s.Scope != scope {
		name := regexp.MustCompile(`\b` + regexp.QuoteMeta(s.ControllerNamespace) + `\b`)
		renamed := name.ReplaceAll(recorded, []byte(scope+"-"+s.ControllerNamespace))
		s = scenario{}
		err = json.Unmarshal(renamed, &s)
		s.Scope = scope
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Sample sizes: of runtimes and services in each scope, and of models in the cluster scope.
const (
	drawnScenarios = 14
	drawnModels    = 6
)

// TestScenarios runs each recorded case against its own operator process. Cases with the namespace scope run
// concurrently, those with the cluster scope one after the other.
func TestScenarios(t *testing.T) {
	w := newCluster(t)
	for _, scope := range []string{oneNamespace, allOfCluster} {
		t.Run(scope, func(t *testing.T) {
			played := func(recorded json.RawMessage) {
				s := inScope(t, recorded, scope)
				t.Run(s.Name, func(t *testing.T) {
					if scope == oneNamespace {
						t.Parallel()
					}
					(&player{cluster: w, T: t}).play(s)
				})
			}
			for _, recorded := range draw(t, ofScope(t, read[json.RawMessage](t, "testdata/scenarios.json"), scope), drawnScenarios) {
				played(recorded)
			}
			models := read[json.RawMessage](t, "testdata/models.json")
			if scope == allOfCluster { // only these run in sequence; the concurrent ones run in all scopes
				models = draw(t, models, drawnModels)
			} else {
				models = append(models, read[json.RawMessage](t, "testdata/failures.json")...) // not recorded: errors of ModelMesh
			}
			for _, recorded := range models {
				played(recorded)
			}
		})
	}
	for _, scope := range []string{oneNamespace, allOfCluster} {
		t.Run("webhooks/"+scope, func(t *testing.T) { w.webhooks(t, scope) })
	}
	t.Run("events", func(t *testing.T) { (&player{cluster: w, T: t}).followEvents() })
	t.Run("tls", func(t *testing.T) { (&player{cluster: w, T: t}).reachSecured() })
}

// ofScope returns the cases for a scope.
func ofScope(t *testing.T, all []json.RawMessage, scope string) (out []json.RawMessage) {
	t.Helper()
	for _, recorded := range all {
		var s scenario
		if err := json.Unmarshal(recorded, &s); err != nil {
			t.Fatal(err)
		}
		if s.Scope == scope {
			out = append(out, recorded)
		}
	}
	return out
}

// player runs one case.
type player struct {
	*cluster
	*testing.T
	namespace string // namespace of the operator
	mesh      *double
	given     []map[string]any
	log       *process.Log
	metrics   string // the address of the operator's metrics, empty where they are not those of one operator
	logged    int    // size of the log at the start of the step
	errors    []string
}

func (p *player) play(s scenario) {
	p.Helper()
	p.namespace = s.ControllerNamespace
	p.mesh = newDouble(p.T)
	p.mesh.follow(p.T, s.Mesh)
	if !slices.ContainsFunc(s.Given, func(o map[string]any) bool { return o["kind"] == "Namespace" }) {
		p.create(namespaceOf(p.namespace, nil))
	}
	for _, object := range s.Given {
		if object["kind"] == "Namespace" {
			p.create(object)
		}
	}
	p.configure(s.Config)
	for _, object := range s.Given {
		if object["kind"] != "Namespace" {
			p.create(object)
		}
	}
	p.given = s.Given
	p.follow(p.operator(p.T, map[string]string{
		"NAMESPACE": s.ControllerNamespace, "NAMESPACE_SCOPE": strconv.FormatBool(s.Scope == oneNamespace),
	}))
	for i, one := range s.Steps {
		if i > 0 && (one.Mesh != nil || one.Merge != nil) && p.hasModels() {
			p.passed()
		}
		p.step(one)
	}
	p.expect(s.Expect)
	p.checkErrors(s.Name)
}

// follow makes the player read the log and the metrics of an operator.
func (p *player) follow(r *running) { p.log, p.metrics = &r.log, r.metrics }

// expectedErrors has additional errors that the operator logs in a case, by a substring.
var expectedErrors = map[string]string{
	"unknown-autoscaler-class-panics": "Runtimes is not ready",
	"live-config-map-changes":         "'PodsPerRuntime': none is no uint16; want a number from 0 to 65535",
}

// passingErrors are errors that may occur in any case: most cases have no Secret of etcd, which the Service controller
// reports, and a case may delete or write an owner while it is reconciled. For each condition the log also has a line
// for the object.
var passingErrors = regexp.MustCompile(`^EtcdSecret is not ready|^object is not ready|record the inventory: \S+ "[^"]*" not found|the object has been modified; please apply`)

// checkErrors fails the test if the operator has logged an error that the case does not expect. Conditions that report
// expected errors are logged without an error.
func (p *player) checkErrors(name string) {
	p.Helper()
	for _, e := range p.log.Errors(0) {
		text := strings.TrimSuffix(e.Message+": "+e.Error, ": ")
		expected := func(want string) bool { return e.Error == "" || strings.Contains(e.Error, want) }
		want, known := expectedErrors[name]
		switch {
		case slices.ContainsFunc(p.errors, expected), passingErrors.MatchString(text), known && strings.Contains(text, want):
		default:
			p.Errorf("the operator logged an error: %+v", e)
		}
	}
}

func (p *player) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// configure writes the user's configuration, extended with the address of the fake ModelMesh.
func (p *player) configure(document string) {
	p.Helper()
	u := p.object("v1|ConfigMap|" + p.namespace + "|" + settings.ConfigMap)
	u.Object["data"] = map[string]any{settings.Key: document + "\nmodelMeshEndpoint: " + p.mesh.address + "\n"}
	err := p.Create(p.Context(), u)
	if apierrors.IsAlreadyExists(err) {
		body, encodeErr := json.Marshal(map[string]any{"data": u.Object["data"]})
		p.must(encodeErr)
		err = p.Patch(p.Context(), u, client.RawPatch("application/merge-patch+json", body))
	}
	p.must(err)
}

// create creates an object with its status. A cluster-scoped object is deleted before the next case.
func (p *player) create(content map[string]any) {
	p.Helper()
	u := &unstructured.Unstructured{Object: content}
	status := u.Object["status"]
	p.must(p.Create(p.Context(), u))
	if status != nil {
		body, err := json.Marshal(map[string]any{"status": status})
		p.must(err)
		p.must(p.Status().Patch(p.Context(), u, client.RawPatch("application/merge-patch+json", body), client.FieldOwner("kserve")))
	}
	switch u.GetKind() {
	case "ClusterServingRuntime":
		p.Cleanup(func() { _ = p.Delete(context.Background(), u) })
	case "Predictor", "InferenceService": // no controller remains to remove its model
		p.Cleanup(func() {
			_ = p.Delete(context.Background(), u)
			_ = p.Patch(context.Background(), u, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
		})
	case "Namespace":
		p.Cleanup(func() {
			_ = p.Patch(
				context.Background(), u,
				client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"modelmesh-enabled":"false"}}}`)),
			)
		})
	}
}

// object returns an empty object for a reference apiVersion|Kind|namespace|name.
func (p *player) object(ref string) *unstructured.Unstructured {
	parts := strings.Split(ref, "|")
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(parts[0], parts[1]))
	u.SetNamespace(parts[2])
	u.SetName(parts[3])
	return u
}

// waits returns true if the step changes nothing; earlier calls of ModelMesh then count.
func (s step) waits() bool {
	return s.Config == nil && s.Mesh == nil && s.Create == nil && s.Delete == "" && s.Merge == nil
}

func (p *player) step(s step) {
	p.Helper()
	time.Sleep(time.Duration(s.Sleep * float64(time.Second)))
	if !s.waits() {
		p.mesh.next()
		p.logged = len(p.log.String())
	}
	p.mesh.follow(p.T, s.Mesh)
	switch {
	case s.Config != nil:
		p.configure(*s.Config)
	case s.Create != nil:
		p.create(s.Create)
	case s.Delete != "":
		p.eventually(func() error { return p.Delete(p.Context(), p.object(s.Delete)) })
		p.eventually(func() error { // wait for its finalizer or its recreation
			err := p.Get(p.Context(), client.ObjectKeyFromObject(p.object(s.Delete)), p.object(s.Delete))
			if strings.Contains(s.Delete, "|Predictor|") && !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s exists (%w)", s.Delete, err)
			}
			return nil
		})
	case s.Merge != nil:
		body, err := json.Marshal(s.Merge.Patch)
		p.must(err)
		p.eventually(func() error {
			return p.Patch(p.Context(), p.object(s.Merge.Ref), client.RawPatch("application/merge-patch+json", body))
		})
		time.Sleep(300 * time.Millisecond) // the expectation may have held before the step
	case s.Mesh != nil:
		p.nudge()
	}
	p.expect(s.Expect)
}

func (p *player) eventually(try func() error) {
	p.Helper()
	p.within(45*time.Second, try)
}

func (p *player) within(patience time.Duration, try func() error) {
	p.Helper()
	end := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
