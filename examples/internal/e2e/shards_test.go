package e2e_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
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

const claim = "shard.reconcilekit.dev/quickstart"

// TestTwoShards runs processes of the operator that share the owners, two of them for one shard, and kills one after the
// other while owners are made, change and go, and while the number of shards becomes three and two again. Every owner ends
// as it should, nothing is made twice or deleted, and the API server has seen no write for an owner of a process that had
// not claimed it or did not hold the lease of its shard. RECONCILETEST_SEED repeats a run's kills, RECONCILETEST_CASES=all
// makes it 1,000 owners and 20 kills.
func TestTwoShards(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the operator, and waits for leases")
	}
	env.Require(t)
	t.Run("PassingOver", func(t *testing.T) {
		t.Parallel() // they mostly wait for leases to run out
		shareAmongShards(t, env)
	})
	t.Run("Selecting", func(t *testing.T) {
		t.Parallel()
		server := &environment.Environment{
			CRDPaths: env.CRDPaths, Scheme: env.Scheme, AdmissionPlugins: env.AdmissionPlugins, Audit: true, AuditPatches: true,
			FeatureGates: []string{"ShardedListAndWatch=true"},
		}
		server.Setup(t)
		shareAmongShards(t, server)
	})
}

func shareAmongShards(t *testing.T, server *environment.Environment) {
	t.Helper()
	log, err := server.AuditLog()
	if err != nil {
		t.Skip(err)
	}
	owners, kills := 80, 4
	if os.Getenv("RECONCILETEST_CASES") == "all" {
		owners, kills = 1000, 20
	}
	w := &sharing{handOver: newHandOver(t, server), shards: map[string]string{}, count: 2}
	w.addresses()
	w.collects()
	w.add("0", "0")
	w.add("0-standby", "0")
	w.add("1", "1")
	w.edit(owners, owners)
	for i := range kills {
		if count := 2 + (3*i/kills)%2; count != w.count { // three shards in the middle third
			w.become(count, owners)
		}
		w.change(owners)
		time.Sleep(time.Duration(w.random.IntN(2000)) * time.Millisecond)
		chosen := w.instances[w.random.IntN(len(w.instances))]
		t.Logf("kill %d: %s of %s", i, chosen.again(), chosen.name)
	}
	w.converges()
	w.areClaimed()
	entries, err := log.Entries(func(e environment.AuditEntry) bool { return w.users[e.User] })
	if err != nil {
		t.Fatal(err)
	}
	wrong, handedOver := outsideTheirClaim(entries, w.namespace, w.shards)
	t.Logf(
		"%d writes of the processes, %d owners handed over",
		len(entries.Where(func(e environment.AuditEntry) bool { return e.IsWrite() })), handedOver,
	)
	if handedOver == 0 {
		t.Error("no owner was handed over")
	}
	if len(wrong) > 0 {
		t.Errorf("%d writes against the claims, such as:\n%s", len(wrong), strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	}
	w.onceEachThatStayed(entries)
}

// sharing is what the processes of shards work on.
type sharing struct {
	*handOver
	instances []*instance
	shards    map[string]string // of each user
	count     int
	first     map[types.UID]string // the claims before there were three shards
	gone      map[string]bool      // names of owners that have been deleted once
}

// arguments are those of a process of the shard.
func (w *sharing) arguments(shard string) []string {
	return []string{"-shard-name=" + shard, "-shard-count=" + strconv.Itoa(w.count)}
}

// add starts a process for a shard.
func (w *sharing) add(name, shard string) {
	w.Helper()
	w.shards[w.user(name)] = shard
	w.instances = append(w.instances, w.instance(name, w.arguments(shard)...))
}

// become restarts the processes one by one with another number of shards. The one of a shard that there is no more ends when it has given
// back what it has claimed.
func (w *sharing) become(count, owners int) {
	w.Helper()
	more := count > w.count
	w.count = count
	if more {
		w.until("a third of the owners is claimed", func() bool { return w.claimed() > owners/3 })
		w.first = w.claims()
		w.add("2", "2")
	} else {
		w.until("the third shard has some owners of the others", func() bool { return w.taken() > len(w.first)/20 })
	}
	for _, n := range w.random.Perm(len(w.instances)) {
		i := w.instances[n]
		if name := i.name; !more || name != "2" {
			w.Logf("%d shards: %s of %s", count, i.again(w.arguments(w.shards[w.user(name)])...), name)
			w.change(owners)
		}
	}
	if more {
		return
	}
	last := slices.IndexFunc(w.instances, func(i *instance) bool { return i.name == "2" })
	w.until("the third shard has given its owners back", func() bool { return bySize(w.claims())["2"] == 0 })
	w.instances[last].end(syscall.SIGTERM)
	w.instances = slices.Delete(w.instances, last, last+1)
}

// until waits, and shows what the processes say when that takes too long.
func (w *sharing) until(what string, done func() bool) {
	w.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().Before(deadline) {
			continue
		}
		w.Errorf("%s: not in time; owners by shard: %v, %d of them from others", what, bySize(w.claims()), w.taken())
		for _, i := range w.instances {
			i.end(syscall.SIGTERM)
			w.Logf("process %s %v:\n%s", i.name, i.arguments, i.output)
		}
		w.FailNow()
	}
}

// change edits a fifth of the owners and deletes some.
func (w *sharing) change(owners int) {
	w.Helper()
	const parts, deleted = 5, 20
	w.edit(owners, owners/parts)
	if w.gone == nil {
		w.gone = map[string]bool{}
	}
	for range owners / deleted {
		name := fmt.Sprintf("site-%d", w.random.IntN(owners))
		if err := w.Delete(w.Context(), &v1.Website{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}); client.IgnoreNotFound(err) != nil {
			w.Fatal(err)
		}
		w.gone[name] = true
		delete(w.texts, name)
	}
}

// claims returns the shard that has claimed each owner.
func (w *sharing) claims() map[types.UID]string {
	w.Helper()
	var sites v1.WebsiteList
	if err := w.List(w.Context(), &sites, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	out := map[types.UID]string{}
	for i := range sites.Items {
		out[sites.Items[i].UID] = sites.Items[i].Annotations[claim]
	}
	return out
}

// taken counts the owners that the third shard has from the others.
func (w *sharing) taken() (taken int) {
	w.Helper()
	for owner, shard := range w.claims() {
		if first := w.first[owner]; first != "" && first != shard && shard == "2" {
			taken++
		}
	}
	return taken
}

// claimed counts the owners that any shard has claimed.
func (w *sharing) claimed() int {
	w.Helper()
	claims := w.claims()
	return len(claims) - bySize(claims)[""]
}

// bySize counts the owners of each shard.
func bySize(claims map[types.UID]string) map[string]int {
	out := map[string]int{}
	for _, shard := range claims {
		out[shard]++
	}
	return out
}

// areClaimed holds the owners to claims of the shards that there are, of some part each.
func (w *sharing) areClaimed() {
	w.Helper()
	claims := bySize(w.claims())
	w.Logf("owners by shard: %v", claims)
	if claims["0"]+claims["1"] != len(w.texts) || min(claims["0"], claims["1"]) < len(w.texts)/5 {
		w.Errorf("owners by the shard that has claimed them: %v, want all of %d and no less than a fifth for each", claims, len(w.texts))
	}
}

// collects deletes the children of owners that are gone until the test ends, as a cluster's garbage collector does.
func (w *sharing) collects() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := w.collect(ctx); err != nil && ctx.Err() == nil {
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

// collect lists the owners after their children, so that one that is not there is gone.
func (w *sharing) collect(ctx context.Context) error {
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

// onceEachThatStayed holds the log to one creation of each child of an owner that has never been deleted, and no deletion.
func (w *sharing) onceEachThatStayed(entries environment.AuditEntries) {
	w.Helper()
	created := map[requests.Request]int{}
	for _, e := range entries {
		switch {
		case e.Namespace != w.namespace || e.Resource == "leases" || e.Resource == "events" || e.Resource == "websites":
		case e.Verb == "delete" || e.Verb == "deletecollection":
			w.Errorf("deleted: %s", e)
		case e.Code == 201 && e.IsWrite() && !w.gone[e.Name]:
			created[requests.Request{Resource: e.Resource, Name: e.Name}]++
		}
	}
	for what, times := range created {
		if times != 1 {
			w.Errorf("%s %s was made %d times", what.Resource, what.Name, times)
		}
	}
}

// outsideTheirClaim returns the writes for owners in the namespace by a user whose shard had not claimed the owner, or who
// was not the last to write the lease of the shard, and the claims of an owner that another shard had; and how often an
// owner went from one shard to another. Each user has a shard.
func outsideTheirClaim(entries environment.AuditEntries, namespace string, shards map[string]string) (wrong []string, handedOver int) {
	byArrival := slices.Clone(entries)
	slices.SortStableFunc(byArrival, func(a, b environment.AuditEntry) int { return a.Received.Compare(b.Received) })
	leads, claims := map[string]string{}, &claimsSeen{owners: map[types.UID]claimSeen{}}
	for _, e := range byArrival {
		if !e.IsWrite() || e.Namespace != namespace || e.Resource == "events" {
			continue
		}
		shard := shards[e.User]
		if e.Resource == "leases" {
			if e.Code < 300 {
				leads[shard] = e.User
			}
			continue
		}
		problem := ""
		if leads[shard] != e.User {
			problem = "does not lead its shard"
		}
		if problem = cmp.Or(problem, claims.write(e, shard)); problem != "" {
			wrong = append(wrong, fmt.Sprintf("%s %s, shard %s: %s: %s", e.Received.Format(time.StampMicro), e, shard, problem, e.Patch))
		}
	}
	return wrong, claims.handedOver
}

// claimsSeen are the claims on owners, by the UIDs of these.
type claimsSeen struct {
	owners     map[types.UID]claimSeen
	handedOver int
}

type claimSeen struct {
	// holder is the shard that has claimed the owner, empty for none, and former the one before.
	holder, former string
	// unanswered says that the last claim, or end of one, was asked for by a process that was killed before the answer.
	unanswered bool
}

// write notes a write by a process of the shard, and says what is wrong with it.
func (c *claimsSeen) write(e environment.AuditEntry, shard string) string {
	var body struct {
		Metadata struct {
			UID             types.UID
			Annotations     map[string]*string
			OwnerReferences []metav1.OwnerReference
		}
	}
	if err := json.Unmarshal([]byte(e.Patch), &body); err != nil {
		return "no patch: " + err.Error()
	}
	about := body.Metadata.UID
	if e.Resource != "websites" {
		owner := metav1.GetControllerOf(&metav1.ObjectMeta{OwnerReferences: body.Metadata.OwnerReferences})
		if owner == nil {
			return "has no owner"
		}
		about = owner.UID
	}
	last := c.owners[about]
	holder, isClaim := body.Metadata.Annotations[claim]
	switch {
	case about == "":
		return "names no owner"
	case !isClaim && last.holder != shard:
		return fmt.Sprintf("shard %q has claimed it", last.holder)
	case !isClaim:
		return ""
	case e.Code == 404 || e.Code == 409:
		return "" // it says of which state of the owner it is, and that was not the last one
	case e.Code >= 300:
		last.unanswered = true
		c.owners[about] = last
		return ""
	}
	after := claimSeen{former: cmp.Or(last.holder, last.former)}
	if holder != nil {
		after.holder = *holder
	}
	if after.holder != "" && after.former != "" && after.holder != after.former {
		c.handedOver++
	}
	c.owners[about] = after
	if last.unanswered || last.holder == shard || last.holder == "" && after.holder == shard {
		return ""
	}
	return fmt.Sprintf("shard %q has claimed it, which becomes %q", last.holder, after.holder)
}

// TestOutsideTheirClaim: the check of TestTwoShards sees each sort of write that there must not be, and no other one.
func TestOutsideTheirClaim(t *testing.T) {
	at := time.Now()
	write := func(user, resource, patch string, code int) environment.AuditEntry {
		at = at.Add(time.Millisecond)
		return environment.AuditEntry{
			Request: requests.Request{Verb: "patch", Resource: resource, Namespace: "n"}, User: user, Code: code, Received: at, Patch: patch,
		}
	}
	claims := func(user, uid, holder string, code int) environment.AuditEntry {
		return write(user, "websites", fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, uid, claim, holder), code)
	}
	writes := func(user, uid string) environment.AuditEntry {
		return write(
			user, "services",
			fmt.Sprintf(`{"metadata":{"uid":"of the child","ownerReferences":[{"uid":%q,"controller":true}]}}`, uid), 200,
		)
	}
	status := func(user, uid string) environment.AuditEntry {
		return write(user, "websites", fmt.Sprintf(`{"metadata":{"uid":%q},"status":{}}`, uid), 200)
	}
	const back = "null"
	right := environment.AuditEntries{
		write("a", "leases", "", 201), write("b", "leases", "", 201), claims("a", "u", `"0"`, 200), writes("a", "u"),
		claims("b", "u", `"1"`, 409),
		status("a", "u"), claims("a", "u", back, 200), claims("b", "u", `"1"`, 200), writes("b", "u"), // handed over
		claims("b", "u", back, 500), claims("a", "u", `"0"`, 200), writes("a", "u"), // and back, by a process that was killed before the answer
		write("a-standby", "leases", "", 409), write("a", "leases", "", 200), status("a", "u"),
		write("a-standby", "leases", "", 200), claims("a-standby", "u", `"0"`, 200), status("a-standby", "u"),
		{Request: requests.Request{Verb: "create", Resource: "events", Namespace: "n"}, User: "b", Code: 201, Received: at},
	}
	for name, c := range map[string]struct {
		last environment.AuditEntry
		want string // empty for nothing
	}{
		"Nothing":                 {status("a-standby", "u"), ""},
		"LeaseLost":               {status("a", "u"), "does not lead"},
		"NeverClaimed":            {status("b", "v"), `shard "" has claimed it`},
		"ClaimedByAnother":        {writes("b", "u"), `shard "0" has claimed it`},
		"TakesTheClaim":           {claims("b", "u", `"1"`, 200), `shard "0" has claimed it, which becomes "1"`},
		"GivesBackForAnother":     {claims("b", "u", back, 200), `shard "0" has claimed it, which becomes ""`},
		"ClaimsForAnother":        {claims("b", "v", `"0"`, 200), `shard "" has claimed it, which becomes "0"`},
		"ChildOfAnother":          {writes("a-standby", "v"), `shard "" has claimed it`},
		"ChildOfNobody":           {write("a-standby", "services", "{}", 200), "has no owner"},
		"OwnerOfWhichNothingSays": {write("a-standby", "websites", "{}", 200), "names no owner"},
		"Deletes": {environment.AuditEntry{
			Request: requests.Request{Verb: "delete", Resource: "services", Namespace: "n"}, User: "a-standby", Code: 200, Received: at,
		}, "no patch"},
	} {
		entries := append(slices.Clone(right), c.last)
		slices.Reverse(entries) // the log is in the order of the answers
		got, handedOver := outsideTheirClaim(entries, "n", map[string]string{"a": "0", "a-standby": "0", "b": "1"})
		if found := strings.Join(got, "\n"); c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(found, c.want)) {
			t.Errorf("%s: want %q of the last write, got:\n%s", name, c.want, found)
		}
		if handedOver < 2 {
			t.Errorf("%s: %d owners were handed over, want 2 at least", name, handedOver)
		}
	}
}
