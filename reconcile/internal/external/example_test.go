package external_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/internal/external"
)

// database is the desired and the observed state of a database.
type database struct {
	Owner string `json:"owner"`
}

// server is a database server. In an operator it is a client with a connection.
type server struct {
	mu        sync.Mutex
	databases map[string]database
	calls     []string
	fail      map[string]error // keyed by verb
}

func (s *server) call(verb, key string) error {
	s.calls = append(s.calls, verb+" "+key)
	return s.fail[verb]
}

func (s *server) Observe(_ context.Context, key string) (database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call(external.VerbObserve, key); err != nil {
		return database{}, err
	}
	found, ok := s.databases[key]
	if !ok {
		return database{}, external.ErrNotFound
	}
	return found, nil
}

func (s *server) Ensure(_ context.Context, key string, spec database) (database, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call(external.VerbEnsure, key); err != nil {
		return database{}, err
	}
	if s.databases == nil {
		s.databases = map[string]database{}
	}
	s.databases[key] = spec
	return spec, nil
}

func (s *server) Remove(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.call(external.VerbRemove, key); err != nil {
		return err
	}
	delete(s.databases, key)
	return nil
}

func (*server) UpToDate(spec, observed database) bool { return spec == observed }

// take returns the calls since the previous call of take.
func (s *server) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.calls
	s.calls = nil
	return out
}

// cluster is a fake of the apply engine that writes the metadata of the owner.
type cluster struct{ manager string }

func (c cluster) Apply(_ context.Context, owner client.Object, plan apply.Plan) apply.Result {
	notes := map[string]string{}
	if plan.Owner != nil {
		notes = plan.Owner.Object.GetAnnotations()
	}
	if !owner.GetDeletionTimestamp().IsZero() {
		notes = owner.GetAnnotations()
	}
	names := make([]string, 0, len(notes))
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		names = append(names, fmt.Sprintf(`,%q:{}`, "f:"+name))
	}
	fields := strings.Join(names, "")
	owner.SetAnnotations(notes)
	owner.SetManagedFields(nil)
	if fields != "" {
		owner.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: c.manager + ":metadata", Operation: metav1.ManagedFieldsOperationApply,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + fields[1:] + `}}}`),
		}})
	}
	owner.SetFinalizers(nil)
	if plan.Hold {
		owner.SetFinalizers([]string{"example.com/shop"})
	}
	return apply.Result{Finalized: !owner.GetDeletionTimestamp().IsZero() && !plan.Hold}
}

func (cluster) Confirm(context.Context, client.Object) error { return nil }

func (cluster) Forget(types.UID) {}

// A plan names its databases. The engine records a database on the owner, creates it, repairs it, and removes it when the plan
// no longer names it. A controller gets the engine from its builder: External(databases).
func Example() {
	postgres := &server{}
	databases := external.New("Database", postgres, external.Options{})
	engine, err := external.NewEngine(external.Config{
		Kinds: []external.Declared{databases}, FieldManager: "shop", Domain: "example.com", Finalizer: "example.com/shop",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "1"}}
	pass := func(planned ...string) {
		engine.Begin(client.ObjectKeyFromObject(owner))
		var plan reconcile.PlanResult
		for _, key := range planned {
			databases.Ensure(&plan, key, database{Owner: "shop"})
		}
		result := engine.Wrap(cluster{"shop"}).Apply(context.Background(), owner, plan)
		for _, o := range result.Objects {
			fmt.Println(o.GVK.Kind, o.Key.Name, o.Outcome, o.Reason)
		}
		fmt.Println("calls:", postgres.take(), "finalizers:", owner.GetFinalizers())
	}
	pass("orders", "users")
	pass("orders", "users")
	pass("orders")
	// Output:
	// Database orders Created Missing
	// Database users Created Missing
	// calls: [observe orders ensure orders observe users ensure users] finalizers: [example.com/shop]
	// Database orders Unchanged UpToDate
	// Database users Unchanged UpToDate
	// calls: [observe orders observe users] finalizers: [example.com/shop]
	// Database orders Unchanged UpToDate
	// Database users Pruned NotPlanned
	// calls: [observe orders remove users] finalizers: [example.com/shop]
}
