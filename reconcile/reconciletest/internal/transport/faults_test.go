package transport_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/cluster"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/internal/transport"
)

// colorOf returns the stored color of a ConfigMap, or "none" if it does not exist.
func colorOf(t *testing.T, w *cluster.Cluster, name string) string {
	t.Helper()
	var got corev1.ConfigMap
	if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &got); apierrors.IsNotFound(err) {
		return "none"
	} else if err != nil {
		t.Fatal(err)
	}
	return got.Data["color"]
}

// TestFaults checks the error of an update for each fault, and the stored object afterwards.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, c := range map[transport.Fault]struct {
		stored, err string
		changed     bool
	}{
		transport.FaultError:    {"red", "injected by the test", false},
		transport.FaultConflict: {"red", "cannot be fulfilled on configmaps \"a\": injected by the test", false},
		transport.FaultTimeout:  {"blue", "the response was lost", true},
		transport.FaultCrash:    {"blue", "the operator has crashed", true},
		transport.FaultReplaced: {"red", "cannot be fulfilled on configmaps \"a\": object was modified", false},
		"403":                   {"red", "is forbidden: injected by the test", false},
		"429":                   {"red", "injected by the test", false},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			wire, w := newWire(t)
			given(t, w, configMap("a", "red"))
			var obj corev1.ConfigMap
			if err := wire.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &obj); err != nil {
				t.Fatal(err)
			}
			wire.Arm(&transport.Injection{Call: "update configmaps default/a#1", Fault: fault})
			obj.Data["color"] = "blue"
			err := wire.Client.Update(t.Context(), &obj)
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %s", err, c.err)
			}
			if got := colorOf(t, w, "a"); got != c.stored {
				t.Errorf("%s is stored, want %s", got, c.stored)
			}
			calls := wire.Calls()
			if last := calls[len(calls)-1]; last.Changed != c.changed || !wire.HasHappened() || len(wire.Armed()) != 0 {
				t.Errorf("changed: %t, struck: %t, still armed: %d", last.Changed, wire.HasHappened(), len(wire.Armed()))
			}
			dead := wire.Client.List(t.Context(), &corev1.ConfigMapList{}) != nil
			if crashed := fault == transport.FaultCrash; dead != crashed || wire.IsCut() != crashed {
				t.Errorf("dead: %t, cut: %t, want %t", dead, wire.IsCut(), crashed)
			}
		})
	}
}

// TestLostAnswerOfRefusal checks that a lost response belongs to an accepted request. A rejection is not lost.
func TestLostAnswerOfRefusal(t *testing.T) {
	t.Parallel()
	wire, _ := newWire(t)
	wire.Arm(&transport.Injection{Writes: true, Fault: transport.FaultTimeout})
	if err := wire.Client.Update(t.Context(), configMap("missing", "blue")); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want a not found error", err)
	}
}

// TestOwnerBefore checks that another client changes or deletes the owner immediately before a request, which is then sent.
func TestOwnerBefore(t *testing.T) {
	t.Parallel()
	for fault, want := range map[transport.Fault]string{transport.FaultChanged: "true", transport.FaultDeleted: "none"} {
		wire, w := newWire(t)
		wire.Arm(&transport.Injection{Creates: true, Fault: fault, Lasting: 1})
		if err := wire.Client.Create(t.Context(), configMap("a", "red")); err != nil {
			t.Fatal(err)
		}
		var owner corev1.Service
		got := "none"
		if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop"}, &owner); err == nil {
			got = owner.Labels["changed"]
		}
		if got != want || colorOf(t, w, "a") != "red" {
			t.Errorf("%s: the owner is %q, want %q; stored: %s", fault, got, want, colorOf(t, w, "a"))
		}
	}
}

// TestChangeOfOthers checks that a change by another client before a request does not count as a change of the operator.
func TestChangeOfOthers(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	owner := &corev1.Service{}
	if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "shop"}, owner); err != nil {
		t.Fatal(err)
	}
	wire.Arm(&transport.Injection{Call: "update services default/shop#1", Fault: transport.FaultChanged})
	if err := wire.Client.Update(t.Context(), owner); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if changed := transport.ChangedBy(wire.Calls()); changed != nil {
		t.Errorf("the operator's changes are %v", changed)
	}
}

// TestOnce checks that a fault that happens once is not repeated after a reset of the request numbers.
func TestOnce(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	given(t, w, configMap("a", "red"))
	wire.Arm(&transport.Injection{Call: "update configmaps default/a#1", Fault: transport.FaultError})
	first := wire.Client.Update(t.Context(), configMap("a", "blue"))
	calls := wire.Calls()
	wire.Forget()
	if again := wire.Client.Update(t.Context(), configMap("a", "blue")); first == nil || again != nil {
		t.Errorf("got %v, then %v", first, again)
	}
	if len(calls) != 1 || calls[0].Err == nil {
		t.Errorf("the previous request changed to %v", calls)
	}
}

// TestCreates checks that a fault of all creates does not affect existing objects and other namespaces.
func TestCreates(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	given(t, w, configMap("there", "red"))
	wire.Arm(&transport.Injection{Creates: true, Fault: transport.FaultError, Lasting: transport.Forever})
	elsewhere := configMap("a", "")
	elsewhere.Namespace = "elsewhere"
	for _, err := range []error{wire.Client.Update(t.Context(), configMap("there", "blue")), wire.Client.Create(t.Context(), elsewhere)} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := wire.Client.Create(t.Context(), configMap("b", "")); err == nil {
		t.Error("one create")
	}
}

// TestReplaced checks that a replacement of an object has its content, no owner, and exists even if the old object had finalizers.
func TestReplaced(t *testing.T) {
	t.Parallel()
	wire, w := newWire(t)
	old := configMap("a", "red")
	old.Finalizers, old.Labels = []string{"example.com/hold"}, map[string]string{"of": "shop"}
	given(t, w, old)
	wire.Arm(&transport.Injection{Call: "delete configmaps default/a#1", Fault: transport.FaultReplaced})
	if err := wire.Client.Delete(t.Context(), old, client.Preconditions{UID: &old.UID}); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict: the UID is another one", err)
	}
	var now corev1.ConfigMap
	if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(old), &now); err != nil {
		t.Fatal(err)
	}
	if now.UID == old.UID || len(now.Labels)+len(now.Finalizers) > 0 || now.Annotations[transport.Foreign] != "true" || now.Data["color"] != "red" {
		t.Errorf("it is replaced by %v", now)
	}

	wire.Arm(&transport.Injection{Call: "delete configmaps default/missing#1", Fault: transport.FaultReplaced})
	if err := wire.Client.Delete(t.Context(), configMap("missing", "")); !apierrors.IsNotFound(err) {
		t.Errorf("of nothing: got %v", err)
	}
}

// TestPasses checks that requests are numbered, and that the numbers restart after a reset.
func TestPasses(t *testing.T) {
	t.Parallel()
	wire, _ := newWire(t)
	get := func() {
		err := wire.Client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.ConfigMap{})
		if !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	wire.Enter(1)
	get()
	if before := wire.Enter(2); before != 1 {
		t.Errorf("%d requests before the second pass, want one", before)
	}
	get()
	var got []string
	var passes []int
	for _, c := range wire.Calls() {
		got, passes = append(got, c.String()+", then "+c.Again()), append(passes, c.Pass)
	}
	want := []string{
		"get configmaps default/a#1, then get configmaps default/a#2", "get configmaps default/a#2, then get configmaps default/a#3",
	}
	if diff := cmp.Diff(want, got) + cmp.Diff([]int{1, 2}, passes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wire.Forget()
	get()
	if calls := wire.Calls(); len(calls) != 1 || calls[0].String() != "get configmaps default/a#1" || transport.ChangedBy(calls) != nil {
		t.Errorf("after the reset: %v", calls)
	}
}

// TestSent checks that the object of a create is recorded even if the create fails.
func TestSent(t *testing.T) {
	t.Parallel()
	wire, _ := newWire(t)
	wire.Arm(&transport.Injection{Writes: true, Fault: transport.FaultError})
	if err := wire.Client.Create(t.Context(), configMap("a", "red")); err == nil {
		t.Fatal("it was not rejected")
	}
	call := wire.Calls()[0]
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "a"}, "data": map[string]any{"color": "red"},
	}
	if diff := cmp.Diff(want, call.Sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	if !apierrors.IsInternalError(call.Err) {
		t.Errorf("its response is %v", call.Err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n", Namespace: "nonsense"}}
	if got := wire.About("create", "", namespace, "", nil); got.Key.Namespace != "" {
		t.Errorf("a cluster-scoped kind is requested in namespace %q", got.Key.Namespace)
	}
}

// TestPassesSideBySide checks that the requests of a nested reconciliation are sent once, before the request that triggers it.
func TestPassesSideBySide(t *testing.T) {
	t.Parallel()
	wire, _ := newWire(t)
	create := func(name string) {
		if err := wire.Client.Create(t.Context(), configMap(name, "")); err != nil {
			t.Error(err)
		}
	}
	wire.Enter(1)
	wire.Between = func(context.Context) {
		wire.Enter(2)
		create("other")
		wire.Enter(1)
	}
	wire.Arm(&transport.Injection{Call: "create configmaps default/b#1", Fault: transport.FaultInterleave})
	for _, name := range []string{"a", "b", "c"} {
		create(name)
	}
	var got []string
	for _, c := range wire.Calls() {
		got = append(got, fmt.Sprintf("%d: %s", c.Pass, c.Key.Name))
	}
	if diff := cmp.Diff([]string{"1: a", "2: other", "1: b", "1: c"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !wire.HasHappened() {
		t.Error("the fault is not reported as happened")
	}
}
