package operator_test

import (
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator"
)

// TestArguments checks that the error of a wrong argument names the flag, its value and what is accepted.
func TestArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string
	}{
		"unknown flag":       {[]string{"-leader"}, []string{"-leader", "-h lists the flags"}},
		"unknown command":    {[]string{"explode"}, []string{`"explode"`, "run, describe"}},
		"command after flag": {[]string{"-leader-elect", "describe"}, []string{`"describe"`, "a command comes first"}},
		"too many arguments": {[]string{"describe", "page"}, []string{`"page"`}},
		"port":               {[]string{"-webhook-port=-1"}, []string{`"-1"`, "-webhook-port", "from 1 to 65535"}},
		"port of an address": {[]string{"-metrics-bind-address=:http"}, []string{`"http"`, "-metrics-bind-address", "from 1 to 65535"}},
		"address":            {[]string{"--health-probe-bind-address", "8081"}, []string{`"8081"`, "-health-probe-bind-address", ":8080, or 0"}},
		"empty address":      {[]string{"--metrics-bind-address="}, []string{`""`, "-metrics-bind-address", "0 for none"}},
		"switch":             {[]string{"-leader-elect=maybe"}, []string{`"maybe"`, "-leader-elect", "want true or false"}},
		"namespace":          {[]string{"-namespaces=a,B"}, []string{`"a,B"`, "-namespaces", `"B"`, "lower case"}},
		"no value":           {[]string{"-webhook-port"}, []string{"-webhook-port", "port of the webhook server"}},
		"output":             {[]string{"describe", "-output=yaml"}, []string{`"yaml"`, "page, json or rights"}},
		"account":            {[]string{"describe", "-service-account=me"}, []string{`"me"`, "namespace/name"}},
		"webhook service":    {[]string{"-webhook-service=webhooks"}, []string{`"webhooks"`, "-webhook-service", "namespace/name"}},
		"two certificates": {
			[]string{"-webhook-service=shop/webhooks", "-webhook-cert-dir=/tls", "-kubeconfig=/nowhere"},
			[]string{`-webhook-service "shop/webhooks"`, "-webhook-cert-dir", "leave one of the two out"},
		},
		"lease duration equal to the renew deadline": {
			[]string{"-leader-election-lease-duration=10s", "-kubeconfig=/nowhere"},
			[]string{"-leader-election-lease-duration 10s", "more than -leader-election-renew-deadline 10s"},
		},
		"renew deadline equal to the retry period": {
			[]string{"-leader-election-retry-period=9s"},
			[]string{"-leader-election-renew-deadline 10s", "more than 1.2 times -leader-election-retry-period 9s"},
		},
		"no retry period":               {[]string{"-leader-election-retry-period=0s"}, []string{"-leader-election-retry-period 0s", "more than 0"}},
		"number of shards":              {[]string{"-shard-count=two"}, []string{`"two"`, "-shard-count", "want the number of shards"}},
		"no shard count":                {[]string{"-shard-name=1"}, []string{`-shard-name "1"`, "want -shard-count, too"}},
		"no shard name":                 {[]string{"-shard-count=3"}, []string{"-shard-count 3", "want -shard-name, too", "0 to 2"}},
		"shard without leader election": {[]string{"-shard-count=3", "-shard-name=1"}, []string{"-shard-count 3", "want -leader-elect, too"}},
		"shard of groups": {
			[]string{"-shard-count=3", "-shard-name=1", "-leader-elect"},
			[]string{`-shard-name "1"`, "-shard-count 3", `controller "library"`, "groups are not objects that a shard can select"},
		},
		"log level":           {[]string{"-zap-log-level=loud"}, []string{`"loud"`, "-zap-log-level"}},
		"flag of the product": {[]string{"-interval=soon"}, []string{`"soon"`, "-interval", "how often to look"}},
		"kubeconfig":          {[]string{"-kubeconfig=/nowhere"}, []string{`"/nowhere"`, "-kubeconfig", "want a file"}},
		"flag of a command":   {[]string{"-output=json"}, []string{"-output"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := libraryOperator()
			o.Flags = func(f *flag.FlagSet) { f.Duration("interval", time.Minute, "how often to look") }
			err := o.Run(t.Context(), c.args, io.Discard, io.Discard)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to name %s", err, want)
				}
			}
		})
	}
}

// TestMistakes checks that a wrong configuration of an operator is an error, not a panic.
func TestMistakes(t *testing.T) {
	t.Parallel()
	filtered := func() operator.Operator {
		o := libraryOperator()
		o.Config = &rest.Config{Host: "127.0.0.1:1"}
		o.Controllers = []*controller.Controller{controller.NewSingleton("library", library{}).
			Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabels{"a": "b"})).Build()}
		return o
	}
	for name, c := range map[string]struct {
		change func(*operator.Operator)
		want   string
	}{
		"no name":        {func(o *operator.Operator) { o.Name = "" }, "has no name"},
		"no controllers": {func(o *operator.Operator) { o.Controllers = nil }, "has no controllers"},
		"flag twice": {func(o *operator.Operator) {
			o.Flags = func(f *flag.FlagSet) { f.Bool("leader-elect", false, "") }
		}, "-leader-elect"},
		"unknown default": {func(o *operator.Operator) { o.Defaults = map[string]string{"metrics": "0"} }, "no flag -metrics"},
		"wrong default": {func(o *operator.Operator) {
			o.Defaults = map[string]string{"metrics-bind-address": "here"}
		}, `-metrics-bind-address: "here": want host:port`},
		"scheme": {func(o *operator.Operator) {
			o.AddToScheme = []func(*runtime.Scheme) error{func(*runtime.Scheme) error { return errors.New("twice") }}
		}, "twice"},
		"configure": {func(o *operator.Operator) {
			o.Configure = func(*operator.Operator, *runtime.Scheme) error { return errors.New("IMAGE is not set") }
		}, "IMAGE is not set"},
		"page": {func(o *operator.Operator) {
			o.Defaults = map[string]string{"describe": "true"}
			o.Describe = func(*dataflow.Page) error { return errors.New("no such file") }
		}, "no such file"},
		"lost filter": {func(o *operator.Operator) {
			o.Manager = func(m *manager.Options) { clear(m.Cache.ByObject) }
		}, `with the filter "a=b"`},
		"replaced cache": {func(o *operator.Operator) {
			o.Manager = func(m *manager.Options) { m.Cache.DefaultTransform = nil }
		}, "the transform of the cache"},
		"lease without a namespace": {func(o *operator.Operator) {
			o.Defaults = map[string]string{"leader-elect": "true"}
		}, `flag -leader-election-namespace ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := filtered()
			c.change(&o)
			err := o.Run(t.Context(), nil, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestManagerOptions checks that flags and declarations set the options of the manager.
func TestManagerOptions(t *testing.T) {
	t.Parallel()
	selector := labels.SelectorFromSet(labels.Set{"a": "b"})
	o := libraryOperator()
	o.Config = &rest.Config{Host: "127.0.0.1:1"}
	o.Controllers = []*controller.Controller{controller.NewSingleton("library", library{}).Reads(&corev1.Secret{}, controller.Filter(client.MatchingLabelsSelector{Selector: selector}, client.InNamespace("a"))).
		Reads(&corev1.ConfigMap{}, controller.Filter(client.InNamespace("a"))).Build()}
	var got manager.Options
	o.Manager = func(m *manager.Options) { got = *m; m.HealthProbeBindAddress = "none" } // not valid, so the run ends here
	err := o.Run(t.Context(), []string{
		"-leader-elect", "--leader-election-namespace=home", "-metrics-bind-address", "127.0.0.1:8080", "-namespaces=b,a,b",
	}, io.Discard, io.Discard)
	if err == nil {
		t.Fatal("the manager was made with a wrong address")
	}
	if !got.LeaderElection || !got.LeaderElectionReleaseOnCancel || got.LeaderElectionID != "library.example.com" || got.LeaderElectionNamespace != "home" {
		t.Errorf("leader election: %+v", got)
	}
	if got.Metrics.BindAddress != "127.0.0.1:8080" || got.HealthProbeBindAddress != ":8081" {
		t.Errorf("addresses: %q, %q", got.Metrics.BindAddress, got.HealthProbeBindAddress)
	}
	if _, a := got.Cache.DefaultNamespaces["a"]; !a || len(got.Cache.DefaultNamespaces) != 2 {
		t.Errorf("namespaces: %v", got.Cache.DefaultNamespaces)
	}
	found := cache.ByObject{}
	for object, by := range got.Cache.ByObject {
		if _, secret := object.(*corev1.Secret); secret {
			found = by
		}
	}
	if found.Label == nil || found.Label.String() != "a=b" {
		t.Errorf("the filter of Secrets is %v", found.Label)
	}
	err = o.Run(t.Context(), []string{"-namespaces=b"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `flag -namespaces "b": want namespace "a" in it`) {
		t.Errorf("a filter by a namespace that the operator does not work in: got %v", err)
	}
}

func run(t *testing.T, o operator.Operator, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := o.Run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestUsage checks that -h lists commands and flags without an error.
func TestUsage(t *testing.T) {
	t.Parallel()
	o := libraryOperator()
	o.Flags = func(f *flag.FlagSet) { f.String("shelf", "top", "where to look") }
	o.Defaults = map[string]string{"metrics-bind-address": ":9090"}
	got := run(t, o, "-h")
	for _, want := range []string{"Usage: library [command]", "describe", "-shelf", `"top"`, "(default :9090)", "-zap-log-level"} {
		if !strings.Contains(got, want) {
			t.Errorf("the usage does not have %q:\n%s", want, got)
		}
	}
	if got := run(t, o, "describe", "-help"); !strings.Contains(got, "-service-account") {
		t.Errorf("the usage of describe does not have its flags:\n%s", got)
	}
}

// TestDescribe checks that flag and command print the same page without a cluster.
func TestDescribe(t *testing.T) {
	t.Parallel()
	o := libraryOperator()
	o.Setup = func(manager.Manager) error { return errors.New("there is no manager") }
	o.Configure = func(_ *operator.Operator, scheme *runtime.Scheme) error {
		if !scheme.IsGroupRegistered("apps") {
			t.Error("the scheme is not complete")
		}
		return nil
	}
	o.Describe = func(page *dataflow.Page) error {
		page.Services = []dataflow.Service{{Name: "desk", Port: 80}}
		return nil
	}
	page, err := o.Page()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--describe"}, {"describe"}, {"-leader-elect", "-describe"}} {
		if got := run(t, o, args...); got != page.Markdown() || !strings.Contains(got, "desk") {
			t.Errorf("%v prints another page:\n%s", args, got)
		}
	}
	if got := run(t, o, "describe", "-output=json"); !strings.Contains(got, `"name": "library"`) {
		t.Errorf("no page as JSON:\n%s", got)
	}
}

// TestRightsOfNamespaces checks that an operator that is restricted to namespaces has permissions only there.
func TestRightsOfNamespaces(t *testing.T) {
	t.Parallel()
	o := libraryOperator()
	o.Controllers = []*controller.Controller{
		controller.NewSingleton("library", library{}).Owns(&corev1.ConfigMap{}).Reads(&corev1.Namespace{}).Owns(&rbacv1.ClusterRole{}).Build(),
	}
	got := run(t, o, "describe", "-output=rights", "-namespaces=one,two", "-service-account=system/librarian")
	documents := strings.Split(got, "---\n")
	find := func(parts ...string) string {
		t.Helper()
		for _, document := range documents {
			all := true
			for _, part := range parts {
				all = all && strings.Contains(document, part)
			}
			if all {
				return document
			}
		}
		t.Errorf("no document with %q in:\n%s", parts, got)
		return ""
	}
	within := find("kind: ClusterRole\n", "name: library\n", "rules:")
	beyond := find("kind: ClusterRole\n", "name: library-cluster\n", "rules:")
	find("kind: RoleBinding\n", "namespace: one\n", "name: library\n", "name: librarian\n")
	find("kind: RoleBinding\n", "namespace: two\n", "name: library\n")
	find("kind: ClusterRoleBinding\n", "name: library-cluster\n", "namespace: system\n")
	for document, resources := range map[string][]string{
		within: {"- configmaps", "- events"}, beyond: {"- namespaces", "- clusterroles"},
	} {
		for _, resource := range resources {
			if strings.Count(got, resource+"\n") != strings.Count(document, resource+"\n")+strings.Count(find("kind: Role\n"), resource+"\n") {
				t.Errorf("%s is not in one role alone:\n%s", resource, got)
			}
		}
	}
	if strings.Count(got, "kind: ClusterRoleBinding") != 1 {
		t.Errorf("more is bound in the whole cluster than need be:\n%s", got)
	}
	page, err := o.Page("-namespaces=one,two")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.Markdown(), "In the namespaces one, two") {
		t.Error("the page does not name the namespaces")
	}
	page.ClusterResources = []string{"configmaps"}
	files, err := page.Files("library", types.NamespacedName{})
	if err != nil {
		t.Fatal(err)
	}
	if _, cluster, _ := strings.Cut(files["config/rbac/role.yaml"], "library-cluster"); !strings.Contains(cluster, "- configmaps") {
		t.Errorf("a resource that is said to have no namespaces has its rights in namespaces:\n%s", files["config/rbac/role.yaml"])
	}
}

// TestScheme checks that the scheme has the kinds of the operator and those of client-go.
func TestScheme(t *testing.T) {
	t.Parallel()
	o := libraryOperator()
	o.AddToScheme = []func(*runtime.Scheme) error{widget.AddToScheme}
	scheme, err := o.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range []runtime.Object{&widget.Widget{}, &corev1.Secret{}} {
		if _, _, err := scheme.ObjectKinds(object); err != nil {
			t.Error(err)
		}
	}
	o.AddToScheme = []func(*runtime.Scheme) error{func(*runtime.Scheme) error { return errors.New("twice") }}
	if _, err := o.Scheme(); err == nil || err.Error() != "add kinds to the scheme: twice" {
		t.Errorf("got %v", err)
	}
}
