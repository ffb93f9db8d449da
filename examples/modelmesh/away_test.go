package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/store"
)

// TestAway checks that during an outage of ModelMesh and etcd no state is lost, no status is wrong, and the log has at
// most one line for each failed attempt. The outage lasts 20 s, or 70 s with RECONCILETEST_CASES=all.
func TestAway(t *testing.T) {
	if testing.Short() {
		t.Skip("stops etcd")
	}
	t.Parallel()
	outage := 20 * time.Second
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		outage = 70 * time.Second
	}
	p := &player{cluster: newCluster(t), T: t, namespace: "away"}
	etcd := store.New(t)
	p.mesh = newDouble(t)
	running := p.served(etcd.URL)
	before, served := p.facts(), p.mesh.VModels()
	from, at := len(running.log.String()), time.Now()
	p.mesh.stop()
	back := hangUp(t, p.mesh.address)
	etcd.Stop()

	p.create(predictorOf(p.namespace, "new", "onnx"))
	p.must(p.Delete(p.Context(), &unstructured.Unstructured{Object: predictorOf(p.namespace, "gone", "onnx")}))
	for time.Since(at) < outage {
		p.nudge()
		time.Sleep(outage / 10) //nolint:mnd // nudges the owners ten times during the outage
	}
	if diff := cmp.Diff(before, p.facts()); diff != "" {
		t.Errorf("objects changed while ModelMesh and etcd were unavailable (-before +after):\n%s", diff)
	}
	quiet(t, running.log.String()[from:], time.Since(at))
	select {
	case err := <-running.ended:
		t.Fatalf("the operator exited: %v", err)
	default:
	}
	if diff := cmp.Diff(served, p.mesh.VModels()); diff != "" {
		t.Errorf("the vmodels changed while ModelMesh was unavailable (-before +after):\n%s", diff)
	}

	back()
	p.mesh.serve(t)
	etcd.Start()
	delete(served, "gone")
	served["new"] = "ksp"
	p.within(3*time.Minute, func() error { // the next retry may be a minute away
		if diff := cmp.Diff(served, p.mesh.VModels()); diff != "" {
			return fmt.Errorf("the vmodels (-want +got):\n%s", diff)
		}
		return nil
	})
	p.available("new")
	p.mesh.Script(inState(mmesh.LoadingFailed))
	etcd.Put("root/mm/modelmesh-serving/vmodels/one", `{"o":"ksp"}`) // the server listens again
	p.expect(expectation{Exist: []map[string]any{objectOf("serving.kserve.io/v1alpha1", "Predictor", p.namespace, "one", map[string]any{
		"status": map[string]any{"activeModelState": "FailedToLoad"},
	})}})
}

// hangUp closes each connection to the address at once, until it is stopped. A server listens, so ModelMesh counts as
// having instances.
func hangUp(t *testing.T, address string) (stop func()) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	stop = sync.OnceFunc(func() {
		_ = listener.Close()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

// served starts an operator that has loaded the models of some Predictors and watches etcd.
func (p *player) served(etcd string) *running {
	p.Helper()
	p.create(namespaceOf(p.namespace, nil))
	p.configure("scaleToZero: {enabled: true, gracePeriodSeconds: 1}")
	p.create(objectOf("v1", "Secret", p.namespace, "model-serving-etcd", map[string]any{
		"stringData": map[string]any{"etcd_connection": `{"endpoints":"` + etcd + `","root_prefix":"root"}`},
	}))
	p.create(runtimeOf(p.namespace, "idle", "onnx"))
	p.mesh.Script(inState(mmesh.Loaded))
	for _, name := range []string{"one", "two", "three", "gone"} {
		p.create(predictorOf(p.namespace, name, "onnx"))
		if name != "gone" {
			p.given = append(p.given, predictorOf(p.namespace, name, "onnx"))
		}
	}
	r := p.start(p.T, map[string]string{"NAMESPACE": p.namespace}, "--leader-elect=false")
	p.follow(r)
	for _, name := range []string{"one", "two", "three", "gone"} {
		p.available(name)
	}
	p.replicas(2)
	time.Sleep(2 * time.Second) // wait for the last poll
	return r
}

// available waits until the model of a Predictor is loaded.
func (p *player) available(name string) {
	p.Helper()
	want := predictorOf(p.namespace, name, "onnx")
	want["status"] = map[string]any{"available": true, "activeModelState": "Loaded"}
	p.expect(expectation{Exist: []map[string]any{want}})
}

// facts returns the statuses of the Predictors, which an outage must not change, and the Deployment of their runtime.
func (p *player) facts() map[string]any {
	p.Helper()
	deployment := p.deployment()
	out := map[string]any{"Deployment": []any{deployment.UID, deployment.Generation, *deployment.Spec.Replicas}}
	for _, name := range []string{"one", "two", "three", "gone"} {
		got, err := p.get(&unstructured.Unstructured{Object: predictorOf(p.namespace, name, "onnx")})
		p.must(err)
		out[name] = got["status"]
	}
	return out
}

// quiet fails the test if the operator logs too often during an outage of ModelMesh and etcd.
func quiet(t *testing.T, log string, outage time.Duration) {
	t.Helper()
	const failures, workers = 5, 4 // failures that open the circuit, and calls that may be in flight then
	most := map[string]int{
		"ModelMesh": failures + workers + steps(time.Second, outage),
		"etcd":      1 + steps(3*time.Second, outage),
	}
	got, known := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(log) {
		var logged struct{ Level, Msg, Controller, Name, Condition, Reason, Error string }
		if err := json.Unmarshal([]byte(line), &logged); err != nil {
			t.Errorf("not in the log: %s", line)
			continue
		}
		switch {
		case logged.Condition != "" || strings.HasPrefix(logged.Msg, "the stream of events"): // once per outage
			if text := fmt.Sprint(logged.Controller, logged.Name, logged.Msg, logged.Condition, logged.Reason); known[text] {
				t.Errorf("logged before: %s", line)
			} else {
				known[text] = true
			}
		case strings.HasPrefix(logged.Msg, "cannot read etcd"):
			got["etcd"]++
		case logged.Level == "error":
			got["ModelMesh"]++
			if !strings.Contains(logged.Error, "ModelMeshUnavailable") || strings.Contains(logged.Error, "not sent") {
				t.Errorf("no call of ModelMesh failed with: %s", line)
			}
		}
	}
	for system, count := range got {
		if count > most[system] {
			t.Errorf("%d log lines report that %s is unavailable in %s, want at most %d", count, system, outage, most[system])
		}
		t.Logf("%d log lines report that %s is unavailable in %s", count, system, outage)
	}
	if got["ModelMesh"] == 0 { // the client of etcd retries without logging
		t.Error("no log line reports that ModelMesh is unavailable")
	}
}

// steps returns the number of attempts within a time, with a backoff that starts at pause and doubles up to a minute.
func steps(pause, within time.Duration) (count int) {
	for at := pause; at <= within; at += pause {
		count++
		pause = min(2*pause, time.Minute)
	}
	return count
}
