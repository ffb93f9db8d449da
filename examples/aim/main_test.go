package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/reconcilekit/reconcilekit/reconcile/install"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/lint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/standin/ready"
)

var (
	scheme = runtime.NewScheme()
	env    = &environment.Environment{
		CRDPaths: []string{"config/kserve"}, Scheme: scheme,
		Audit: true, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}
)

func TestMain(m *testing.M) {
	if err := aimservice.AddToScheme(scheme); err != nil {
		panic(err)
	}
	gateway, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		panic(err)
	}
	env.CRDPaths = append(
		env.CRDPaths,
		filepath.Join(strings.TrimSpace(string(gateway)), "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"),
	)
	ctrl.SetLogger(logr.Discard())
	os.Exit(env.Main(m))
}

// TestGenerated compares the page, the permissions and the installation with the declaration of the controller.
func TestGenerated(t *testing.T) {
	t.Parallel()
	page, err := aim().Page()
	if err != nil {
		t.Fatal(err)
	}
	files, err := install.Files(page, install.Config{CRDs: os.DirFS("config/crd")})
	if err != nil {
		t.Fatal(err)
	}
	lint.Generated(t, files)
}

// TestDescribe checks that the page can be printed without a cluster and without environment variables.
func TestDescribe(t *testing.T) {
	t.Parallel()
	operator := exec.CommandContext(t.Context(), build(t), "--describe")
	operator.Env = []string{}
	printed, err := operator.Output()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/dataflow.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(page), string(printed)); diff != "" {
		t.Errorf("the printed page differs from docs/dataflow.md (-file +printed):\n%s", diff)
	}
}

// TestWatches checks that the table of watches has every kind that the product's operator watches for an AIMService,
// with the line of its declaration.
func TestWatches(t *testing.T) {
	t.Parallel()
	page, err := aim().Page()
	if err != nil {
		t.Fatal(err)
	}
	for _, watch := range page.Controllers[0].Watches {
		if !strings.HasPrefix(watch.Source, "aim/aimservice/controller.go:") {
			t.Errorf("%s is declared at %q, want a line of aim/aimservice/controller.go", watch.GVK, watch.Source)
		}
	}
	lint.Watched(t, page, "testdata/watches.txt", map[string]string{
		"Owns /v1/PersistentVolumeClaim": "the product watches claims that a service owns, but no service owns one, and no phase reads one",
	})
}

// build compiles the operator.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "aim")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// TestManifests applies the files of config/kustomization.yaml and runs the operator as a separate process with the
// service account of its Deployment.
func TestManifests(t *testing.T) {
	env.Require(t)
	c := env.Client()
	applyAll(t, c, manifests(t)...)

	config, err := env.ServiceAccountConfig(t.Context(), "aim-system", "aim")
	if err != nil {
		t.Fatal(err)
	}
	operator, log := start(t, build(t), config, "--leader-elect", "--leader-election-namespace=aim-system")
	applyAll(t, c, "config/samples/demo.yaml")
	service := runs(t, c)
	goes(t, c, service) // uses the permissions for deletion
	if err := operator.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := operator.Wait(); err != nil {
		t.Errorf("the operator returned %v:\n%s", err, log.String())
	}
	if strings.Contains(strings.ToLower(log.String()), "forbidden") {
		t.Errorf("missing permission:\n%s", log.String())
	}
}

// start runs the operator as a separate process with the user of the config.
func start(t *testing.T, binary string, config *rest.Config, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	kubeconfig, err := environment.Kubeconfig(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	operator := exec.CommandContext(t.Context(), binary, append([]string{"--kubeconfig", file, "--health-probe-bind-address=0"}, args...)...)
	operator.Stdout, operator.Stderr = log, log
	if err := operator.Start(); err != nil {
		t.Fatal(err)
	}
	return operator, log
}

// runs sets the status of the other controllers' objects until the service of the sample is Running.
func runs(t *testing.T, c client.Client) *aimv1alpha1.AIMService {
	t.Helper()
	service := &aimv1alpha1.AIMService{}
	eventually(t, func() error {
		if err := ready.Everything(t.Context(), c); err != nil {
			return err
		}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "qwen-chat"}, service); err != nil {
			return err
		}
		if service.Status.Status != "Running" {
			raw, _ := yaml.Marshal(service.Status)
			return errors.New("not running yet:\n" + string(raw))
		}
		return nil
	})
	return service
}

// goes deletes a service and waits until it does not exist.
func goes(t *testing.T, c client.Client, service *aimv1alpha1.AIMService) {
	t.Helper()
	if err := c.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	gone(t, c, service)
}

// gone waits until an object does not exist.
func gone(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	eventually(t, func() error {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			return fmt.Errorf("%T %s still exists", object, object.GetName())
		}
		return client.IgnoreNotFound(err)
	})
}

// manifests lists the files of the kustomization.
func manifests(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("config/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct{ Resources []string }
	if err := yaml.UnmarshalStrict(raw, &struct {
		APIVersion, Kind string
		Resources        *[]string
	}{Resources: &kustomization.Resources}); err != nil {
		t.Fatal(err)
	}
	files := make([]string, 0, len(kustomization.Resources))
	for _, resource := range kustomization.Resources {
		files = append(files, filepath.Join("config", resource))
	}
	return files
}

// applyAll creates the objects of files. It retries a kind until its new CRD is served.
func applyAll(t *testing.T, c client.Client, files ...string) {
	t.Helper()
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
		for {
			document, err := documents.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(document, &object.Object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			eventually(t, func() error {
				err := c.Create(t.Context(), object.DeepCopy())
				if apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			})
		}
	}
}

// eventually retries for up to two minutes until try returns nil.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
