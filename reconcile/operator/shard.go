package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	leases "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// shardSettings are the flags of the process's shard. Without a count one process reconciles all owners.
type shardSettings struct {
	name  string
	count shardCount
}

// shardCount is the number of shards; 0 means none.
type shardCount int

func (c *shardCount) String() string { return strconv.Itoa(int(*c)) }

// Set implements flag.Value. The controllers check the maximum.
func (c *shardCount) Set(value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("want the number of shards, or 0 for none")
	}
	*c = shardCount(n)
	return nil
}

// shareOwners sets the shard of the controllers.
func (p *process) shareOwners() error {
	s := p.shard
	switch {
	case s.count == 0 && s.name == "":
		return nil
	case s.count == 0:
		return fmt.Errorf("flag -%s %q: want -%s, too, with the number of shards", flagShardName, s.name, flagShardCount)
	case s.name == "":
		return fmt.Errorf("flag -%s %d: want -%s, too, with the number of the shard of this process, 0 to %d", flagShardCount, s.count, flagShardName, s.count-1)
	case !bool(p.leaderElect):
		return fmt.Errorf("flag -%s %d: want -%s, too: each shard has a lease; without it two processes of one shard would both reconcile",
			flagShardCount, s.count, flagLeaderElect)
	}
	for _, c := range p.Controllers {
		if err := c.Share(controller.Shard{Name: s.name, Count: int(s.count)}); err != nil {
			return fmt.Errorf("flags -%s %q and -%s %d: %w", flagShardName, s.name, flagShardCount, s.count, err)
		}
	}
	return nil
}

// leaseName returns the name of the lease. Each shard has a separate lease.
func (p *process) leaseName() string {
	if p.shard.count > 0 {
		return p.leaseOfAll() + leaseOfShard + p.shard.name
	}
	return p.leaseOfAll()
}

// leaseOfAll returns the name of the lease of a process that reconciles all owners.
func (p *process) leaseOfAll() string { return cmp.Or(p.leaseID, p.LeaseName, p.Name) }

// leaseOfShard separates the name of the lease of all owners and the name of the shard in the name of a shard's lease.
const leaseOfShard = "-shard-"

// leases returns the names of the leases that the generated permissions name: that of all owners, and that of the first shard, which a
// process without a shard reads. The number of shards is a flag of the processes, so an installation with more shards permits the leases of
// the others itself.
func (p *process) leases() []string {
	return []string{p.leaseOfAll(), p.leaseOfAll() + leaseOfShard + "0"}
}

// checkOtherLease returns an error if a process with a shard starts while a leader without a shard, which reconciles all owners,
// runs, and vice versa. It reads the lease of the first shard, which always exists.
func (p *process) checkOtherLease(ctx context.Context, cluster *rest.Config, options manager.Options) error {
	if !options.LeaderElection {
		return nil
	}
	if options.LeaderElectionConfig != nil {
		cluster = options.LeaderElectionConfig
	}
	other, why := p.leaseOfAll()+leaseOfShard+"0", "processes with a shard are running: stop all of them before you start one without a shard, or set -"+flagShardCount
	if p.shard.count > 0 {
		other, why = p.leaseOfAll(), "a process without a shard reconciles all owners: stop it before you start the first one with a shard"
	}
	namespace := options.LeaderElectionNamespace
	if namespace == "" {
		raw, err := os.ReadFile(ownNamespace)
		if err != nil {
			return fmt.Errorf("namespace of the lease: %w", err)
		}
		namespace = strings.TrimSpace(string(raw))
	}
	c, err := leases.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("lease %s/%s: %w", namespace, other, err)
	}
	lease, err := c.Leases(namespace).Get(ctx, other, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err): // an operator with permissions for a single lease has no shards
		return nil
	case err != nil:
		if away := (&url.Error{}); errors.As(err, &away) { // without the name of the other lease, which is not the cause
			return fmt.Errorf("the API server %s does not answer: %w", cluster.Host, away.Err)
		}
		return fmt.Errorf("read the lease %s/%s: %w", namespace, other, err)
	case held(lease, clock.RealClock{}.Now()):
		return fmt.Errorf("lease %s/%s is held by %q: %s", namespace, other, *lease.Spec.HolderIdentity, why)
	}
	return nil
}

// held reports whether the lease has a holder and has not expired.
func held(lease *coordinationv1.Lease, now time.Time) bool {
	s := lease.Spec
	return s.HolderIdentity != nil && *s.HolderIdentity != "" && s.RenewTime != nil && s.LeaseDurationSeconds != nil &&
		now.Before(s.RenewTime.Add(time.Duration(*s.LeaseDurationSeconds)*time.Second))
}
