package main

import (
	"context"
	"io"
	"net"
	"strconv"
	"testing"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/rights"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// TestRights checks that in both scopes the operator uses each of its generated permissions and needs no others.
func TestRights(t *testing.T) {
	t.Parallel()
	w := newCluster(t)
	for _, scope := range []string{oneNamespace, allOfCluster} {
		t.Run(scope, func(t *testing.T) {
			p := &player{cluster: w, T: t, namespace: "rights-" + scope, mesh: newDouble(t)}
			p.useRights(scope)
		})
	}
}

// unused returns the permissions that this test does not use.
func unused() map[string]string {
	return map[string]string{"patch events.k8s.io/events": "for a repeated event, tested in the library"}
}

const noMetrics = "scaleToZero: {enabled: false}\nmetrics: {enabled: false}"

func (p *player) useRights(scope string) {
	models := p.namespace // namespace of the models
	p.create(namespaceOf(p.namespace, nil))
	if scope == allOfCluster {
		models += "-models"
		p.create(namespaceOf(models, map[string]any{"modelmesh-enabled": "true"}))
	}
	p.configure("scaleToZero: {enabled: false}")
	p.create(objectOf("v1", "Secret", p.namespace, "model-serving-etcd", map[string]any{
		"stringData": map[string]any{"etcd_connection": `{"endpoints":"http://127.0.0.1:1","root_prefix":"root"}`},
	}))
	labels := map[string]any{"control-plane": "modelmesh-controller"}
	p.create(objectOf("apps/v1", "Deployment", p.namespace, "modelmesh-controller", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "manager", "image": "manager:1"}}},
		},
	}}))
	p.mesh.Script(inState(mmesh.Loaded))
	granted := p.operatorWithRights(scope)

	// Create every kind of object: the children of a runtime with an autoscaler, the Service with its ServiceMonitor,
	// and models of both sources.
	one := runtimeOf(models, "one", "onnx")
	one["metadata"].(map[string]any)["annotations"] = map[string]any{"serving.kserve.io/autoscalerClass": "hpa"}
	p.create(one)
	p.create(predictorOf(models, "by-predictor", "onnx"))
	p.create(objectOf("serving.kserve.io/v1beta1", "InferenceService", models, "by-service", map[string]any{
		"spec": map[string]any{"predictor": map[string]any{"onnx": map[string]any{"storageUri": "s3://b/p"}}},
	}))
	p.there(
		"v1|ConfigMap|"+models+"|tc-config", "autoscaling/v2|HorizontalPodAutoscaler|"+models+"|modelmesh-serving-one",
		"monitoring.coreos.com/v1|ServiceMonitor|"+models+"|modelmesh-metrics-monitor",
	)
	p.expect(expectation{Fields: []field{
		{Ref: "serving.kserve.io/v1alpha1|Predictor|" + models + "|by-predictor", Path: "status/activeModelState", Equals: "Loaded"},
		{
			Ref:  "serving.kserve.io/v1beta1|InferenceService|" + models + "|by-service",
			Path: "status/modelStatus/states/activeModelState", Equals: "Loaded",
		},
	}})
	p.refuse(granted, scope, models)

	// Remove all of them, one after the other.
	p.configure(noMetrics)
	p.gone("monitoring.coreos.com/v1|ServiceMonitor|" + models + "|modelmesh-metrics-monitor")
	p.merge(
		"serving.kserve.io/v1alpha1|ServingRuntime|"+models+"|one",
		`{"metadata":{"annotations":{"serving.kserve.io/autoscalerClass":null}}}`,
	)
	p.gone("autoscaling/v2|HorizontalPodAutoscaler|" + models + "|modelmesh-serving-one")
	p.merge("serving.kserve.io/v1alpha1|ServingRuntime|"+models+"|one", `{"spec":{"disabled":true}}`)
	p.gone("apps/v1|Deployment|" + models + "|modelmesh-serving-one")
	p.configure(noMetrics + "\ninferenceServiceName: other")
	p.gone("v1|Service|" + models + "|modelmesh-serving")
	for _, name := range []string{"one", "two"} {
		p.must(client.IgnoreNotFound(p.Delete(p.Context(), p.object("serving.kserve.io/v1alpha1|ServingRuntime|"+models+"|"+name))))
	}
	if scope == allOfCluster {
		p.must(p.Delete(p.Context(), p.object("serving.kserve.io/v1alpha1|ClusterServingRuntime||three")))
		p.merge("v1|Namespace||"+models, `{"metadata":{"labels":{"modelmesh-enabled":"false"}}}`)
		p.gone("v1|Secret|" + models + "|model-serving-etcd")
	}
	p.gone("v1|ConfigMap|" + models + "|tc-config")
	granted.Check(p, unused())
}

// refuse tests permissions that no request shows: those to refer to an owner that is deleted only after its children.
func (p *player) refuse(granted *environment.Rights, scope, models string) {
	p.Helper()
	monitor, service := "monitoring.coreos.com/v1|ServiceMonitor|"+models+"|modelmesh-metrics-monitor", "v1|Service|"+models+"|modelmesh-serving"
	pods := 2
	without := func(right, then string, do func()) {
		p.Helper()
		granted.Without(p, right, do)
		pods++
		p.configure("scaleToZero: {enabled: false}\npodsPerRuntime: " + strconv.Itoa(pods)) // retries the refused request
		p.there(then)
	}
	owner := map[string]string{oneNamespace: "update apps/deployments/finalizers", allOfCluster: "update namespaces/finalizers"}[scope]
	without("update services/finalizers", monitor, func() { p.must(p.Delete(p.Context(), p.object(monitor))) })
	without(owner, service, func() { p.must(p.Delete(p.Context(), p.object(service))) })
	without("update serving.kserve.io/servingruntimes/finalizers", "apps/v1|Deployment|"+models+"|modelmesh-serving-two", func() {
		p.create(runtimeOf(models, "two", "two"))
	})
	if scope == allOfCluster {
		without("update serving.kserve.io/clusterservingruntimes/finalizers", "apps/v1|Deployment|"+models+"|modelmesh-serving-three", func() {
			three := runtimeOf("", "three", "three")
			three["kind"] = "ClusterServingRuntime"
			p.create(three)
		})
	}
}

// operatorWithRights runs the operator in this process until the test ends, with its permissions. The first write of
// each kind is refused.
func (p *player) operatorWithRights(scope string) *environment.Rights {
	p.Helper()
	variables := lookup(map[string]string{"NAMESPACE": p.namespace, "NAMESPACE_SCOPE": strconv.FormatBool(scope == oneNamespace)})
	page, err := modelmesh(variables).Page()
	p.must(err)
	granted := p.env.Rights(p, page.Rules())
	var sent requests.Requests
	sent.Inject(rights.RefusedOnce())
	o := modelmesh(variables)
	o.Config = sent.Observe(granted.Config())
	o.Manager = func(options *manager.Options) { options.Controller.SkipNameValidation = new(true) } // two operators in one process
	_, port, err := net.SplitHostPort(environment.FreeAddress(p))
	p.must(err)
	p.log = &process.Log{} // without metrics, which two operators of a process would share
	ctx, stop := context.WithCancel(context.WithoutCancel(p.Context()))
	ended := make(chan error, 1)
	go func() {
		ended <- o.Run(ctx, []string{
			"--leader-elect", "--leader-election-namespace", p.namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0",
			"--webhook-port", port, "--webhook-cert-dir", p.folder,
		}, io.Discard, p.log)
	}()
	p.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			p.Errorf("the operator returned %v", err)
		}
		if p.Failed() {
			p.Log(p.log.Tail())
		}
	})
	return granted
}

// there waits until the objects exist.
func (p *player) there(refs ...string) {
	p.Helper()
	for _, ref := range refs {
		p.eventually(func() error {
			o := p.object(ref)
			return p.Get(p.Context(), client.ObjectKeyFromObject(o), o)
		})
	}
}

// gone waits until an object does not exist.
func (p *player) gone(ref string) {
	p.Helper()
	p.expect(expectation{Absent: []string{ref}})
}

func (p *player) merge(ref, body string) {
	p.Helper()
	p.must(p.Patch(p.Context(), p.object(ref), client.RawPatch("application/merge-patch+json", []byte(body))))
}
