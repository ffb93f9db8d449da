package description

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/apiserver"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/finding"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/objects"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/randomname"
)

// Prepared is a checked system with defaults.
type Prepared struct {
	System
	Blueprint *apiserver.Blueprint // nil on a real API server
	Uids      map[string]types.UID // of objects by name, for the first object of a name, because names may be derived from them
	Leaves    int                  // index of the owner that is deleted and recreated
	Names     *randomname.Names    // random names of objects; nil and an empty value are none
}

// Prepare checks the system and sets defaults.
func Prepare(s System) (Prepared, error) {
	if err := s.check(); err != nil {
		return Prepared{System: s}, err
	}
	if s.Scheme == nil {
		s.Scheme = clientgoscheme.Scheme
	}
	if s.MaxPasses == 0 {
		s.MaxPasses = defaultMaxPasses
	}
	read, err := ReadCRDs(s.CRDPaths)
	if err != nil {
		return Prepared{System: s}, err
	}
	s.CRDs = append(slices.Clone(s.CRDs), read...)
	s.CRDPaths = nil
	given, err := ParseYAML(s.GivenYAML)
	if err != nil {
		return Prepared{System: s}, fmt.Errorf("system: GivenYAML: %w", err)
	}
	s.Given = append(slices.Clone(s.Given), given...)
	s.GivenYAML = ""
	out := Prepared{System: s, Names: &randomname.Names{}}
	if s.Environment == nil {
		out.Blueprint, err = apiserver.NewBlueprint(s.Scheme, s.CRDs)
	}
	return out, err
}

// Namespace returns the namespace of a test: a new one on a real API server.
func (p Prepared) Namespace(t testing.TB) string {
	t.Helper()
	if p.Environment == nil {
		return TestNamespace
	}
	return p.Environment.Namespace(t)
}

// MayOutlive reports whether an object may remain after its owners are deleted.
func (p Prepared) MayOutlive(object string) bool {
	return slices.ContainsFunc(p.Outlives, func(pattern string) bool {
		matches, err := path.Match(pattern, object)
		return object == pattern || err == nil && matches
	})
}

// check reports missing and contradictory fields.
func (s System) check() error {
	if s.Setup == nil {
		return errNoSetup
	}
	if len(s.Owners) == 0 && s.Singleton == nil {
		return errNoOwners
	}
	if len(s.Owners) > 0 && s.Singleton != nil {
		return errOwnersToo
	}
	if slices.ContainsFunc(s.Accepted, func(a finding.Acceptance) bool { return a.About == "" || a.Reason == "" }) {
		return finding.ErrNoReason
	}
	return nil
}

// ParseYAML parses objects from YAML documents.
func ParseYAML(text string) ([]client.Object, error) {
	var out []client.Object
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(text), 4096) //nolint:mnd // bytes to look ahead
	for {
		content := map[string]any{}
		err := decoder.Decode(&content)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(out)+1, err)
		}
		if len(content) == 0 {
			continue
		}
		objects.Integers(content)
		u := &unstructured.Unstructured{Object: content}
		if u.GroupVersionKind() == (schema.GroupVersionKind{}) || u.GetName() == "" {
			return nil, fmt.Errorf("document %d: want apiVersion, kind and metadata.name", len(out)+1)
		}
		out = append(out, u)
	}
}

// ReadCRDs reads the definitions in files and in folders of files; other objects are skipped.
func ReadCRDs(paths []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		files := []string{path}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("system: CRDPaths: %w", err)
		}
		if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, fmt.Errorf("system: CRDPaths: %w", err)
			}
		}
		for _, file := range files {
			read, err := readCRDFile(file)
			if err != nil {
				return nil, fmt.Errorf("system: CRDPaths: %s: %w", file, err)
			}
			out = append(out, read...)
		}
	}
	return out, nil
}

func readCRDFile(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for document := range bytes.SplitSeq(data, []byte("\n---")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil {
			return nil, err
		}
		if crd.Kind == "CustomResourceDefinition" {
			out = append(out, crd)
		}
	}
	return out, nil
}
