package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/images"
)

// scenario is a recorded case: initial objects, steps and expectations. Prefer replaces the expectation where the
// product is wrong.
type scenario struct {
	Name       string                       `json:"name"`
	Controller string                       `json:"controller"`
	Runner     string                       `json:"runner"`
	Nasty      bool                         `json:"nasty"`
	Requires   any                          `json:"requires"`
	Namespaces map[string]map[string]string `json:"namespaces"`
	Given      []map[string]any             `json:"given"`
	Steps      []step                       `json:"steps"`
	HTTPStatus int                          `json:"httpStatus"`
	Expect     expectation                  `json:"expect"`
	Prefer     *expectation                 `json:"prefer"`
}

type step struct {
	Do     string         `json:"do"`
	Object map[string]any `json:"object"`
	Expect expectation    `json:"expect"`
	Prefer *expectation   `json:"prefer"`
	Count  float64        `json:"seconds"`
}

type expectation struct {
	Exists        []map[string]any `json:"exists"`
	Absent        []map[string]any `json:"absent"`
	Events        []map[string]any `json:"events"`
	HTTP          []any            `json:"http"`
	HoldSeconds   float64          `json:"holdSeconds"`
	WithinSeconds float64          `json:"withinSeconds"`
}

func scenarios(t *testing.T) (all []scenario) {
	t.Helper()
	text, err := os.ReadFile("testdata/scenarios.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		switch s.Name {
		case "evalhub-job-adapter-error-ignored":
			all = append(all, queueCase(s))
		case "tas-pvc-creates-all-children":
			all = append(all, migrationCase(s))
		case "nemo-config-change-rolls-pods":
			all = append(all, quirks(t, s.Given[0])...)
		}
	}
	return all
}

// quirks returns the additional cases of testdata/quirks.yaml, with the given settings of the operator.
func quirks(t *testing.T, settings map[string]any) (all []scenario) {
	t.Helper()
	text, err := os.ReadFile("testdata/quirks.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("read the cases of quirks: %v", err)
	}
	for i := range all {
		all[i].Given = append([]map[string]any{settings}, all[i].Given...)
	}
	return all
}

// TestScenarios runs the recorded cases of the product in groups with the same settings of the operator, each case in
// its own namespace.
func TestScenarios(t *testing.T) {
	w := newCluster(t, everyService)
	groups := map[string][]scenario{}
	for _, s := range scenarios(t) {
		if s.Controller != "jobmgr" && s.Runner != "manual" {
			settings := text(s.settings())
			groups[settings] = append(groups[settings], s)
		}
	}
	for settings, group := range groups {
		t.Run(fmt.Sprintf("%x", crc32.ChecksumIEEE([]byte(settings))), func(t *testing.T) {
			w.configure(t, group[0].settings())
			for i, s := range group {
				t.Run(s.Name, func(t *testing.T) {
					if s.Controller != "evalhub" { // hubs have objects in the tenants of all cases
						t.Parallel()
					}
					p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
					if s.ofHub() { // short, because names of children are derived from it
						p.ns = fmt.Sprintf("eval-%d", i)
						w.namespace(t, p.ns)
					}
					p.play(s)
				})
			}
		})
	}
}

// everyService lists all services except the job manager, which would make every job wait in a queue.
const everyService = "TAS,GORCH,NEMO_GUARDRAILS,LMES,EVALHUB"

func (s scenario) ofHub() bool { return strings.HasPrefix(s.Controller, "evalhub") }

// settings returns the data of the operator's ConfigMap.
func (s scenario) settings() any {
	for _, object := range s.Given {
		if object["metadata"].(map[string]any)["name"] == images.ConfigMap {
			return object["data"]
		}
	}
	return nil
}

// install creates the other objects of an installation.
func (w *cluster) install(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	u := &unstructured.Unstructured{}
	if err == nil {
		err = yaml.Unmarshal(data, u)
	}
	if err == nil {
		err = w.Create(t.Context(), u)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *cluster) configure(t *testing.T, settings any) {
	t.Helper()
	config := &unstructured.Unstructured{Object: map[string]any{"data": settings}}
	config.SetAPIVersion("v1")
	config.SetKind("ConfigMap")
	config.SetNamespace(operatorNamespace)
	config.SetName(images.ConfigMap)
	if err := client.IgnoreNotFound(w.Delete(t.Context(), config.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	if err := w.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
}

func (w *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	err := w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// player runs one case.
type player struct {
	*cluster
	*testing.T
	ns  string
	hub *recorder // nil in cases without a hub
}

func (p *player) play(s scenario) {
	p.Helper()
	for name, labels := range s.Namespaces {
		p.must(p.Create(p.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.substitute(name).(string), Labels: labels}}))
	}
	if s.ofHub() {
		p.hub = newRecorder(p.T, s.HTTPStatus)
		p.Cleanup(func() { p.clear(s) })
	}
	from := len(p.log.String())
	for _, object := range s.Given {
		p.create(object)
	}
	for _, one := range s.Steps {
		p.step(one)
	}
	if s.Prefer != nil {
		s.Expect = *s.Prefer
	}
	p.expect(s.Expect)
	p.checkErrors(s.Name, from)
}

// expectedErrors has the errors that the operator logs in a case, by a substring. The conditions that report them are
// logged, too.
var expectedErrors = map[string]string{
	"gorch-detectors-switched-off-without-orchestrator": "spec.disableOrchestrator without spec.enableBuiltInDetectors",
	"gorch-neither-config-nor-autoconfig":               "one of spec.orchestratorConfig and spec.autoConfig is required",
	"evalhub-job-post-failure-keeps-job":                "got status 500, want 200 or 204",
	"tas-two-services-overwrite-each-others-logger":     "has fields of other managers: .spec.predictor.logger.url",
}

// passingErrors are errors that may occur in any case and that the next reconciliation resolves: the case has changed an
// object in the meantime, or the API server does not have a new Role in its cache yet and rejects the RoleBinding.
var passingErrors = regexp.MustCompile(
	`the object has been modified; please apply|RoleBinding \S+: rolebindings\.rbac\.authorization\.k8s\.io "[^"]*" not found`)

// checkErrors fails the test for each unexpected error that the operator has logged for the namespaces of the case.
func (p *player) checkErrors(name string, from int) {
	p.Helper()
	want, isExpected := expectedErrors[name]
	for _, e := range p.log.Errors(from) {
		switch {
		case e.Namespace != p.ns && !strings.HasPrefix(e.Namespace, p.ns+"-"): // error of another case
		case isExpected && (e.Error == "" || strings.Contains(e.Error, want)), passingErrors.MatchString(e.Error):
		default:
			p.Errorf("the operator has logged an error: %+v", e)
		}
	}
}

// clear deletes the hubs and the tenants of a case, which would affect other cases.
func (p *player) clear(s scenario) {
	ctx := context.Background() // the context of the test is done
	hubs := &unstructured.Unstructured{}
	hubs.SetAPIVersion("trustyai.opendatahub.io/v1")
	hubs.SetKind("EvalHub")
	var errs []error
	for _, namespace := range []string{"{ns}", "{ns2}", "{tenant}"} {
		errs = append(errs, p.DeleteAllOf(ctx, hubs, client.InNamespace(p.substitute(namespace).(string))))
	}
	for name := range s.Namespaces {
		tenant := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.substitute(name).(string)}}
		errs = append(errs, p.Delete(ctx, tenant))
	}
	if err := errors.Join(errs...); err != nil {
		p.Error(err)
	}
}

func (p *player) step(s step) {
	p.Helper()
	switch s.Do {
	case "create":
		p.create(s.Object)
	case "delete":
		p.must(client.IgnoreNotFound(p.Delete(p.Context(), p.object(s.Object), client.GracePeriodSeconds(0))))
	case "patch":
		p.eventually("patch", 20*time.Second, func() error { return p.patch(s.Object, false) })
	case "status":
		p.eventually("write the status of", 45*time.Second, func() error { return p.patch(s.Object, true) })
	case "pin":
		p.pin(s.Object)
	case "sleep":
		time.Sleep(time.Duration(s.Count * float64(time.Second)))
	case "expect":
		if s.Prefer != nil {
			s.Expect = *s.Prefer
		}
		p.expect(s.Expect)
	default:
		p.Fatalf("unknown step %q", s.Do)
	}
}

func (p *player) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// object replaces the placeholders.
func (p *player) object(given map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: p.substitute(given).(map[string]any)}
}

func (p *player) create(given map[string]any) {
	p.Helper()
	u := p.object(given)
	p.resolve(u)
	status := u.Object["status"]
	delete(u.Object, "status")
	err := p.Create(p.Context(), u)
	if apierrors.IsAlreadyExists(err) && u.GetNamespace() == operatorNamespace {
		return // the settings of the operator, which all cases share
	}
	p.must(err)
	if status != nil {
		body, err := json.Marshal(map[string]any{"status": status})
		p.must(err)
		p.must(p.Status().Patch(p.Context(), u, client.RawPatch(types.MergePatchType, body)))
	}
}

func (p *player) patch(given map[string]any, status bool) error {
	u := p.object(given)
	body, err := json.Marshal(u.Object)
	if err != nil {
		return err
	}
	if status {
		return p.Status().Patch(p.Context(), u, client.RawPatch(types.MergePatchType, body))
	}
	return p.Patch(p.Context(), u, client.RawPatch(types.MergePatchType, body))
}

var ago = regexp.MustCompile(`^\{now(?:-(\d+))?\}$`)

func (p *player) substitute(value any) any {
	switch v := value.(type) {
	case string:
		if found := ago.FindStringSubmatch(v); found != nil {
			seconds, _ := strconv.Atoi(found[1])
			return time.Now().Add(-time.Duration(seconds) * time.Second).UTC().Format(time.RFC3339)
		}
		return strings.NewReplacer(
			"{ns}", p.ns, "{op}", operatorNamespace, "{ns2}", p.ns+"-2", "{tenant}", p.ns+"-t", "{http}", p.hub.address(),
		).Replace(v)
	case map[string]any:
		out := map[string]any{}
		for name := range v {
			out[name] = p.substitute(v[name])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = p.substitute(v[i])
		}
		return out
	}
	return value
}

func (p *player) eventually(what string, within time.Duration, try func() error) {
	p.Helper()
	end := time.Now().Add(within)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("%s: %v", what, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// expect waits until the expectation holds. It checks absent objects and requests again after the operator has
// reconciled the changes of the step.
func (p *player) expect(e expectation) {
	p.Helper()
	within := 45 * time.Second
	if e.WithinSeconds > 0 {
		within = time.Duration(e.WithinSeconds * float64(time.Second))
	}
	time.Sleep(time.Duration(e.HoldSeconds * float64(time.Second)))
	p.eventually("expect", within, func() error { return p.check(e) })
	if len(e.Absent) > 0 || e.HTTP != nil {
		process.AwaitQueues(p.T, p.metrics, time.Minute)
		p.must(p.checkNothingMore(e))
	}
}

func (p *player) check(e expectation) error {
	for _, given := range e.Exists {
		want := p.object(given)
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		if err := p.Get(p.Context(), client.ObjectKeyFromObject(want), got); err != nil {
			return err
		}
		if err := match(want.Object, got.Object, want.GetKind()+" "+want.GetName()); err != nil {
			return fmt.Errorf("%w; its status is %s", err, text(got.Object["status"]))
		}
	}
	if err := p.checkNothingMore(e); err != nil {
		return err
	}
	return p.checkEvents(e.Events)
}

// checkNothingMore checks that the operator does not create objects that must be absent and sends no unexpected
// requests.
func (p *player) checkNothingMore(e expectation) error {
	for _, given := range e.Absent {
		u := p.object(given)
		if err := p.Get(p.Context(), client.ObjectKeyFromObject(u), u); !apierrors.IsNotFound(err) {
			return errors.Join(fmt.Errorf("%s %s exists", u.GetKind(), u.GetName()), err)
		}
	}
	if e.HTTP != nil {
		if err := p.hub.check(p.substitute(e.HTTP).([]any)); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) checkEvents(wanted []map[string]any) error {
	if len(wanted) == 0 {
		return nil
	}
	for _, want := range wanted {
		var events corev1.EventList
		namespace, ok := p.substitute(want["namespace"]).(string)
		if !ok {
			namespace = p.ns
		}
		want = maps.Clone(want)
		delete(want, "namespace")
		if err := p.List(p.Context(), &events, client.InNamespace(namespace)); err != nil {
			return err
		}
		found := false
		for _, e := range events.Items {
			found = found || match(p.substitute(want), map[string]any{"type": e.Type, "reason": e.Reason, "message": e.Message}, "event") == nil
		}
		if !found {
			return fmt.Errorf("no event %v", want)
		}
	}
	return nil
}
