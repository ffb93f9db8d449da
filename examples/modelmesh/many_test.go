package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
)

// load is the number of objects, and how long the test observes them in steady state.
type load struct {
	namespaces, runtimes, predictors int // runtimes and Predictors of each namespace
	rest                             time.Duration
}

// TestMany checks that many runtimes and Predictors become ready, that the operator sends nothing in steady state, and
// that a change of one Predictor causes writes to it alone. RECONCILETEST_CASES=all runs 200 runtimes and 2,000
// Predictors in 20 namespaces.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("creates many objects")
	}
	t.Parallel()
	l := load{namespaces: 2, runtimes: 3, predictors: 15, rest: 5 * time.Second}
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		l = load{namespaces: 20, runtimes: 10, predictors: 100, rest: time.Minute}
	}
	p := &player{cluster: newCluster(t), T: t, namespace: "many"}
	p.mesh = newDouble(t)
	p.mesh.Script(inState(mmesh.Loaded))
	p.create(namespaceOf(p.namespace, map[string]any{"modelmesh-enabled": "false"}))
	p.configure("")
	p.create(objectOf("v1", "Secret", p.namespace, "model-serving-etcd", map[string]any{
		"stringData": map[string]any{"etcd_connection": `{"endpoints":"http://127.0.0.1:1"}`},
	}))
	p.makeAll(l)
	began := time.Now()
	running := p.start(t, map[string]string{"NAMESPACE": p.namespace}, "--leader-elect=false")
	p.follow(running)
	p.within(10*time.Minute, func() error { return p.settled(l) })
	t.Logf("%d runtimes and %d Predictors in %d namespaces settle in %s with %v", l.namespaces*l.runtimes,
		l.namespaces*l.predictors, l.namespaces,
		time.Since(began).Round(time.Second), p.sent(running.user, began))
	logMemory(t, running.Process.Pid)

	time.Sleep(10 * time.Second) // wait for the last polls and the last discovery of optional kinds
	quiet := time.Now()
	p.mesh.Calls()
	time.Sleep(l.rest)
	calls := p.mesh.Calls()
	if found, count := p.sent(running.user, quiet), len(calls.Sets)+len(calls.Gets); len(found) > 0 || count > 0 {
		t.Errorf("in steady state the API server received %v, and ModelMesh %d requests, want none", found, count)
	}

	p.mesh.Script(nil)
	changed := time.Now()
	one := "serving.kserve.io/v1alpha1|Predictor|many-0|p-0-0"
	p.merge(one, `{"spec":{"storage":{"path":"elsewhere"}}}`)
	state := func(path, want string) { p.expect(expectation{Fields: []field{{Ref: one, Path: path, Equals: want}}}) }
	state("status/transitionStatus", "InProgress")
	p.mesh.Finish("p-0-0", mmesh.Model{State: mmesh.Loaded})
	state("status/transitionStatus", "UpToDate")
	time.Sleep(5 * time.Second)
	found := p.sent(running.user, changed)
	t.Logf("a change of one Predictor: %v", found)
	// An annotation has the observed generation, hence the write to the metadata.
	if found["patch predictors/status"] > 2 || found["patch predictors"] > 1 || len(found) > 2 {
		t.Errorf("after a change of one Predictor the operator sent %v, want at most 2 writes of its status and one of its metadata", found)
	}
}

// makeAll creates the runtimes and Predictors.
func (p *player) makeAll(l load) {
	p.Helper()
	var group sync.WaitGroup
	for n := range l.namespaces {
		namespace := fmt.Sprintf("many-%d", n)
		p.create(namespaceOf(namespace, map[string]any{"modelmesh-enabled": "true"}))
		group.Go(func() {
			for i := range l.runtimes {
				p.make(runtimeOf(namespace, fmt.Sprintf("r-%d", i), fmt.Sprintf("format-%d", i)))
			}
			for i := range l.predictors {
				p.make(predictorOf(namespace, fmt.Sprintf("p-%d-%d", n, i), fmt.Sprintf("format-%d", i%l.runtimes)))
			}
		})
	}
	group.Wait()
}

// make creates an object. It is safe for concurrent use. The object is not cleaned up, because the API server ends with
// the test.
func (p *player) make(content map[string]any) {
	if err := p.Create(p.Context(), &unstructured.Unstructured{Object: content}); err != nil {
		p.Error(err)
	}
}

// settled returns an error unless each runtime has pods and each model is loaded.
func (p *player) settled(l load) error {
	deployments := &appsv1.DeploymentList{}
	if err := p.List(p.Context(), deployments); err != nil {
		return err
	}
	up := 0
	for i := range deployments.Items {
		if *deployments.Items[i].Spec.Replicas > 0 {
			up++
		}
	}
	predictors := &unstructured.UnstructuredList{}
	predictors.SetAPIVersion("serving.kserve.io/v1alpha1")
	predictors.SetKind("PredictorList")
	if err := p.List(p.Context(), predictors); err != nil {
		return err
	}
	loaded := 0
	for _, one := range predictors.Items {
		if at(one.Object, "status/activeModelState") == "Loaded" {
			loaded++
		}
	}
	if up != l.namespaces*l.runtimes || loaded != l.namespaces*l.predictors {
		return fmt.Errorf("%d runtimes have pods, and %d models are loaded", up, loaded)
	}
	return nil
}

// sent counts the requests of a user to the API server since a time, by verb and resource. It omits watches, which
// client-go reopens every few minutes.
func (p *player) sent(user string, since time.Time) map[string]int {
	p.Helper()
	log, err := p.env.AuditLog()
	p.must(err)
	entries, err := log.Entries(
		environment.User(user), func(e environment.AuditEntry) bool { return e.Verb != "watch" && e.Received.After(since) },
	)
	p.must(err)
	out := map[string]int{}
	for _, e := range entries {
		out[strings.TrimSuffix(e.Verb+" "+e.Resource+"/"+e.Subresource, "/")]++
	}
	return out
}

// logMemory logs the memory usage of a process.
func logMemory(t *testing.T, pid int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return // not on Linux
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") {
			t.Log("the operator has", strings.Join(strings.Fields(line), " "))
		}
	}
}
