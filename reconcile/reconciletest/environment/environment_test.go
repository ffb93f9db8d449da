package environment_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
)

// without unsets the variables that name a control plane, and sets whether this is CI.
func without(t *testing.T, ci string) {
	t.Helper()
	for name, value := range map[string]string{"KUBEBUILDER_ASSETS": "", environment.EnvKubeconfig: "", "CI": ci} {
		t.Setenv(name, value)
	}
}

// TestStartErrors checks that the error for missing or wrong settings names the setting that is needed.
func TestStartErrors(t *testing.T) { //nolint:paralleltest // sets the environment
	half := t.TempDir()
	if err := os.WriteFile(filepath.Join(half, "etcd"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(half, "kubeconfig")
	if err := os.WriteFile(broken, []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		variable, value, want string
		none                  bool
	}{
		"nothing":             {want: "set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver", none: true},
		"no such folder":      {variable: "KUBEBUILDER_ASSETS", value: "/nonexistent", want: "find etcd in KUBEBUILDER_ASSETS=/nonexistent: "},
		"only etcd":           {variable: "KUBEBUILDER_ASSETS", value: half, want: "find kube-apiserver in KUBEBUILDER_ASSETS=" + half},
		"no such kubeconfig":  {variable: environment.EnvKubeconfig, value: "/nonexistent", want: "load the kubeconfig that RECONCILETEST_KUBECONFIG names: "},
		"a broken kubeconfig": {variable: environment.EnvKubeconfig, value: broken, want: "load the kubeconfig that RECONCILETEST_KUBECONFIG names: "},
	} {
		without(t, "")
		if c.variable != "" {
			t.Setenv(c.variable, c.value)
		}
		env := &environment.Environment{}
		err := env.Start()
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, environment.ErrNoControlPlane) != c.none {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if env.Client() != nil || env.Config() != nil {
			t.Errorf("%s: an environment has a client before its start", name)
		}
		if err := env.Stop(); err != nil {
			t.Errorf("%s: stop: %v", name, err)
		}
	}
}

// witness is a testing.TB that records skips and failures.
type witness struct {
	testing.TB

	skipped, failed string
}

type ended struct{}

func (*witness) Helper() {}

func (w *witness) Skip(args ...any) {
	w.skipped = fmt.Sprint(args...)
	panic(ended{})
}

func (w *witness) Fatal(args ...any) {
	w.failed = fmt.Sprint(args...)
	panic(ended{})
}

// observe runs a function that can end the test early.
func observe(t *testing.T, do func(t testing.TB)) (w *witness) {
	t.Helper()
	w = &witness{TB: t}
	defer func() {
		if r := recover(); r != nil && r != (ended{}) {
			panic(r)
		}
	}()
	do(w)
	return w
}

// TestWithoutControlPlane checks that tests without a control plane are skipped, except in CI, where they fail.
func TestWithoutControlPlane(t *testing.T) { //nolint:paralleltest // sets the environment
	env := &environment.Environment{}
	for ci, skipped := range map[string]bool{"": true, "false": true, "true": false} {
		without(t, ci)
		w := observe(t, env.Setup)
		message := w.skipped
		if !skipped {
			message = w.failed
		}
		if !strings.Contains(message, "no control plane") || (w.skipped != "") != skipped {
			t.Errorf("CI=%q: skipped for %q, failed with %q", ci, w.skipped, w.failed)
		}
	}
}

// TestNotRunning checks that each method of an environment that does not run returns an error.
func TestNotRunning(t *testing.T) {
	t.Parallel()
	env := &environment.Environment{}
	if _, err := env.AuditLog(); !errors.Is(err, environment.ErrNoAuditLog) || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("audit log: %v", err)
	}
	if _, err := env.ServiceAccountConfig(t.Context(), "default", "operator"); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("token: %v", err)
	}
	w := observe(t, env.Require)
	if !strings.Contains(w.failed, "call Main from TestMain") || w.skipped != "" {
		t.Errorf("failed with %q, skipped for %q", w.failed, w.skipped)
	}
}

// TestKubeconfig checks that the written kubeconfig contains the same settings as the configuration.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"ca", "cert", "key"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, config := range map[string]*rest.Config{
		"a token":        {Host: "https://127.0.0.1:6443", BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}},
		"a certificate":  {Host: "https://127.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca"), CertData: []byte("cert"), KeyData: []byte("key")}},
		"files":          {Host: "https://127.0.0.1:6443", TLSClientConfig: rest.TLSClientConfig{CAFile: folder + "/ca", CertFile: folder + "/cert", KeyFile: folder + "/key"}},
		"no certificate": {Host: "https://127.0.0.1:8080", TLSClientConfig: rest.TLSClientConfig{Insecure: true}},
	} {
		data, err := environment.Kubeconfig(config)
		if err != nil {
			t.Fatal(err)
		}
		got, err := clientcmd.RESTConfigFromKubeConfig(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Host != config.Host || got.BearerToken != config.BearerToken {
			t.Errorf("%s: %s with %q, want %s with %q", name, got.Host, got.BearerToken, config.Host, config.BearerToken)
		}
		if diff := cmp.Diff(config.TLSClientConfig, got.TLSClientConfig); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNamespacePrefix checks that the prefix is the end of the test's name, converted to a valid name.
func TestNamespacePrefix(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"TestShop":                        "testshop-",
		"TestShop/with a_blank":           "testshop-with-a-blank-",
		"TestShop/ends_with_a_sign!":      "testshop-ends-with-a-sign-",
		"":                                "test-",
		"!!":                              "test-",
		"Test/" + strings.Repeat("x", 45): strings.Repeat("x", 40) + "-",
		"Test/" + strings.Repeat("1", 45): "test-" + strings.Repeat("1", 40) + "-",
		"TestÜber/größe":                  "test-ber-gr--e-",
	} {
		got := environment.NamespacePrefix(test)
		if got != want {
			t.Errorf("%q: %q, want %q", test, got, want)
		}
		if problems := validation.IsDNS1123Label(got + "abcde"); len(problems) > 0 {
			t.Errorf("%q is no prefix of a name: %v", got, problems)
		}
	}
}
