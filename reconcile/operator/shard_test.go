package operator_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/internal/widget"
)

// TestShards checks that the processes divide the owners, and that each shard has a lease. A process with a shard and one without do not start
// concurrently. After the removal of a shard, the remaining shards reconcile all owners, and its process none.
func TestShards(t *testing.T) {
	const owners = 12
	namespace, ctx, c := env.Namespace(t), t.Context(), env.Client()
	all := []string{"-leader-elect", "-leader-election-namespace=" + namespace, "-namespaces=" + namespace, "-health-probe-bind-address=0"}
	shard := func(number, count int) []string {
		return append([]string{fmt.Sprintf("-shard-name=%d", number), fmt.Sprintf("-shard-count=%d", count)}, all...)
	}
	refused := func(args []string, want string) {
		t.Helper()
		if err := widgets("refused").Run(ctx, args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", args, err, want)
		}
	}
	stop := start(t, widgets("all"), all...)
	first := newWidget(namespace, "first")
	create(t, first)
	eventually(t, "a process without a shard works", func() bool { return made(t, first) != nil })
	refused(shard(1, 2), "lease "+namespace+"/widgets.example.com is held by ")
	stop()

	stopZero := start(t, widgets("zero"), shard(0, 2)...)
	stopOne := start(t, widgets("one"), shard(1, 2)...)
	stopStandby := start(t, widgets("standby"), shard(0, 2)...)
	sites, made0, leaders := make([]*widget.Widget, owners), 0, map[string]bool{}
	for i := range sites {
		sites[i] = newWidget(namespace, fmt.Sprintf("site-%d", i))
		create(t, sites[i])
	}
	for _, site := range sites {
		eventually(t, "an owner of a shard", func() bool { return made(t, site) != nil })
		if by := made(t, site).Data["by"]; by != "one" {
			made0++
			leaders[by] = true
		}
	}
	if len(leaders) > 1 {
		t.Errorf("both processes of shard 0 reconcile: %v", leaders)
	}
	if made0 == 0 || made0 == owners {
		t.Errorf("shard 0 has %d of %d owners, want some", made0, owners)
	}
	for _, name := range []string{"widgets.example.com-shard-0", "widgets.example.com-shard-1"} {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &coordinationv1.Lease{}); err != nil {
			t.Error(err)
		}
	}
	refused(all, "lease "+namespace+"/widgets.example.com-shard-0 is held by ")

	stopZero()
	stopOne()
	stopStandby()
	start(t, widgets("remaining"), shard(0, 1)...)
	start(t, widgets("removed"), shard(1, 1)...)
	for i := range owners {
		late := newWidget(namespace, fmt.Sprintf("late-%d", i))
		create(t, late)
		eventually(t, "an owner after the removal of a shard", func() bool { return made(t, late) != nil })
		if by := made(t, late).Data["by"]; by != "remaining" {
			t.Errorf("%s was made by the shard %q", late.Name, by)
		}
	}
}
