package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// scenario is a recorded case: objects to start with, steps, and what is expected. Results of single passes of another engine are
// left out; advice replaces what the product does wrong.
type scenario struct {
	ID         string           `json:"id"`
	Name       string           `json:"name"`
	Controller string           `json:"controller"`
	Config     config           `json:"config"`
	Given      []map[string]any `json:"given"`
	Steps      []step           `json:"steps"`
	Expect     expectation      `json:"expect"`
	Quirk      string           `json:"quirk"`

	advice
}

type config struct {
	OpenShift           bool   `json:"openshift"`
	UserAPI             bool   `json:"userAPI"`
	AuthAPI             bool   `json:"authAPI"`
	Webhooks            bool   `json:"webhooks"`
	RegistriesNamespace string `json:"registriesNamespace"`
	DefaultDomain       string `json:"defaultDomain"`
}

// step has one of its fields set.
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

// advice is what the operator does instead of a quirk, and why.
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

// scenarios reads the cases of a controller with the advice applied.
func scenarios(controller string) []scenario {
	var all []scenario
	advised := map[string]advice{}
	read("testdata/scenarios.json", &all)
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
		panic(err) // while the tree of tests is built
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
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Check != nil && (s.DropChecks || s.DropLastCheck) {
			s.Steps[i].Check, s.DropLastCheck = nil, false
		}
	}
}

// UnmarshalJSON keeps the advice's own decoder from being used for the whole scenario.
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
	}
	err := json.Unmarshal(text, &plain)
	*s = scenario{
		ID: plain.ID, Name: plain.Name, Controller: plain.Controller, Config: plain.Config,
		Given: plain.Given, Steps: plain.Steps, Expect: plain.Expect, Quirk: plain.Quirk,
	}
	return err
}

// player plays a scenario against a running operator.
type player struct {
	*world
	namespace  string
	remembered map[string]any
}

func (w *world) play(s scenario) {
	GinkgoHelper()
	p := &player{world: w, remembered: map[string]any{}, namespace: strings.ToLower(strings.ReplaceAll(s.ID, "-", ""))}
	namespaces := map[string]bool{}
	for _, object := range s.Given {
		p.create(object, s.rejectionOf(object))
		namespaces[p.namespace] = true
	}
	for _, one := range s.Steps {
		if one.Apply != nil {
			p.ensureNamespace(one.Apply)
		}
		p.step(one)
	}
	p.settle()
	p.expect(s.Expect)
}

func (s scenario) rejectionOf(object map[string]any) string {
	if object["kind"] == "ModelRegistry" {
		return s.RejectGiven
	}
	return ""
}

// ensureNamespace makes the namespace of an object that a scenario did not give.
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
		Expect(p.c.Delete(ctx, object(s.Delete), client.GracePeriodSeconds(0))).To(Succeed())
	case s.Remember != nil:
		p.settle()
		found := object(s.Remember.Ref)
		Expect(p.c.Get(ctx, client.ObjectKeyFromObject(found), found)).To(Succeed())
		p.remembered[s.Remember.As], _ = at(found.Object, s.Remember.Path)
	case s.Config != nil:
		p.reconfigure(s.Config)
	case s.Check != nil:
		p.settle()
		p.expect(*s.Check)
	default:
		p.settle()
	}
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

// expect waits until everything is as expected.
func (p *player) expect(e expectation) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, ref := range e.Exist {
			found := object(ref)
			g.Expect(p.c.Get(ctx, client.ObjectKeyFromObject(found), found)).To(Succeed(), ref)
			g.Expect(found.GetDeletionTimestamp()).To(BeNil(), "%s is being deleted", ref)
		}
		for _, ref := range e.Absent {
			g.Expect(p.gone(ref)).To(BeTrue(), "%s exists", ref)
		}
		for _, field := range e.Fields {
			g.Expect(p.field(field)).To(BeEmpty(), field.Ref+" "+field.Path)
		}
		for _, condition := range e.Conditions {
			g.Expect(p.condition(condition)).To(BeEmpty())
		}
		for _, condition := range e.NoConditions {
			g.Expect(p.condition(condition)).To(HavePrefix("no condition"))
		}
		for _, event := range e.Events {
			g.Expect(p.events()).To(ContainElement(event))
		}
	}).Should(Succeed())
}

func (p *player) gone(ref string) bool {
	found := object(ref)
	err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found)
	return apierrors.IsNotFound(err) || err != nil && strings.Contains(err.Error(), "no matches for kind")
}

func (p *player) events() []string {
	var list corev1.EventList
	Expect(p.c.List(ctx, &list, client.InNamespace(p.namespace))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		out = append(out, e.Type+" "+e.Reason+" "+e.Message)
	}
	return out
}

// condition compares the given parts of a condition and says what is different.
func (p *player) condition(want map[string]string) string {
	found := object(want["ref"])
	if err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err.Error()
	}
	list, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] != want["type"] {
			continue
		}
		for _, part := range []string{"status", "reason", "message"} {
			if text, given := want[part]; given && c[part] != text {
				return fmt.Sprintf("%s: want %s %q, got %v", want["type"], part, text, c)
			}
		}
		return ""
	}
	return fmt.Sprintf("no condition %s in %v", want["type"], list)
}

// field compares a field and says what is different.
func (p *player) field(want fieldExpectation) string {
	found := object(want.Ref)
	if err := p.c.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
		return err.Error()
	}
	got, exists := at(found.Object, want.Path)
	text, _ := got.(string)
	wrong := false
	switch {
	case want.Absent:
		wrong = exists
	case want.Present:
		wrong = !exists
	case want.Length != nil:
		wrong = reflect.ValueOf(got).Kind() != reflect.Slice && reflect.ValueOf(got).Kind() != reflect.Map || reflect.ValueOf(got).Len() != *want.Length
	case want.SameAs != "":
		wrong = !same(p.remembered[want.SameAs], got)
	case want.DiffersFrom != "":
		wrong = !exists || same(p.remembered[want.DiffersFrom], got)
	case want.ContainsText != "":
		wrong = !strings.Contains(text, want.ContainsText)
	case want.EqualsJSON != nil:
		var parsed any
		wrong = json.Unmarshal([]byte(text), &parsed) != nil || !same(want.EqualsJSON, parsed)
	case want.Contains != nil:
		m, _ := got.(map[string]any)
		for name, value := range want.Contains {
			if !same(value, m[name]) && !(value == "" && m[name] == nil) {
				wrong = true
			}
		}
	default:
		wrong = !same(want.Equals, got)
	}
	if !wrong {
		return ""
	}
	data, _ := json.Marshal(got)
	return fmt.Sprintf("%s is %s", want.Path, data)
}

// same compares two values as JSON.
func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	var u, v any
	_ = json.Unmarshal(x, &u)
	_ = json.Unmarshal(y, &v)
	return reflect.DeepEqual(u, v)
}

// object makes an empty object of "apiVersion|Kind|namespace|name".
func object(ref string) *unstructured.Unstructured {
	part := strings.Split(ref, "|")
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(part[0])
	u.SetKind(part[1])
	u.SetNamespace(part[2])
	u.SetName(part[3])
	return u
}

var segment = regexp.MustCompile(`\['([^']+)'\]|\[(\d+)\]|([^.\[\]]+)`)

// at follows a path such as spec.ports[0].name or data['a.b'].
func at(value any, path string) (any, bool) {
	for _, part := range segment.FindAllStringSubmatch(path, -1) {
		switch {
		case part[2] != "":
			list, _ := value.([]any)
			index, _ := strconv.Atoi(part[2])
			if index >= len(list) {
				return nil, false
			}
			value = list[index]
		default:
			m, _ := value.(map[string]any)
			next, exists := m[part[1]+part[3]]
			if !exists {
				return nil, false
			}
			value = next
		}
	}
	return value, true
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
