package controller

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/reconcilekit/reconcilekit/reconcile"
)

// ImportPath cuts the package out of the name of a function.
func ImportPath(function string) string { return importPath(function) }

// Tracker gives the tests of the package the tracker and one index.
type Tracker struct {
	tracker *tracker
	index   *index
}

// NewTracker returns one whose index knows the given fields.
func NewTracker(extract map[string]client.IndexerFunc) *Tracker {
	k := &kind{fields: extract}
	return &Tracker{tracker: newTracker(), index: newIndex(k.field)}
}

// Pass runs a pass of the owner that reads what the function asks for.
func (t *Tracker) Pass(owner types.NamespacedName, reads func(*Session)) {
	s := t.Begin(owner)
	reads(s)
	s.End()
}

// Begin starts a pass.
func (t *Tracker) Begin(owner types.NamespacedName) *Session {
	return &Session{t.tracker.begin(owner, scopeRead), t.index}
}

// BeginWrites starts the scope of what a pass writes.
func (t *Tracker) BeginWrites(owner types.NamespacedName) *Session {
	return &Session{t.tracker.begin(owner, scopeWrite), t.index}
}

// Handler returns the handler of the events of the index's kind.
func (t *Tracker) Handler() handler.EventHandler {
	w := &watcher{kind: &kind{index: t.index}, owner: &kind{}, tracker: t.tracker, wakes: &wakes{}}
	return w.handler()
}

// Forget drops an owner.
func (t *Tracker) Forget(owner types.NamespacedName) { t.tracker.forget(owner) }

// Concerned returns the owners that the objects concern.
func (t *Tracker) Concerned(objects ...client.Object) []types.NamespacedName {
	return t.tracker.concerned(t.index, objects...)
}

// Found returns what the index finds for one object, as often as it finds it.
func (t *Tracker) Found(object client.Object) []types.NamespacedName {
	return t.index.find(nil, object)
}

// Size counts owners, edges and the entries left in the index.
func (t *Tracker) Size() (owners, edges, entries int) {
	owners, edges = t.tracker.size()
	return owners, edges, len(t.index.names) + len(t.index.queries) + len(t.index.spaces)
}

// Session is one scope of a pass.
type Session struct {
	session *session
	index   *index
}

// Get notes a read by name.
func (s *Session) Get(namespace, name string) {
	s.session.name(s.index, types.NamespacedName{Namespace: namespace, Name: name})
}

// List notes a read by selector.
func (s *Session) List(namespace string, l labels.Selector, f fields.Selector) {
	s.session.list(s.index, namespace, l, f)
}

// End ends the scope.
func (s *Session) End() { s.session.end() }

// Untraced returns what runs around the pipeline and its phases in a pass that nobody traces.
func Untraced() func(context.Context) {
	nothing := ctrl.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, nil })
	o, err := newObserver(prometheus.NewRegistry(), "untraced", newRecall(clock.RealClock{}), nil)
	if err != nil {
		panic(err)
	}
	p := &passes{
		next: nothing, lag: newLag(0), unstable: &unstable{}, wakes: &wakes{}, clock: clock.RealClock{}, spans: newTracing("", nil, nil),
		observer: o,
	}
	request := ctrl.Request{NamespacedName: types.NamespacedName{Name: "w"}}
	return func(ctx context.Context) {
		_, _ = p.Reconcile(o.PhaseStart(ctx, reconcile.PhaseFetch), request)
	}
}

// MaxNamespaces bounds what Observed keeps.
const MaxNamespaces = maxNamespaces

// Observed gives the tests of the package the versions that an informer has shown.
type Observed struct{ observed }

// See notes the object.
func (o *Observed) See(object client.Object) { o.see(object) }

// Reached reports whether the version was shown in the namespace.
func (o *Observed) Reached(namespace, version string) bool { return o.reached(namespace, version) }

// Size is the number of namespaces that are kept.
func (o *Observed) Size() int { return len(o.versions) }

// StatusWrites gives the tests of the package the memory of status writes.
type StatusWrites struct{ statusWrites }

// Begin and End are around a write, Event is the event of a change.
func (s *StatusWrites) Begin(owner types.NamespacedName)               { s.begin(owner) }
func (s *StatusWrites) End(owner types.NamespacedName, version string) { s.end(owner, version) }
func (s *StatusWrites) Event(owner types.NamespacedName, version string, wake func()) {
	s.event(owner, version, wake)
}

// Forget drops an owner; Len counts those that are remembered.
func (s *StatusWrites) Forget(owner types.NamespacedName) { s.forget(owner) }
func (s *StatusWrites) Len() int                          { return len(s.owners) }
