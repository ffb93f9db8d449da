package reconciletest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/internal/widget"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/external"
	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest"
)

// queues is a stub of a system that is unavailable for its first calls.
type queues struct {
	mu   sync.Mutex
	away int
	has  map[string]string
}

var (
	errAway    = health.NewError(health.Infrastructure, "QueuesAway", "the queues do not respond", errors.New("away"))
	errForeign = errors.New("the key belongs to another owner")
)

func (q *queues) call() error {
	if q.away > 0 {
		q.away--
		return errAway
	}
	return nil
}

func (q *queues) Observe(_ context.Context, key string) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.call(); err != nil {
		return "", err
	}
	found, ok := q.has[key]
	if !ok {
		return "", external.ErrNotFound
	}
	return found, nil
}

func (q *queues) Ensure(_ context.Context, key, spec string) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.call(); err != nil {
		return "", err
	}
	q.has[key] = spec
	return spec, nil
}

func (q *queues) Remove(_ context.Context, key string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.call(); err != nil {
		return err
	}
	delete(q.has, key)
	return nil
}

func (*queues) UpToDate(spec, observed string) bool { return spec == observed }

// queueing plans a queue for each owner, and a ConfigMap with its name.
type queueing struct {
	kind *external.Kind[string, string]
}

type queueSeen struct{ found reconcile.FetchResult[string] }

func (r *queueing) FetchRemoteState(ctx context.Context, reader reconcile.Reader, rc reconcile.ReconcileContext[*widget.Widget]) queueSeen {
	return queueSeen{r.kind.Observe(ctx, reader, rc.Object.Namespace+"/"+rc.Object.Name)}
}

func (s queueSeen) GetComponentHealth(context.Context) []health.Component {
	c := health.Component{Name: "Queue"}
	switch {
	case s.found.IsNotFound():
		c.State, c.Reason, c.Message = health.Progressing, "QueueMissing", "the queue does not exist yet"
	case s.found.Error != nil:
		c.Errors = []error{s.found.Error}
	default:
		c.State = health.Ready
	}
	return []health.Component{c}
}

func (r *queueing) PlanResources(_ context.Context, rc reconcile.ReconcileContext[*widget.Widget], _ queueSeen) (plan reconcile.PlanResult, _ error) {
	r.kind.Ensure(&plan, rc.Object.Namespace+"/"+rc.Object.Name, rc.Object.Spec.Message)
	plan.Apply(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: rc.Object.Namespace, Name: rc.Object.Name}, Data: map[string]string{"queue": rc.Object.Spec.Message},
	})
	return plan, nil
}

// TestConvergeWithAnUnavailableStub checks that no case fails because a stub is unavailable for its first calls, even if writes of the owner are rejected.
func TestConvergeWithAnUnavailableStub(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("tries some 300 cases")
	}
	const away = 4
	reconciletest.Converge(t, reconciletest.System{
		Setup: func(mgr manager.Manager) error {
			r := &queueing{external.New("Queue", reconciletest.OutsideOf(mgr).(*queues), external.Options{
				Exclusive: true,
				Permit: func(owner types.NamespacedName, key string) error {
					if key != owner.String() {
						return errForeign
					}
					return nil
				},
			})}
			return controller.New("queueing", r).Owns(&corev1.ConfigMap{}).External(r.kind).
				Options(controller.Options{SkipNameValidation: true, ClaimNamespace: "default"}).Build().SetupWithManager(mgr)
		},
		Outside: func() any { return &queues{away: away, has: map[string]string{}} },
		Scheme:  widgetScheme(),
		CRDs:    []*apiextensionsv1.CustomResourceDefinition{widget.CRD()},
		Owners:  []client.Object{&widget.Widget{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: widget.Spec{Message: "hello"}}},
		Change:  func(owner client.Object) { owner.(*widget.Widget).Spec.Message = "good bye" },
	})
}
