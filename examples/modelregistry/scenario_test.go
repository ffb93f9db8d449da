package main_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/kstatus"
	"github.com/reconcilekit/reconcilekit/examples/modelregistry/api/v1beta1"
)

// scenario is a recorded case: initial objects, steps and expectations. It omits the results of single reconciliations,
// which belong to the product's implementation. Advice replaces results that are defects of the product.
type scenario struct {
	ID         string           `json:"id"`
	Name       string           `json:"name"`
	Controller string           `json:"controller"`
	Config     config           `json:"config"`
	Given      []map[string]any `json:"given"`
	Steps      []step           `json:"steps"`
	Expect     expectation      `json:"expect"`
	Quirk      string           `json:"quirk"`
	Namespace  string           `json:"namespace"` // namespace of the catalog

	advice
}

type config struct {
	OpenShift           bool   `json:"openshift"`
	UserAPI             bool   `json:"userAPI"`
	AuthAPI             bool   `json:"authAPI"`
	Webhooks            bool   `json:"webhooks"`
	RegistriesNamespace string `json:"registriesNamespace"`
	DefaultDomain       string `json:"defaultDomain"`
	CatalogEnabled      bool   `json:"catalogEnabled"`
	SkipCatalogDB       bool   `json:"skipCatalogDB"`
}

// step has exactly one field set.
type step struct {
	Reconcile int            `json:"reconcile"`
	Apply     map[string]any `json:"apply"`
	Rejected  string         `json:"rejected"`
	Patch     *struct {
		Ref       string         `json:"ref"`
		Merge     map[string]any `json:"merge"`
		ViaUpdate bool           `json:"viaUpdate"`
	} `json:"patch"`
	Status *struct {
		Ref    string `json:"ref"`
		Status any    `json:"status"`
	} `json:"status"`
	Delete   string `json:"delete"`
	Remember *struct {
		As   string `json:"as"`
		Ref  string `json:"ref"`
		Path string `json:"path"`
	} `json:"remember"`
	Config map[string]any `json:"config"`
	Check  *expectation   `json:"check"`
}

type expectation struct {
	Exist        []string            `json:"exist"`
	Absent       []string            `json:"absent"`
	Fields       []fieldExpectation  `json:"fields"`
	Conditions   []map[string]string `json:"conditions"`
	NoConditions []map[string]string `json:"noConditions"`
	Events       []string            `json:"events"`
}

type fieldExpectation struct {
	Ref          string         `json:"ref"`
	Path         string         `json:"path"`
	Equals       any            `json:"equals"`
	EqualsJSON   any            `json:"equalsJSON"`
	Contains     map[string]any `json:"contains"`
	ContainsText string         `json:"containsText"`
	Absent       bool           `json:"absent"`
	Present      bool           `json:"present"`
	Length       *int           `json:"length"`
	SameAs       string         `json:"sameAs"`
	DiffersFrom  string         `json:"differsFrom"`
}

// advice is the result of this operator instead of a quirk of the product, and the reason.
type advice struct {
	Why            string              `json:"why"`
	Replace        *expectation        `json:"-"`
	NoConditions   []map[string]string `json:"noConditions"`
	DropConditions bool                `json:"dropConditions"`
	DropChecks     bool                `json:"dropChecks"`
	DropLastCheck  bool                `json:"dropLastCheck"`
	RejectGiven    string              `json:"rejectGiven"`
}

func (a *advice) UnmarshalJSON(text []byte) error {
	type plain advice
	var with struct {
		plain
		Expect *expectation `json:"expect"`
	}
	err := json.Unmarshal(text, &with)
	*a = advice(with.plain)
	a.Replace = with.Expect
	return err
}

// scenarios reads the cases of a controller and applies the advice.
func scenarios(controller string) []scenario {
	var all []scenario
	advised := map[string]advice{}
	read("testdata/scenarios.json", &all)
	var more []scenario // additional cases from the specification of the product
	read("testdata/more.json", &more)
	all = append(all, more...)
	read("testdata/advice.json", &advised)
	var out []scenario
	for _, s := range all {
		if s.Controller != controller {
			continue
		}
		s.advice = advised[s.ID]
		s.applyAdvice()
		out = append(out, s)
	}
	return out
}

func read(file string, into any) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic(err) // Ginkgo is building the tree of specs
	}
}

func (s *scenario) applyAdvice() {
	if s.Replace != nil {
		s.Expect = *s.Replace
	}
	s.Expect.NoConditions = s.NoConditions
	if s.DropConditions {
		s.Expect.Conditions = nil
	}
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].Check != nil && (s.DropChecks || s.DropLastCheck) {
			s.Steps[i].Check, s.DropLastCheck = nil, false
		}
	}
}

// UnmarshalJSON prevents the embedded decoder of advice from decoding the entire scenario.
func (s *scenario) UnmarshalJSON(text []byte) error {
	var plain struct {
		ID         string           `json:"id"`
		Name       string           `json:"name"`
		Controller string           `json:"controller"`
		Config     config           `json:"config"`
		Given      []map[string]any `json:"given"`
		Steps      []step           `json:"steps"`
		Expect     expectation      `json:"expect"`
		Quirk      string           `json:"quirk"`
		Namespace  string           `json:"namespace"`
	}
	err := json.Unmarshal(text, &plain)
	*s = scenario{
		ID: plain.ID, Name: plain.Name, Controller: plain.Controller, Config: plain.Config,
		Given: plain.Given, Steps: plain.Steps, Expect: plain.Expect, Quirk: plain.Quirk,
		Namespace: plain.Namespace,
	}
	return err
}

// player runs a scenario against a running operator.
type player struct {
	*fixture
	namespace  string
	catalog    bool // the case is about the catalog
	remembered map[string]any
}

func (w *fixture) player(s scenario) *player {
	namespace := strings.ToLower(strings.ReplaceAll(s.ID, "-", ""))
	return &player{fixture: w, remembered: map[string]any{}, namespace: namespace, catalog: s.Controller == "catalog"}
}

func (w *fixture) play(s scenario) {
	GinkgoHelper()
	w.given(s)
	w.player(s).steps(s)
}

// given creates the initial objects of a scenario.
func (w *fixture) given(s scenario) {
	GinkgoHelper()
	for _, object := range s.Given {
		w.player(s).create(object, s.rejectionOf(object))
	}
}

// forget deletes the initial objects of a scenario outside its namespace.
func (w *fixture) forget(s scenario) {
	GinkgoHelper()
	for _, given := range s.Given {
		if u := (&unstructured.Unstructured{Object: given}); u.GetNamespace() == "" && u.GetKind() != "Namespace" {
			Expect(client.IgnoreNotFound(w.c.Delete(ctx, u))).To(Succeed())
		}
	}
}

func (p *player) steps(s scenario) {
	GinkgoHelper()
	for _, one := range s.Steps {
		if one.Apply != nil {
			p.ensureNamespace(one.Apply)
		}
		p.step(one)
	}
	p.settle()
	p.expect(s.Expect)
	Eventually(func() error { return kstatus.Check(ctx, p.c, v1beta1.GroupVersion.WithKind("ModelRegistry")) }).Should(Succeed())
}

func (s scenario) rejectionOf(object map[string]any) string {
	if object["kind"] == "ModelRegistry" {
		return s.RejectGiven
	}
	return ""
}

// ensureNamespace creates the namespace of an object if the scenario does not contain it.
func (p *player) ensureNamespace(object map[string]any) {
	GinkgoHelper()
	u := &unstructured.Unstructured{Object: object}
	if u.GetNamespace() == "" {
		return
	}
	namespace := &corev1.Namespace{}
	namespace.Name = u.GetNamespace()
	Expect(client.IgnoreAlreadyExists(p.c.Create(ctx, namespace))).To(Succeed())
}

func (p *player) step(s step) {
	GinkgoHelper()
	switch {
	case s.Apply != nil:
		p.create(s.Apply, s.Rejected)
	case s.Patch != nil:
		Eventually(func(g Gomega) {
			err := p.patch(s.Patch.Ref, s.Patch.Merge, s.Patch.ViaUpdate)
			if s.Rejected != "" {
				g.Expect(err).To(MatchError(ContainSubstring(s.Rejected)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
		}).Should(Succeed())
	case s.Status != nil:
		Eventually(func() error { return p.status(s.Status.Ref, s.Status.Status) }).Should(Succeed())
	case s.Delete != "":
		Eventually(func() error { return p.c.Delete(ctx, object(s.Delete), client.GracePeriodSeconds(0)) }).Should(Succeed())
	case s.Remember != nil:
		p.settle()
		found := object(s.Remember.Ref)
		Eventually(func() error { return p.c.Get(ctx, client.ObjectKeyFromObject(found), found) }).Should(Succeed())
		p.remembered[s.Remember.As], _ = at(found.Object, s.Remember.Path)
	case s.Config != nil:
		p.reconfigure(s.Config)
	case s.Check != nil:
		p.settle()
		p.expect(*s.Check)
	default:
		p.complete()
		p.settle()
	}
}

// complete waits for all children of a catalog, so that they exist before the next step.
func (p *player) complete() {
	GinkgoHelper()
	if !p.catalog || !p.running.CatalogEnabled {
		return
	}
	last := "rbac.authorization.k8s.io/v1|RoleBinding|" + p.namespace + "|model-catalog-authenticated"
	exist := []string{last}
	if !p.running.SkipCatalogDB {
		exist = append(exist, "networking.k8s.io/v1|NetworkPolicy|"+p.namespace+"|model-catalog-postgres")
	}
	p.expect(expectation{Exist: exist})
}

func (p *player) create(given map[string]any, rejected string) {
	GinkgoHelper()
	p.ensureNamespace(given)
	u := &unstructured.Unstructured{Object: substitute(given).(map[string]any)}
	status := u.Object["status"]
	err := p.c.Create(ctx, u)
	if rejected != "" {
		Expect(err).To(MatchError(ContainSubstring(rejected)))
		return
	}
	if u.GetKind() == "Namespace" {
		err = client.IgnoreAlreadyExists(err)
	}
	Expect(err).NotTo(HaveOccurred(), "%s %s", u.GetKind(), u.GetName())
	if status != nil {
		u.Object["status"] = status
		Expect(p.c.Status().Update(ctx, u)).To(Succeed())
	}
}

func (p *player) patch(ref string, merge map[string]any, viaUpdate bool) error {
	target := object(ref)
	if !viaUpdate {
		body, err := json.Marshal(merge)
		if err != nil {
			return err
		}
		return p.c.Patch(ctx, target, client.RawPatch(types.MergePatchType, body))
	}
	if err := p.c.Get(ctx, client.ObjectKeyFromObject(target), target); err != nil {
		return err
	}
	target.SetLabels(map[string]string{"a": "b"})
	return p.c.Update(ctx, target)
}

func (p *player) status(ref string, status any) error {
	target := object(ref)
	body, err := json.Marshal(map[string]any{"status": substitute(status)})
	if err != nil {
		return err
	}
	return p.c.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, body))
}

var ago = regexp.MustCompile(`^\$NOW(?:-(\d+)s)?$`)

// substitute replaces $NOW and $NOW-60s.
func substitute(value any) any {
	switch v := value.(type) {
	case string:
		if found := ago.FindStringSubmatch(v); found != nil {
			seconds, _ := strconv.Atoi(found[1])
			return time.Now().Add(-time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
		}
	case map[string]any:
		for name := range v {
			v[name] = substitute(v[name])
		}
	case []any:
		for i := range v {
			v[i] = substitute(v[i])
		}
	}
	return value
}
