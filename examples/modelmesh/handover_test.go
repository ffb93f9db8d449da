package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestLeaderChange checks that a leader change during a grace period neither restarts nor ends the period. The leader is
// killed or stops in an orderly way.
func TestLeaderChange(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the operator, and waits for a lease")
	}
	t.Parallel()
	w := newCluster(t)
	for name, end := range map[string]struct {
		signal syscall.Signal
		after  time.Duration
	}{
		"killed":  {syscall.SIGKILL, grace / 6}, // its lease lasts for 15 s more
		"stopped": {syscall.SIGTERM, grace / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			(&player{cluster: w, T: t, namespace: name}).changeLeader(end.signal, end.after)
		})
	}
}

// grace is longer than a lease, so that the next leader starts within it even if the previous one was killed.
const grace = 30 * time.Second

func (p *player) changeLeader(signal syscall.Signal, after time.Duration) {
	p.mesh = newDouble(p.T)
	p.create(namespaceOf(p.namespace, nil))
	p.configure(fmt.Sprintf("scaleToZero: {enabled: true, gracePeriodSeconds: %d}\npodsPerRuntime: 2", int(grace.Seconds())))
	leader := p.candidate()
	first := p.holder("")
	p.candidate()
	p.create(runtimeOf(p.namespace, "idle", "onnx"))
	p.create(predictorOf(p.namespace, "one", "onnx"))
	p.replicas(2)
	p.must(p.Delete(p.Context(), &unstructured.Unstructured{Object: predictorOf(p.namespace, "one", "onnx")}))
	since, due := p.idle()

	time.Sleep(after)
	leader.end(p.T, signal)
	p.holder(first)
	restarted := time.Now().Add(grace) // the end of a grace period that restarted with the second leader
	late := due.Add(restarted.Sub(due) / 2)
	for zero := false; !zero; time.Sleep(50 * time.Millisecond) {
		deployment := p.deployment()
		zero = *deployment.Spec.Replicas == 0
		now := time.Now()
		switch stored := deployment.Annotations["reconcilekit.dev/idle-since"]; {
		case stored != since:
			p.Fatalf("no model uses the runtime since %q, and it was %s before the leader changed", stored, since)
		case zero && now.Before(due):
			p.Fatalf("scaled to zero at %s, want not before %s", now, due)
		case !zero && now.After(late):
			p.Fatalf("not scaled to zero at %s, want it at %s; a restarted wait would end at %s", now, due, restarted)
		}
	}
}

// candidate starts an operator that works once it has the lease. It returns when the operator has requested the lease.
func (p *player) candidate() *running {
	p.Helper()
	r := p.start(
		p.T, map[string]string{"NAMESPACE": p.namespace, "NAMESPACE_SCOPE": "true"}, "--leader-elect",
		"--leader-election-namespace", p.namespace,
	)
	p.eventually(func() error {
		if !strings.Contains(r.log.String(), "Attempting to acquire leader lease") {
			return fmt.Errorf("the operator does not request the lease")
		}
		return nil
	})
	return r
}

// holder waits until the holder of the lease has changed.
func (p *player) holder(before string) (now string) {
	p.Helper()
	p.eventually(func() error {
		lease := &coordinationv1.Lease{}
		err := p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: "modelmesh-controller-leader-lock"}, lease)
		if err != nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || *lease.Spec.HolderIdentity == before {
			return fmt.Errorf("no process other than %q has the lease: %w", before, err)
		}
		now = *lease.Spec.HolderIdentity
		return nil
	})
	return now
}

// idle waits until no model uses the runtime. It returns the stored start of the grace period and the time when the
// runtime is scaled to zero.
func (p *player) idle() (since string, due time.Time) {
	p.Helper()
	p.eventually(func() error {
		since = p.deployment().Annotations["reconcilekit.dev/idle-since"]
		at, err := time.Parse(time.RFC3339, since)
		due = at.Add(grace)
		return err
	})
	return since, due
}

// replicas waits until the Deployment of the runtime has the number of replicas.
func (p *player) replicas(want int32) {
	p.Helper()
	p.eventually(func() error {
		deployment := &appsv1.Deployment{}
		err := p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: "modelmesh-serving-idle"}, deployment)
		if err == nil && *deployment.Spec.Replicas != want {
			return fmt.Errorf("%d replicas, want %d", *deployment.Spec.Replicas, want)
		}
		return err
	})
}

func (p *player) deployment() *appsv1.Deployment {
	p.Helper()
	deployment := &appsv1.Deployment{}
	p.must(p.Get(p.Context(), client.ObjectKey{Namespace: p.namespace, Name: "modelmesh-serving-idle"}, deployment))
	return deployment
}

// runtimeOf returns a ServingRuntime for a model format.
func runtimeOf(namespace, name, format string) map[string]any {
	return objectOf("serving.kserve.io/v1alpha1", "ServingRuntime", namespace, name, map[string]any{"spec": map[string]any{
		"multiModel": true, "grpcEndpoint": "port:8085", "grpcDataEndpoint": "port:8001",
		"supportedModelFormats": []any{map[string]any{"name": format, "autoSelect": true}},
		"containers":            []any{map[string]any{"name": "server", "image": "server:1"}},
	}})
}

func predictorOf(namespace, name, format string) map[string]any {
	return objectOf("serving.kserve.io/v1alpha1", "Predictor", namespace, name, map[string]any{
		"spec": map[string]any{"modelType": map[string]any{"name": format}},
	})
}
