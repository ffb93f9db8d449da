package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/requests"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/reconcilekit/reconcilekit/examples/quickstart/api/v1"
)

// TestTwoShards runs processes of the operator that divide the owners, two of them for one shard. It kills one after the
// other while owners are created, changed and deleted, and while the number of shards changes from two to three and
// back. It checks that every owner reaches its desired state, no child is created twice or deleted, and every write came
// from the process that held the lease of its shard. RECONCILETEST_SEED repeats the kills of a run;
// RECONCILETEST_CASES=all runs 1,000 owners and 20 kills.
func TestTwoShards(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the operator, and waits for leases")
	}
	env.Require(t)
	t.Run("SelectedByTheProcess", func(t *testing.T) {
		t.Parallel() // they mostly wait for leases to expire
		runShards(t, env)
	})
	t.Run("SelectedByTheServer", func(t *testing.T) {
		t.Parallel()
		server := &environment.Environment{
			CRDPaths: env.CRDPaths, Scheme: env.Scheme, AdmissionPlugins: env.AdmissionPlugins, Audit: true, AuditPatches: true,
			FeatureGates: []string{"ShardedListAndWatch=true"},
		}
		server.Setup(t)
		runShards(t, server)
	})
}

func runShards(t *testing.T, server *environment.Environment) {
	t.Helper()
	log, err := server.AuditLog()
	if err != nil {
		t.Skip(err)
	}
	owners, kills := 80, 4
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		owners, kills = 1000, 20
	}
	w := &sharded{handOver: newHandOver(t, server), shards: map[string]string{}, deleted: map[string]bool{}, count: 2}
	w.addresses()
	w.collectGarbage()
	w.add("0", "0")
	w.add("0-standby", "0")
	w.add("1", "1")
	w.edit(owners, owners)
	for i := range kills {
		if count := 2 + (3*i/kills)%2; count != w.count { // three shards in the middle third
			w.scaleTo(count, owners)
		}
		w.change(owners)
		time.Sleep(time.Duration(w.random.IntN(2000)) * time.Millisecond)
		chosen := w.instances[w.random.IntN(len(w.instances))]
		t.Logf("kill %d: %s of %s", i, chosen.again(), chosen.name)
	}
	w.converges()
	entries, err := log.Entries(func(e environment.AuditEntry) bool { return w.users[e.User] })
	if err != nil {
		t.Fatal(err)
	}
	if wrong := writesWithoutLease(entries, w.namespace, w.shards); len(wrong) > 0 {
		t.Errorf("%d writes of a process without the lease of its shard:\n%s", len(wrong), wrong[:min(len(wrong), 20)])
	}
	w.requireCreatedOnce(entries)
	w.requireDivided(entries, owners)
}

// sharded has the processes of the shards and the owners that they reconcile.
type sharded struct {
	*handOver
	instances []*instance
	shards    map[string]string // shard of each user
	deleted   map[string]bool   // names of owners that were deleted at least once
	count     int
}

// arguments returns the arguments of a process of the shard.
func (w *sharded) arguments(shard string) []string {
	return []string{"-shard-name=" + shard, "-shard-count=" + strconv.Itoa(w.count)}
}

// add starts a process of a shard.
func (w *sharded) add(name, shard string) {
	w.Helper()
	w.shards[w.user(name)] = shard
	w.instances = append(w.instances, w.instance(name, w.arguments(shard)...))
}

// scaleTo restarts the processes one by one with another number of shards, and starts or stops the process of the third
// shard.
func (w *sharded) scaleTo(count, owners int) {
	w.Helper()
	more := count > w.count
	w.count = count
	for _, n := range w.random.Perm(len(w.instances)) {
		i := w.instances[n]
		w.Logf("%d shards: %s of %s", count, i.again(w.arguments(w.shards[w.user(i.name)])...), i.name)
		w.change(owners)
	}
	if more {
		w.add("2", "2")
		return
	}
	last := slices.IndexFunc(w.instances, func(i *instance) bool { return i.name == "2" })
	w.instances[last].end(syscall.SIGTERM)
	w.instances = slices.Delete(w.instances, last, last+1)
}

// change edits a fifth of the owners and deletes some.
func (w *sharded) change(owners int) {
	w.Helper()
	const parts, deleted = 5, 20
	w.edit(owners, owners/parts)
	for range owners / deleted {
		name := fmt.Sprintf("site-%d", w.random.IntN(owners))
		if err := w.Delete(w.Context(), &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}); client.IgnoreNotFound(err) != nil {
			w.Fatal(err)
		}
		w.deleted[name] = true
		delete(w.texts, name)
	}
}

// collectGarbage deletes the children of deleted owners until the test ends, as the garbage collector of a cluster does.
func (w *sharded) collectGarbage() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := w.collectOnce(ctx); err != nil && ctx.Err() == nil {
				done <- err
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		done <- nil
	}()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
}

// collectOnce lists the owners after their children, so that an owner missing from the list was deleted.
func (w *sharded) collectOnce(ctx context.Context) error {
	var children []client.Object
	for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.ServiceList{}, &appsv1.DeploymentList{}} {
		if err := w.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			children = append(children, o.(client.Object))
			return nil
		}); err != nil {
			return err
		}
	}
	var sites v1.WebsiteList
	if err := w.List(ctx, &sites, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	owners := map[types.UID]bool{}
	for i := range sites.Items {
		owners[sites.Items[i].UID] = true
	}
	var errs []error
	for _, child := range children {
		if owner := metav1.GetControllerOf(child); owner != nil && !owners[owner.UID] {
			errs = append(errs, client.IgnoreNotFound(w.Delete(ctx, child, client.Preconditions{UID: new(child.GetUID())})))
		}
	}
	return errors.Join(errs...)
}

// requireCreatedOnce fails if a child was deleted, or created more than once although its owner was never deleted.
func (w *sharded) requireCreatedOnce(entries environment.AuditEntries) {
	w.Helper()
	created := map[requests.Request]int{}
	for _, e := range entries {
		switch {
		case e.Namespace != w.namespace || e.Resource == "leases" || e.Resource == "events" || e.Resource == "websites":
		case e.Verb == "delete" || e.Verb == "deletecollection":
			w.Errorf("deleted: %s", e)
		case e.Code == 201 && e.IsWrite() && !w.deleted[e.Name]:
			created[requests.Request{Resource: e.Resource, Name: e.Name}]++
		}
	}
	for what, times := range created {
		if times != 1 {
			w.Errorf("%s %s was created %d times", what.Resource, what.Name, times)
		}
	}
}

// requireDivided fails if one of the two permanent shards created less than a fifth of the ConfigMaps of the initial
// owners.
func (w *sharded) requireDivided(entries environment.AuditEntries, owners int) {
	w.Helper()
	created := map[string]int{}
	for _, e := range entries {
		if e.Namespace == w.namespace && e.Resource == "configmaps" && e.Code == 201 {
			created[w.shards[e.User]]++
		}
	}
	w.Logf("ConfigMaps created by each shard: %v", created)
	for _, shard := range []string{"0", "1"} {
		if created[shard] < owners/5 {
			w.Errorf("ConfigMaps created by each shard: %v, want at least %d from shard %s", created, owners/5, shard)
		}
	}
}
