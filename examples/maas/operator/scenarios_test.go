package operator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// scenario is an entry of testdata/scenarios.json. For a quirk of upstream, Prefer has the better result, if there is
// one.
type scenario struct {
	Name    string           `json:"name"`
	Product string           `json:"product"`
	Class   string           `json:"class"`
	Given   []map[string]any `json:"given"`
	Steps   []step           `json:"steps"`
	Expect  *expectation     `json:"expect"`
	Prefer  *expectation     `json:"prefer"`
}

type step struct {
	Op          string         `json:"op"`
	Object      map[string]any `json:"object"`
	Ref         *reference     `json:"ref"`
	Type        string         `json:"type"`
	Subresource string         `json:"subresource"`
	Patch       any            `json:"patch"`
	Wait        bool           `json:"wait"`
	ExpectError string         `json:"expectError"`
	Expect      *expectation   `json:"expect"`
}

type expectation struct {
	Exist  []map[string]any `json:"exist"`
	Absent []reference      `json:"absent"`
}

type reference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

func (r reference) object() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(r.APIVersion)
	u.SetKind(r.Kind)
	u.SetNamespace(r.Namespace)
	u.SetName(r.Name)
	return u
}

// decided has the scenarios whose result differs here, see the README: no CRD of the product allows the phase Invalid.
var decided = map[string]*expectation{
	"modelref-without-spec-is-stuck":     withoutSpec("MaaSModelRef", "llm"),
	"subscription-without-spec-is-stuck": withoutSpec("MaaSSubscription", "models-as-a-service"),
}

func withoutSpec(kind, namespace string) *expectation {
	return &expectation{Exist: []map[string]any{{
		"apiVersion": "maas.opendatahub.io/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": "nospec", "namespace": namespace}, "status": map[string]any{"phase": "Failed"},
	}}}
}

// scenarios returns the recorded scenarios and additional ones.
func scenarios() []scenario {
	var all []scenario
	for _, file := range []string{"testdata/scenarios.json", "testdata/more.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		var list []scenario
		if err := yaml.Unmarshal(data, &list); err != nil {
			panic(file + ": " + err.Error())
		}
		all = append(all, list...)
	}
	return all
}

var _ = Describe("The scenarios of the product", Ordered, func() {
	for _, s := range scenarios() {
		It(strings.TrimSuffix(s.Name+" ("+s.Class+")", " ()"), func(ctx context.Context) {
			known := memory{}
			for _, object := range s.Given {
				applyObject(ctx, object)
			}
			for _, step := range s.Steps {
				step.run(ctx, known)
			}
			switch outcome := decided[s.Name]; {
			case outcome != nil:
				outcome.hold(ctx, known)
			case s.Class == "quirk" && s.Prefer != nil:
				s.Prefer.hold(ctx, known)
			default:
				s.Expect.hold(ctx, known)
				if s.Prefer != nil {
					s.Prefer.hold(ctx, known)
				}
			}
		})
	}
	AfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Print(shipped.tail())
		}
		clean(ctx)
	})
})

func applyObject(ctx context.Context, object map[string]any) {
	GinkgoHelper()
	u := (&unstructured.Unstructured{Object: object}).DeepCopy()
	Expect(c.Patch(ctx, u, client.Apply, client.FieldOwner("scenario"), client.ForceOwnership)).To(Succeed()) //nolint:staticcheck // of any kind
}

func (s step) run(ctx context.Context, known memory) {
	GinkgoHelper()
	switch s.Op {
	case "expect":
		s.Expect.hold(ctx, known)
	case "apply":
		applyObject(ctx, s.Object)
	case "create":
		err := c.Create(ctx, &unstructured.Unstructured{Object: s.Object})
		if s.ExpectError == "" {
			Expect(err).NotTo(HaveOccurred())
		} else {
			Expect(err).To(MatchError(ContainSubstring(s.ExpectError)))
		}
	case "patch":
		data, err := json.Marshal(s.Patch)
		Expect(err).NotTo(HaveOccurred())
		patchType := map[string]types.PatchType{"merge": types.MergePatchType, "json": types.JSONPatchType}[s.Type]
		Eventually(func() error { // the operator may have to create the object or its finalizer first
			if s.Subresource == "status" {
				return c.Status().Patch(ctx, s.Ref.object(), client.RawPatch(patchType, data))
			}
			return c.Patch(ctx, s.Ref.object(), client.RawPatch(patchType, data))
		}).WithTimeout(patience).Should(Succeed())
	case "delete":
		Expect(client.IgnoreNotFound(c.Delete(ctx, s.Ref.object()))).To(Succeed())
		if s.Wait {
			(&expectation{Absent: []reference{*s.Ref}}).hold(ctx, known)
		}
	case "sleep":
		time.Sleep(moment) // time for unexpected changes
	default:
		Fail("unknown op " + s.Op)
	}
}

// hold waits until the objects are as expected.
func (e *expectation) hold(ctx context.Context, known memory) {
	GinkgoHelper()
	Eventually(func() string {
		var differences []string
		for _, want := range e.Exist {
			object := (&unstructured.Unstructured{Object: want}).DeepCopy()
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
				differences = append(differences, err.Error())
			} else if d := known.differs(object.GetKind(), want, object.Object); d != "" {
				differences = append(differences, d)
			}
		}
		for _, r := range e.Absent {
			if err := c.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: r.Name}, r.object()); !apierrors.IsNotFound(err) {
				differences = append(differences, fmt.Sprintf("%s %s/%s exists (%v)", r.Kind, r.Namespace, r.Name, err))
			}
		}
		return strings.Join(differences, "\n")
	}).WithTimeout(patience).WithPolling(50 * time.Millisecond).Should(BeEmpty())
}
