package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// TestTwoProcesses runs two processes of the operator that share a lease, and kills and restarts them while owners
// change. It checks that every owner reaches its desired state, no child is created twice or deleted, and every write
// came from the process that held the lease. RECONCILETEST_SEED repeats the kills of a run; RECONCILETEST_CASES=all runs
// 1,000 owners and 20 kills.
func TestTwoProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the operator, and waits for leases")
	}
	owners, kills := 100, 4
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		owners, kills = 1000, 20
	}
	t.Logf("%d owners, %d kills", owners, kills)

	w := newHandOver(t, env)
	w.addresses()
	log, err := env.AuditLog()
	if err != nil {
		t.Skip(err)
	}
	instances := []*instance{w.instance("a"), w.instance("b")}
	w.edit(owners, owners)
	for i := range kills {
		w.edit(owners, max(owners/5, 1)) //nolint:mnd // change a fifth of the owners before each kill
		time.Sleep(time.Duration(w.random.IntN(3000)) * time.Millisecond)
		chosen := instances[w.random.IntN(len(instances))]
		t.Logf("kill %d: %s of %s", i, chosen.again(), chosen.name)
	}
	w.converges()
	entries, err := log.Entries(func(e environment.AuditEntry) bool { return w.users[e.User] })
	if err != nil {
		t.Fatal(err)
	}
	if wrong := writesWithoutLease(entries, w.namespace, nil); len(wrong) > 0 {
		t.Errorf("%d writes of a process without the lease:\n%s", len(wrong), wrong)
	}
	w.onceEach(entries)
}

// writesWithoutLease returns the writes of owners and children in the namespace by a user who was not the last to write
// the lease of its shard. Users that are not in the map have no shard and share a lease.
func writesWithoutLease(entries environment.AuditEntries, namespace string, shards map[string]string) (wrong environment.AuditEntries) {
	byArrival := slices.Clone(entries)
	slices.SortStableFunc(byArrival, func(a, b environment.AuditEntry) int { return a.Received.Compare(b.Received) })
	holders := map[string]string{}
	for _, e := range byArrival {
		switch {
		case !e.IsWrite() || e.Namespace != namespace || e.Resource == "events":
		case e.Resource == "leases" && e.Code < 300:
			holders[shards[e.User]] = e.User
		case e.Resource != "leases" && e.User != holders[shards[e.User]]:
			wrong = append(wrong, e)
		}
	}
	return wrong
}

// TestWritesWithoutLease checks that the check of TestTwoProcesses detects a write of a process that no longer holds the
// lease.
func TestWritesWithoutLease(t *testing.T) {
	at := time.Now()
	write := func(user, resource string, code int) environment.AuditEntry {
		at = at.Add(time.Millisecond)
		return environment.AuditEntry{
			Request: requests.Request{Verb: "update", Resource: resource, Namespace: "n"}, User: user, Code: code, Received: at,
		}
	}
	entries := environment.AuditEntries{
		write("a", "leases", 201), write("a", "services", 200), write("b", "leases", 409), write("a", "services", 200),
		write("b", "leases", 200), write("b", "services", 200), write("a", "websites", 409),
		write("other", "leases", 200), write("other", "services", 200), write("b", "services", 200),
	}
	slices.Reverse(entries) // the log is in the order of the responses
	wrong := writesWithoutLease(entries, "n", map[string]string{"other": "1"})
	if len(wrong) != 1 || wrong[0].User != "a" || wrong[0].Resource != "websites" {
		t.Errorf("want the write of a to websites, got:\n%s", wrong)
	}
}

// handOver has the owners and the processes of a test.
type handOver struct {
	*testing.T
	client.Client
	env               *environment.Environment
	namespace, binary string
	random            *rand.Rand
	users             map[string]bool   // users of the processes
	texts             map[string]string // last written text of each owner
}

func newHandOver(t *testing.T, e *environment.Environment) *handOver {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("RECONCILETEST_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("RECONCILETEST_SEED=%d", seed)
	w := &handOver{
		T: t, Client: e.Client(), env: e, namespace: e.Namespace(t), binary: filepath.Join(t.TempDir(), "quickstart"),
		random: rand.New(rand.NewPCG(seed, 0)), users: map[string]bool{}, texts: map[string]string{},
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", w.binary, "../../quickstart").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return w
}

// addresses adds a range of Service addresses, because the API server of a test has only 254.
func (w *handOver) addresses() {
	w.Helper()
	more := &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.96.0.0/16"}},
	}
	if err := w.Create(w.Context(), more); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = w.Delete(context.WithoutCancel(w.Context()), more) })
	more.Status.Conditions = []metav1.Condition{{
		Type: networkingv1.ServiceCIDRConditionReady, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now(),
	}} // as the controllers of a cluster would write it
	if err := w.Status().Update(w.Context(), more); err != nil {
		w.Fatal(err)
	}
}

// instance is one process of the operator, which is restarted after it exits.
type instance struct {
	*handOver
	name, kubeconfig string
	arguments        []string
	command          *exec.Cmd
	output           *bytes.Buffer
}

// instance starts a process with its own user, which identifies it in the audit log of the API server.
func (w *handOver) instance(name string, arguments ...string) *instance {
	w.Helper()
	if err := w.Create(w.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}); err != nil {
		w.Fatal(err)
	}
	config, err := w.env.ServiceAccountConfig(w.Context(), w.namespace, name)
	if err != nil {
		w.Fatal(err)
	}
	w.users[w.user(name)] = true
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: name}},
	}
	if err := w.Create(w.Context(), binding); err != nil {
		w.Fatal(err)
	}
	text, err := environment.Kubeconfig(config)
	if err != nil {
		w.Fatal(err)
	}
	i := &instance{handOver: w, name: name, arguments: arguments, kubeconfig: filepath.Join(w.TempDir(), name)}
	if err := os.WriteFile(i.kubeconfig, text, 0o600); err != nil {
		w.Fatal(err)
	}
	i.start()
	w.Cleanup(func() {
		i.end(syscall.SIGTERM)
		_ = w.Delete(context.WithoutCancel(w.Context()), binding)
	})
	return i
}

// user returns the user name of a process in the audit log.
func (w *handOver) user(name string) string {
	return "system:serviceaccount:" + w.namespace + ":" + name
}

// again stops the process with a random signal and restarts it, with the given arguments or else with the previous ones.
func (i *instance) again(arguments ...string) syscall.Signal {
	i.Helper()
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[i.random.IntN(2)]
	i.end(signal)
	if len(arguments) > 0 {
		i.arguments = arguments
	}
	i.start()
	return signal
}

func (i *instance) start() {
	i.Helper()
	i.output = &bytes.Buffer{}
	arguments := append([]string{
		"-kubeconfig=" + i.kubeconfig, "-namespaces=" + i.namespace, "-leader-elect", "-leader-election-namespace=" + i.namespace,
		"-health-probe-bind-address=0",
	}, i.arguments...)
	i.command = exec.CommandContext(context.WithoutCancel(i.Context()), i.binary, arguments...)
	i.command.Stdout, i.command.Stderr = i.output, i.output
	if err := i.command.Start(); err != nil {
		i.Fatal(err)
	}
}

// end sends the signal and waits until the process exits. After SIGTERM it must exit without an error.
func (i *instance) end(signal syscall.Signal) {
	i.Helper()
	if i.command.ProcessState != nil {
		return // it has exited
	}
	if err := i.command.Process.Signal(signal); err != nil {
		i.Errorf("%s of process %s: %v\n%s", signal, i.name, err, i.output)
	}
	if err := i.command.Wait(); err != nil && signal != syscall.SIGKILL && !i.early(err) {
		i.Errorf("process %s exited with %v after %s\n%s", i.name, err, signal, i.output)
	}
}

// early returns true if the process exited before it handled signals.
func (*instance) early(err error) bool {
	exit, ok := err.(*exec.ExitError) //nolint:errorlint // as exec.Cmd.Wait returns it
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// edit changes the text of a random sample of the owners, and creates those that do not exist.
func (w *handOver) edit(owners, some int) {
	w.Helper()
	const writers = 8
	var group sync.WaitGroup
	names := make(chan string, some)
	for _, n := range w.random.Perm(owners)[:some] {
		name := fmt.Sprintf("site-%d", n)
		w.texts[name] += strconv.Itoa(w.random.IntN(10)) //nolint:mnd // a digit
		names <- name
	}
	close(names)
	for range writers {
		group.Go(func() {
			for name := range names {
				site := &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: v1.WebsiteSpec{Text: w.texts[name]}}
				var err error
				if len(w.texts[name]) == 1 {
					err = w.Create(w.Context(), site)
				} else {
					err = w.Patch(w.Context(), site, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"text":%q}}`, site.Spec.Text)))
				}
				if err != nil {
					w.Errorf("edit %s: %v", name, err)
				}
			}
		})
	}
	group.Wait()
}

// converges waits until each owner has its three planned children and a status of its latest generation.
func (w *handOver) converges() {
	w.Helper()
	var left []string
	for deadline := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Second) {
		if left = w.unfinished(); len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%d owners have not converged, such as %s", len(left), left[0])
		}
	}
}

// unfinished describes each owner that has not reached its desired state.
func (w *handOver) unfinished() (wrong []string) {
	w.Helper()
	var sites v1.WebsiteList
	var texts corev1.ConfigMapList
	var services corev1.ServiceList
	var deployments appsv1.DeploymentList
	for _, list := range []client.ObjectList{&sites, &texts, &services, &deployments} {
		if err := w.List(w.Context(), list, client.InNamespace(w.namespace)); err != nil {
			w.Fatal(err)
		}
	}
	children, pages := map[types.UID]int{}, map[types.UID]string{}
	count := func(o client.Object) types.UID {
		if owner := metav1.GetControllerOf(o); owner != nil {
			children[owner.UID]++
			return owner.UID
		}
		return ""
	}
	for i := range texts.Items {
		if owner := count(&texts.Items[i]); owner != "" {
			pages[owner] = texts.Items[i].Data["index.html"]
		}
	}
	for i := range services.Items {
		count(&services.Items[i])
	}
	for i := range deployments.Items {
		count(&deployments.Items[i])
	}
	for _, site := range sites.Items {
		seen := slices.ContainsFunc(site.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == "Ready" && c.ObservedGeneration == site.Generation
		})
		if children[site.UID] != 3 || pages[site.UID] != w.texts[site.Name] || site.Spec.Text != w.texts[site.Name] || !seen {
			wrong = append(wrong, fmt.Sprintf("%s: %d children, text %q, want %q; status of this generation: %t",
				site.Name, children[site.UID], pages[site.UID], w.texts[site.Name], seen))
		}
	}
	if len(sites.Items) != len(w.texts) {
		wrong = append(wrong, fmt.Sprintf("%d owners, want %d", len(sites.Items), len(w.texts)))
	}
	return wrong
}

// onceEach checks in the audit log that each child was created once and none was deleted. The API server may carry out
// the last request of a killed process; the log then has a different code.
func (w *handOver) onceEach(entries environment.AuditEntries) {
	w.Helper()
	created, unanswered := map[requests.Request]int{}, map[requests.Request]int{}
	for _, e := range entries {
		what := requests.Request{Resource: e.Resource, Name: e.Name}
		switch {
		case e.Namespace != w.namespace || e.Resource == "leases" || e.Resource == "events" || e.Resource == "websites":
		case e.Verb == "delete" || e.Verb == "deletecollection":
			w.Errorf("deleted: %s", e)
		case e.Code == 201 && e.IsWrite():
			created[what]++
		case e.Code != 200 && e.IsWrite():
			unanswered[what] = e.Code
		}
	}
	for what, code := range unanswered {
		if _, answered := created[what]; !answered {
			w.Logf("%s %s: the log has code %d for its creation", what.Resource, what.Name, code)
			created[what] = 1
		}
	}
	if want := 3 * len(w.texts); len(created) != want {
		w.Errorf("%d children were created, want %d", len(created), want)
	}
	for what, times := range created {
		if times != 1 {
			w.Errorf("%s %s was created %d times", what.Resource, what.Name, times)
		}
	}
}
