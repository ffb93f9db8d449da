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

// TestShards: the processes of shards share the owners, each shard has a lease of its own, and a process without a shard does not start
// beside them, nor they beside it. A shard that there is no more gives its owners back.
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
		if err := c.Get(ctx, client.ObjectKeyFromObject(site), site); err != nil {
			t.Fatal(err)
		}
		by := made(t, site).Data["by"]
		number := map[string]string{"zero": "0", "standby": "0", "one": "1"}[by] // who of shard 0 leads is a matter of luck
		if claimed := site.Annotations["shard.reconcilekit.dev/widget"]; number != claimed || claimed == "" {
			t.Errorf("%s was made by %q, and shard %q has claimed it", site.Name, by, claimed)
		}
		if number == "0" {
			made0++
			leaders[by] = true
		}
	}
	if len(leaders) > 1 {
		t.Errorf("both processes of shard 0 work: %v", leaders)
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
	start(t, widgets("one"), shard(0, 1)...)
	start(t, widgets("given up"), shard(1, 1)...)
	for _, site := range sites {
		eventually(t, "the shard that is left has claimed all", func() bool {
			return c.Get(ctx, client.ObjectKeyFromObject(site), site) == nil && site.Annotations["shard.reconcilekit.dev/widget"] == "0"
		})
	}
}
