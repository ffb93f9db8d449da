package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// scenario is a recorded case of the product, for an operator with the configuration, in the scope. Where the operator decides otherwise
// than the product, what is expected is as the README says.
type scenario struct {
	Name                string           `json:"name"`
	Scope               string           `json:"scope"`
	ControllerNamespace string           `json:"controllerNamespace"`
	Config              string           `json:"config"`
	Given               []map[string]any `json:"given"`
	Steps               []step           `json:"steps"`
	Expect              expectation      `json:"expect"`
}

type step struct {
	Sleep  float64        `json:"sleep"`
	Config *string        `json:"config"`
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
	Error  string           `json:"error"` // what the operator logs
	Fields []struct {
		Ref        string `json:"ref"`
		Path       string `json:"path"`
		Equals     any    `json:"equals"`
		Base64JSON any    `json:"base64json"`
	} `json:"fields"`
}

// TestScenarios plays the recorded cases, each against an operator of its own: those of one namespace side by side, those of the cluster one
// after the other.
func TestScenarios(t *testing.T) {
	w := newWorld(t)
	var all []scenario
	content, err := os.ReadFile("testdata/scenarios.json")
	if err == nil {
		err = json.Unmarshal(content, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, scope := range []string{"namespace", "cluster"} {
		t.Run(scope, func(t *testing.T) {
			for _, s := range all {
				if (s.Scope == "namespace") != (scope == "namespace") {
					continue
				}
				t.Run(s.Name, func(t *testing.T) {
					if scope == "namespace" {
						t.Parallel()
					}
					(&player{world: w, T: t}).play(s)
				})
			}
		})
	}
	t.Run("events", func(t *testing.T) { (&player{world: w, T: t}).followEvents() })
}

// player plays one case.
type player struct {
	*world
	*testing.T
	namespace string // of the operator
	log       *buffer
}

func (p *player) play(s scenario) {
	p.Helper()
	p.namespace = s.ControllerNamespace
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
	p.log = p.operator(p.T, map[string]string{
		"NAMESPACE": s.ControllerNamespace, "NAMESPACE_SCOPE": strconv.FormatBool(s.Scope == "namespace"),
	})
	for _, one := range s.Steps {
		p.step(one)
	}
	p.expect(s.Expect)
}

func (p *player) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// configure writes the user's document, with the double of ModelMesh in it.
func (p *player) configure(document string) {
	p.Helper()
	u := p.object("v1|ConfigMap|" + p.namespace + "|" + settings.ConfigMap)
	u.Object["data"] = map[string]any{settings.Key: document + "\nmodelMeshEndpoint: " + p.mesh + "\n"}
	err := p.Create(p.Context(), u)
	if apierrors.IsAlreadyExists(err) {
		body, encodeErr := json.Marshal(map[string]any{"data": u.Object["data"]})
		p.must(encodeErr)
		err = p.Patch(p.Context(), u, client.RawPatch("application/merge-patch+json", body))
	}
	p.must(err)
}

// create creates an object; one of the cluster is taken away from the next case.
func (p *player) create(content map[string]any) {
	p.Helper()
	u := &unstructured.Unstructured{Object: content}
	p.must(p.Create(p.Context(), u))
	switch u.GetKind() {
	case "ClusterServingRuntime":
		p.Cleanup(func() { _ = p.Delete(context.Background(), u) })
	case "Namespace":
		p.Cleanup(func() {
			_ = p.Patch(context.Background(), u, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"modelmesh-enabled":"false"}}}`)))
		})
	}
}

// object is the one of a reference apiVersion|Kind|namespace|name.
func (p *player) object(ref string) *unstructured.Unstructured {
	parts := strings.Split(ref, "|")
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(parts[0], parts[1]))
	u.SetNamespace(parts[2])
	u.SetName(parts[3])
	return u
}

func (p *player) step(s step) {
	p.Helper()
	time.Sleep(time.Duration(s.Sleep * float64(time.Second)))
	switch {
	case s.Config != nil:
		p.configure(*s.Config)
	case s.Create != nil:
		p.create(s.Create)
	case s.Delete != "":
		p.eventually(func() error { return p.Delete(p.Context(), p.object(s.Delete)) })
		p.eventually(func() error { // its finalizer, or that it was made anew
			err := p.Get(p.Context(), client.ObjectKeyFromObject(p.object(s.Delete)), p.object(s.Delete))
			if strings.Contains(s.Delete, "|Predictor|") && !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there (%w)", s.Delete, err)
			}
			return nil
		})
	case s.Merge != nil:
		body, err := json.Marshal(s.Merge.Patch)
		p.must(err)
		p.eventually(func() error {
			return p.Patch(p.Context(), p.object(s.Merge.Ref), client.RawPatch("application/merge-patch+json", body))
		})
		time.Sleep(300 * time.Millisecond) // what is expected may have been so before
	}
	p.expect(s.Expect)
}

func (p *player) eventually(try func() error) {
	p.Helper()
	end := time.Now().Add(45 * time.Second)
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

func (p *player) expect(e expectation) {
	p.Helper()
	p.eventually(func() error {
		if said := strings.Trim(strconv.Quote(e.Error), `"`); !strings.Contains(p.log.all(), said) {
			return fmt.Errorf("the log has no %s", said)
		}
		for _, want := range e.Exist {
			given := &unstructured.Unstructured{Object: want}
			got, err := p.get(given)
			if err != nil {
				return err
			}
			if err := match(given.GetKind(), want, got); err != nil {
				return err
			}
		}
		for _, field := range e.Fields {
			got, err := p.get(p.object(field.Ref))
			if err != nil {
				return err
			}
			if err := compare(field.Ref+" "+field.Path, field.Equals, field.Base64JSON, at(got, field.Path)); err != nil {
				return err
			}
		}
		for _, ref := range e.Absent {
			if _, err := p.get(p.object(ref)); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there (%w)", ref, err)
			}
		}
		return nil
	})
	if len(e.Absent) > 0 {
		time.Sleep(2 * time.Second) // the pass that would make it
		for _, ref := range e.Absent {
			if _, err := p.get(p.object(ref)); !apierrors.IsNotFound(err) {
				p.Fatalf("%s is there (%v)", ref, err)
			}
		}
	}
}

// get reads an object, without the labels and annotations of the engine.
func (p *player) get(named *unstructured.Unstructured) (map[string]any, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(named.GroupVersionKind())
	if err := p.Get(p.Context(), client.ObjectKeyFromObject(named), u); err != nil {
		return nil, err
	}
	for _, of := range []string{"labels", "annotations"} {
		all, _, _ := unstructured.NestedMap(u.Object, "metadata", of)
		for key := range all {
			if strings.HasPrefix(key, "applyset.kubernetes.io/") || strings.HasPrefix(key, "reconcilekit.dev/") {
				unstructured.RemoveNestedField(u.Object, "metadata", of, key)
			}
		}
	}
	return u.Object, nil
}

// at is what is at a path of names, numbers, @name for the item of a name and * for all items; nil for nothing.
func at(value any, path string) any {
	if path == "" {
		return value
	}
	step, rest, _ := strings.Cut(path, "/")
	if fields, ok := value.(map[string]any); ok {
		if _, found := fields[path]; found {
			return fields[path] // a label may have slashes
		}
		return at(fields[step], rest)
	}
	list, _ := value.([]any)
	var all []any
	for i, item := range list {
		fields, _ := item.(map[string]any)
		switch {
		case step == "*":
			all = append(all, at(item, rest))
		case step == strconv.Itoa(i), fields != nil && step == fmt.Sprintf("@%v", fields["name"]):
			return at(item, rest)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

func compare(path string, equals, decoded, got any) error {
	if decoded != nil {
		content, err := base64.StdEncoding.DecodeString(fmt.Sprint(got))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		var parsed any
		if err := json.Unmarshal(content, &parsed); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		equals, got = decoded, parsed
	}
	if !reflect.DeepEqual(plain(equals), plain(got)) {
		return fmt.Errorf("%s is %v, want %v", path, got, equals)
	}
	return nil
}

// match compares a subset of what is there: lists of named or typed items by name, other lists item by item.
func match(path string, want, got any) error {
	switch w := want.(type) {
	case map[string]any:
		if exact, ok := w["$exact"]; ok {
			return compare(path, exact, nil, got)
		}
		if pattern, ok := w["$regex"].(string); ok {
			if got == nil || !regexp.MustCompile(pattern).MatchString(fmt.Sprint(got)) {
				return fmt.Errorf("%s is %v, want a match of %s", path, got, pattern)
			}
			return nil
		}
		if w["$absent"] == true {
			if got != nil {
				return fmt.Errorf("%s is %v, want none", path, got)
			}
			return nil
		}
		fields, _ := got.(map[string]any)
		for key, value := range w {
			if err := match(path+"."+key, value, fields[key]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		list, _ := got.([]any)
		if len(list) != len(w) {
			return fmt.Errorf("%s is %v, want %v", path, got, want)
		}
		for i := range w {
			if err := match(fmt.Sprintf("%s[%d]", path, i), w[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return compare(path, want, nil, got)
}

// plain is a value as JSON has it, so that numbers compare.
func plain(value any) (out any) {
	text, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return value
	}
	return out
}
