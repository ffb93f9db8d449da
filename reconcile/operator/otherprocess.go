package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	leases "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// leaseInterval is the interval at which a process without leader election reads the leases of the operator.
const leaseInterval = time.Minute

var errOtherProcess = errors.New("a process without leader election reconciles the same owners as the holder of the lease, and each undoes what the other writes if their " +
	"versions or settings differ: end one of them, or set -" + flagLeaderElect + " in this one, too")

// reportOthers adds a runnable that logs an error when another process of the operator holds its lease although this process reconciles
// without one. A process that does not know the namespace of the lease, or may not read it, reports nothing.
func (p *process) reportOthers(mgr manager.Manager, cluster *rest.Config, options manager.Options) error {
	if options.LeaderElection {
		return nil
	}
	namespace := options.LeaderElectionNamespace
	if raw, err := os.ReadFile(ownNamespace); err == nil {
		namespace = cmp.Or(namespace, strings.TrimSpace(string(raw)))
	}
	if namespace == "" {
		return nil
	}
	client, err := leases.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("leases of namespace %s: %w", namespace, err)
	}
	holders := map[string]string{}
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		ticks := time.NewTicker(leaseInterval)
		defer ticks.Stop()
		for {
			for _, name := range p.leases() {
				holder := ""
				if lease, err := client.Leases(namespace).Get(ctx, name, metav1.GetOptions{}); err == nil && held(lease, clock.RealClock{}.Now()) {
					holder = *lease.Spec.HolderIdentity
				}
				if holder != "" && holder != holders[name] {
					mgr.GetLogger().Error(errOtherProcess, "another process of the operator runs", "lease", namespace+"/"+name, "holder", holder)
				}
				holders[name] = holder
			}
			select {
			case <-ctx.Done():
				return nil
			case <-ticks.C:
			}
		}
	}))
}
