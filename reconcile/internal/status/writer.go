package status

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options configure a [Writer].
type Options struct {
	// FieldManager is the name under which the status is written. Required; it is the name that the apply engine of the same
	// controller uses.
	FieldManager string
	// FormerManagers are names under which earlier versions of the operator wrote statuses, with updates or with server-side
	// apply. What they own is as if this writer owned it: it goes when it is left out.
	FormerManagers []string
	// Clock gives the time. Default the real clock.
	Clock clock.PassiveClock
}

// Writer stores statuses. Create it with [New]; it is safe for concurrent use.
type Writer struct {
	client   client.Client
	live     client.Reader
	opts     Options
	forms    sync.Map // schema.GroupKind to form
	attempts attempts
}

// New returns a writer that sends its requests with c. live always reads from the API server, as a manager's GetAPIReader does;
// it is asked only when a status was not found. The error names what is missing.
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

// WriteStatus stores the status of after where it differs from that of before, in one request to the status subresource, and
// reports whether the stored object has changed. managed are the types of the conditions that this writer sets; those of
// others are in after as they were in before.
//
// What after sets is stored, whoever has written it before. What after leaves out goes if this writer or a former manager
// owns it, or nobody does; what is another manager's stays, and costs no request. A change that the API server answers without
// storing it, such as a field that the CRD does not have, is not sent again for five minutes, nor is one that somebody else has
// undone five times in as many minutes.
//
// Where the conditions are a list with the key type, the request is a server-side apply of what this writer owns and changes.
// Elsewhere, as long as that is not known, and where something goes that no apply can remove, it is a merge patch of what has
// changed, with the resourceVersion of after: a conflict, see [apierrors.IsConflict], means that somebody else has written
// since and nothing is stored. After a write, after has the metadata of the stored object. The error is a
// [NoSubresourceError] where the kind has no status subresource.
//
// [apierrors.IsConflict]: https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors#IsConflict
func (w *Writer) WriteStatus(ctx context.Context, before, after client.Object, managed []string) (written bool, err error) {
	if equalStatus(before, after) {
		return false, nil
	}
	if after.GetUID() == "" || before.GetUID() != after.GetUID() {
		return false, errStatusOwner
	}
	r := &write{writer: w, before: before, after: after, managed: managed}
	if r.gvk, err = w.client.GroupVersionKindFor(after); err != nil {
		return false, fmt.Errorf("write status: kind of %T: %w", after, err)
	}
	if r.from, err = contentOf(before); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	if r.to, err = contentOf(after); err != nil {
		return false, fmt.Errorf("write status: %w", err)
	}
	if reflect.DeepEqual(r.from, r.to) {
		return false, nil
	}
	if written, err = r.run(ctx); err != nil {
		return false, fmt.Errorf("write status of %s: %w", r.name(), err)
	}
	return written, nil
}

// equalStatus compares without encoding, where the Go type has a Status.
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
	return reflect.DeepEqual(from, to) || equality.Semantic.DeepEqual(from, to) // the first is the faster one
}

// newObject returns an empty object of the same representation, to read the answer into.
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
