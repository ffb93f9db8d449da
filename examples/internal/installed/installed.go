// Package installed tests the manifests of an example: it applies them to an API server, and runs the operator with only these
// permissions.
package installed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/operator"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
)

// patience is the timeout for the operator.
const patience = 2 * time.Minute

// installation contains the applied objects.
type installation struct {
	client.Client
	*testing.T
	objects    []*unstructured.Unstructured
	deployment *appsv1.Deployment
}

// Run applies config/ and the CRDs of other projects to an API server of its own. It runs the operator with the account, arguments
// and environment of the Deployment until it is ready, and creates the samples of the operator's kinds in every version. Then it
// calls check, which may be nil, with a client that knows the kinds of the operator.
func Run(t *testing.T, o operator.Operator, foreign []string, check func(*testing.T, client.Client)) {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range append([]func(*runtime.Scheme) error{scheme.AddToScheme}, o.AddToScheme...) {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	env := &environment.Environment{
		CRDPaths: foreign, Scheme: known, AdmissionPlugins: []string{"OwnerReferencesPermissionEnforcement"},
	}
	env.Setup(t)
	i := &installation{Client: env.Client(), T: t, deployment: &appsv1.Deployment{}}
	i.apply()
	i.restricted()
	ports := i.ports(3) //nolint:mnd // metrics, probes, webhooks
	i.reach(ports[2])

	pod := i.deployment.Spec.Template.Spec
	config, err := env.ServiceAccountConfig(t.Context(), i.deployment.Namespace, pod.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	again := true
	o.Config = config
	o.Manager = func(options *ctrl.Options) {
		options.Controller.SkipNameValidation = &again
	}
	logs := &process.Log{}
	stop := i.run(o, append(pod.Containers[0].Args, "-metrics-bind-address="+address(ports[0]),
		"-health-probe-bind-address="+address(ports[1]),
		"-leader-election-namespace="+i.deployment.Namespace, fmt.Sprintf("-webhook-port=%d", ports[2])), logs)
	i.eventually("readiness", logs, func() error { return ready(t.Context(), address(ports[1])) })
	for _, file := range i.samples() {
		i.admit(file, logs)
	}
	if check != nil {
		check(t, env.Client())
	}
	stop()
	if strings.Contains(strings.ToLower(logs.String()), "forbidden") {
		t.Errorf("a right is missing:\n%s", logs)
	}
}

// apply applies all objects with strict validation, so that a misspelt field is an error.
func (i *installation) apply() {
	i.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "config")
	if err != nil {
		i.Fatal(err)
	}
	for _, resource := range built.Resources() {
		text, err := resource.MarshalJSON()
		object := &unstructured.Unstructured{}
		if err := errors.Join(err, object.UnmarshalJSON(text)); err != nil {
			i.Fatal(err)
		}
		if err := client.WithFieldValidation(i.Client, "Strict").Apply(i.Context(), client.ApplyConfigurationFromUnstructured(object),
			client.FieldOwner("installer"), client.ForceOwnership); err != nil {
			i.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
		i.objects = append(i.objects, object)
		if object.GetKind() == "CustomResourceDefinition" {
			i.established(object)
		}
		if object.GetKind() == "Deployment" {
			if err := i.Get(i.Context(), client.ObjectKeyFromObject(object), i.deployment); err != nil {
				i.Fatal(err)
			}
		}
	}
	if i.deployment.Name == "" || *i.deployment.Spec.Replicas != 2 {
		i.Fatalf("the installation has no Deployment of two replicas: %+v", i.deployment)
	}
}

// established waits until a CRD is served. A cluster would restart a Pod that starts before.
func (i *installation) established(crd *unstructured.Unstructured) {
	i.Helper()
	i.eventually(crd.GetName(), &process.Log{}, func() error {
		read := crd.DeepCopy()
		if err := i.Get(i.Context(), client.ObjectKeyFromObject(crd), read); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(read.Object, "status", "conditions")
		for _, condition := range conditions {
			if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" && fields["status"] == "True" {
				return nil
			}
		}
		return errors.New("the CRD is not established")
	})
}

// restricted checks a Pod of the Deployment with Pod Security.
func (i *installation) restricted() {
	i.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: i.deployment.Namespace, Name: "restricted", Labels: i.deployment.Spec.Template.Labels},
		Spec:       *i.deployment.Spec.Template.Spec.DeepCopy(),
	}
	if err := i.Create(i.Context(), pod, client.DryRunAll); err != nil {
		i.Errorf("a pod of the Deployment is rejected: %v", err)
	}
	namespace := &corev1.Namespace{}
	if err := i.Get(i.Context(), client.ObjectKey{Name: pod.Namespace}, namespace); err != nil {
		i.Fatal(err)
	}
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		i.Errorf("the namespace enforces the level %q of Pod Security, want restricted", level)
	}
}

// reach makes the API server call the webhook service on this machine, because there is no pod network.
func (i *installation) reach(port int) {
	i.Helper()
	for _, object := range i.objects {
		patch := ""
		switch object.GetKind() {
		case "Service":
			ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
			isWebhooks := func(port any) bool {
				return port.(map[string]any)["name"] == "webhooks" //nolint:errcheck,forcetypeassert // as generated
			}
			if slices.ContainsFunc(ports, isWebhooks) {
				patch = `[{"op":"replace","path":"/spec","value":{"type":"ExternalName","externalName":"localhost"}}]`
			}
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			patch = fmt.Sprintf(`[{"op":"add","path":"/webhooks/0/clientConfig/service/port","value":%d}]`, port)
		case "CustomResourceDefinition":
			if _, converted, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); converted {
				patch = fmt.Sprintf(`[{"op":"add","path":"/spec/conversion/webhook/clientConfig/service/port","value":%d}]`, port)
			}
		}
		if patch == "" {
			continue
		}
		if err := i.Patch(i.Context(), object.DeepCopy(), client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
			i.Fatalf("reach %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// run runs the operator until stop is called or the test ends.
func (i *installation) run(o operator.Operator, args []string, logs *process.Log) (stop func()) {
	i.Helper()
	for _, variable := range i.deployment.Spec.Template.Spec.Containers[0].Env {
		value := variable.Value
		if variable.ValueFrom != nil && variable.ValueFrom.ResourceFieldRef != nil {
			continue // the Go runtime has read it
		}
		if variable.ValueFrom != nil {
			value = i.deployment.Namespace // the only supported field
		}
		i.Setenv(variable.Name, value)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(i.Context()))
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, args, logs, logs) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			i.Errorf("the operator ended with %v\n%s", err, logs)
		}
	})
	i.Cleanup(stop)
	return stop
}

// samples returns the objects of config/samples whose kinds are installed.
func (i *installation) samples() (found []*unstructured.Unstructured) {
	i.Helper()
	files, err := filepath.Glob("config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		i.Fatalf("no samples found: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // a sample of the example
		if err != nil {
			i.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				i.Fatalf("%s: %v", file, err)
			}
			if i.versions(object) != nil {
				found = append(found, object)
			}
		}
	}
	if len(found) == 0 {
		i.Error("no sample is of a kind that is installed")
	}
	return found
}

// versions returns the served versions of the object's installed CRD, or none for another kind.
func (i *installation) versions(object *unstructured.Unstructured) (served []string) {
	for _, crd := range i.objects {
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		if crd.GetKind() != "CustomResourceDefinition" || object.GetKind() != kind || object.GroupVersionKind().Group != group {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		for _, version := range versions {
			fields, _ := version.(map[string]any)
			if name, ok := fields["name"].(string); ok && fields["served"] == true {
				served = append(served, name)
			}
		}
	}
	return served
}

// admit creates a sample, reads it in every version, and deletes it.
func (i *installation) admit(sample *unstructured.Unstructured, logs *process.Log) {
	i.Helper()
	if namespace := sample.GetNamespace(); namespace != "" {
		made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if err := i.Create(i.Context(), made); err != nil && !apierrors.IsAlreadyExists(err) {
			i.Fatal(err)
		}
	}
	i.eventually("admission", logs, func() error {
		return client.IgnoreAlreadyExists(client.WithFieldValidation(i.Client, "Strict").Create(i.Context(), sample.DeepCopy()))
	})
	for _, version := range i.versions(sample) {
		read := &unstructured.Unstructured{}
		read.SetGroupVersionKind(sample.GroupVersionKind().GroupKind().WithVersion(version))
		if err := i.Get(i.Context(), client.ObjectKeyFromObject(sample), read); err != nil {
			i.Errorf("read %s %s in version %s: %v", sample.GetKind(), sample.GetName(), version, err)
		}
	}
	if err := i.Delete(i.Context(), sample.DeepCopy()); client.IgnoreNotFound(err) != nil {
		i.Error(err)
	}
}

func (i *installation) eventually(what string, logs *process.Log, try func() error) {
	i.Helper()
	err := errors.New("it was not tried")
	timeout := wait.PollUntilContextTimeout(i.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		err = try()
		return err == nil, nil
	})
	if timeout != nil {
		i.Fatalf("%s: %v\n%s", what, err, logs)
	}
}

// ports returns free ports.
func (i *installation) ports(n int) (free []int) {
	i.Helper()
	for range n {
		listener, err := (&net.ListenConfig{}).Listen(i.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			i.Fatal(err)
		}
		defer listener.Close()
		free = append(free, listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of TCP
	}
	return free
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// ready calls the readiness endpoint of the operator.
func ready(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz?verbose", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		var text bytes.Buffer
		_, _ = text.ReadFrom(answer.Body)
		return errors.New(text.String())
	}
	return nil
}

// Gateway returns the CRD files of the Gateway API for the resources, such as httproutes.
func Gateway(t *testing.T, resources ...string) (files []string) {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range resources {
		files = append(
			files,
			filepath.Join(strings.TrimSpace(string(folder)), "config/crd/standard", "gateway.networking.k8s.io_"+resource+".yaml"),
		)
	}
	return files
}
