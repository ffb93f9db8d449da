package environment

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// installedTimeout is the timeout for a sample to become ready.
const installedTimeout = 2 * time.Minute

// Installed applies the resources in folder/kustomization.yaml, runs the operator with the service account, the arguments and the
// environment of their Deployment, and waits until every object of folder/samples/*.yaml is Ready. With -v it prints their status.
//
// No other controller runs. If a sample needs a ready Deployment, call a stand-in such as reconciletest.DeploymentsAvailable repeatedly
// with the client of the environment while Run runs.
//
// The operator runs until the test ends: Installed returns while it runs, so that the rest of the test can change samples. The context of
// run ends after the cleanup functions that the test registers later.
//
// The API server calls the operator's webhooks on this machine. Additional arguments at the end set the other ports and the namespace of
// the lease. run runs the operator until ctx ends; with package operator:
//
//	env.Installed(t, "config", func(ctx context.Context, config *rest.Config, args []string) error {
//		o := program()
//		o.Config = config
//		return o.Run(ctx, args, io.Discard, io.Discard)
//	})
func (e *Environment) Installed(t testing.TB, folder string, run func(ctx context.Context, config *rest.Config, args []string) error) {
	t.Helper()
	e.Require(t)

	c := e.Client()
	objects := install(t, c, folder)
	deployment := deploymentOf(t, c, objects)
	pod := deployment.Spec.Template.Spec

	config, err := e.ServiceAccountConfig(t.Context(), deployment.Namespace, pod.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}

	for _, variable := range pod.Containers[0].Env {
		value := variable.Value
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil && variable.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			value = deployment.Namespace
		}

		t.Setenv(variable.Name, value)
	}

	args := append(pod.Containers[0].Args, "-metrics-bind-address="+FreeAddress(t), //nolint:gocritic // a copy
		"-health-probe-bind-address=0", "-leader-election-namespace="+deployment.Namespace,
		fmt.Sprintf("-webhook-port=%d", redirect(t, c, objects)))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))

	var running sync.WaitGroup

	running.Go(func() {
		if err := run(ctx, config, args); err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })

	files, err := filepath.Glob(filepath.Join(folder, "samples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no samples in %s: %v", folder, err)
	}

	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for _, sample := range decodeAll(t, file, text) {
			waitForSample(t, c, sample)
		}
	}
}

func deploymentOf(t testing.TB, c client.Client, objects []*unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()

	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}

		deployment := &appsv1.Deployment{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), deployment); err != nil {
			t.Fatal(err)
		}

		return deployment
	}

	t.Fatal("the installation has no Deployment")

	return nil
}

// redirect makes the API server call the webhook service at a port of this machine, and returns the port.
func redirect(t testing.TB, c client.Client, objects []*unstructured.Unstructured) int {
	t.Helper()

	_, text, err := net.SplitHostPort(FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}

	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}

	services := map[types.NamespacedName]bool{}
	patch := func(object client.Object, operations string) {
		if err := c.Patch(t.Context(), object, client.RawPatch(types.JSONPatchType, []byte(operations))); err != nil {
			t.Fatalf("redirect %T %s: %v", object, object.GetName(), err)
		}
	}

	for _, object := range objects {
		for pointer, config := range clientConfigs(object) {
			namespace, _, _ := unstructured.NestedString(config, "service", "namespace")
			name, _, _ := unstructured.NestedString(config, "service", "name")
			services[types.NamespacedName{Namespace: namespace, Name: name}] = true

			patch(object.DeepCopy(), fmt.Sprintf(`[{"op":"add","path":"%s/service/port","value":%d}]`, pointer, port))
		}
	}

	for service := range services {
		patch(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name}}, `[{"op":"replace","path":"/spec","value":{"type":"ExternalName","externalName":"localhost"}}]`)
	}

	return port
}

// clientConfigs returns the client configurations of webhooks in the object, by their JSON pointers.
func clientConfigs(object *unstructured.Unstructured) map[string]map[string]any {
	found := map[string]map[string]any{}

	switch {
	case strings.HasSuffix(object.GetKind(), "WebhookConfiguration"):
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for i, item := range webhooks {
			webhook, _ := item.(map[string]any)
			if config, ok := webhook["clientConfig"].(map[string]any); ok {
				found[fmt.Sprintf("/webhooks/%d/clientConfig", i)] = config
			}
		}
	case object.GetKind() == "CustomResourceDefinition":
		if config, ok, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
			found["/spec/conversion/webhook/clientConfig"] = config
		}
	}

	return found
}

// waitForSample creates the sample when it is admitted, and waits until it is ready.
func waitForSample(t testing.TB, c client.Client, sample *unstructured.Unstructured) {
	t.Helper()

	for deadline := time.Now().Add(installedTimeout); ; time.Sleep(100 * time.Millisecond) {
		err := c.Create(t.Context(), sample)
		if err == nil {
			break
		}

		if time.Now().After(deadline) {
			t.Fatalf("create %s %s: %v", sample.GetKind(), sample.GetName(), err)
		}
	}

	waitFor(t, c, sample, "Ready")
	t.Logf("%s %s is ready:\n%s", sample.GetKind(), sample.GetName(), statusText(sample))
}

// waitFor reads the object until the condition is True.
func waitFor(t testing.TB, c client.Client, object *unstructured.Unstructured, condition string) {
	t.Helper()

	for deadline := time.Now().Add(installedTimeout); ; time.Sleep(100 * time.Millisecond) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil && isTrue(object, condition) {
			return
		}

		if time.Now().After(deadline) {
			t.Fatalf("%s\n%s", notIn(object, condition, err), statusText(object))
		}
	}
}

// notIn returns an error about a missing condition that lists likely causes.
func notIn(object *unstructured.Unstructured, condition string, err error) string {
	text := fmt.Sprintf("%s %s has no condition %s that is True, after %s", object.GetKind(), object.GetName(), condition, installedTimeout)
	if err != nil {
		return fmt.Sprintf("%s: %v", text, err)
	}

	if _, reconciled := object.Object["status"]; !reconciled {
		return text + ", and no status at all: no controller has reconciled it. Does the operator watch its namespace, and does the sample " +
			"match what the controller selects with Builder.Owners?"
	}

	return text + "; pods and other controllers do not run here: if it waits for one, the test must write the status of that object " +
		"like a stand-in"
}

func statusText(object *unstructured.Unstructured) string {
	text, err := yaml.Marshal(object.Object["status"])
	if err != nil {
		return err.Error()
	}

	return string(text)
}

func isTrue(object *unstructured.Unstructured, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		if fields, ok := item.(map[string]any); ok && fields["type"] == condition && fields["status"] == "True" {
			return true
		}
	}

	return false
}
