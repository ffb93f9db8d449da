package status

import (
	"errors"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options configures a [Writer].
type Options struct {
	// FieldManager is the field manager of the status. Required; it is that of the controller's apply engine.
	FieldManager string
	// FormerManagers are field managers of earlier versions of the operator, with updates or with server-side apply. Their fields count as
	// this writer's: omitted ones are removed.
	FormerManagers []string
	// Clock is the clock. Default: the real clock.
	Clock clock.PassiveClock
}

// Writer stores statuses. Create it with [New]. It is safe for concurrent use.
type Writer struct {
	client   client.Client
	live     client.Reader
	opts     Options
	forms    sync.Map // schema.GroupKind to form
	attempts attempts
}

// New returns a writer that sends its requests with c. live reads from the API server, like a manager's GetAPIReader; it is used only if
// a status was not found. The error names a missing option.
func New(c client.Client, live client.Reader, o Options) (*Writer, error) {
	switch {
	case c == nil || live == nil:
		return nil, errors.New("status writer: want a client and a live reader")
	case o.FieldManager == "":
		return nil, errors.New("status writer: options: field manager must not be empty")
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Writer{client: c, live: live, opts: o}, nil
}

var errStatusOwner = errors.New("write status: before and after must be two states of one existing object")

// equalStatus compares without encoding if the Go type has a Status.
func equalStatus(before, after client.Object) bool {
	if reflect.TypeOf(before) != reflect.TypeOf(after) {
		return false
	}
	if _, ok := before.(runtime.Unstructured); ok {
		return false
	}
	b, a := statusField(before), statusField(after)
	if !b.IsValid() || !a.IsValid() {
		return false
	}
	from, to := b.Addr().Interface(), a.Addr().Interface()
	return reflect.DeepEqual(from, to) || equality.Semantic.DeepEqual(from, to) // the first is faster
}

// newObject returns an empty object of the same representation for the response.
func newObject(like client.Object, gvk schema.GroupVersionKind) client.Object {
	into, ok := reflect.New(reflect.TypeOf(like).Elem()).Interface().(client.Object)
	if !ok {
		return like // a pointer to the same type is of the same interface
	}
	if u, ok := into.(runtime.Unstructured); ok {
		u.GetObjectKind().SetGroupVersionKind(gvk)
	}
	into.SetName(like.GetName())
	into.SetNamespace(like.GetNamespace())
	return into
}
