package etcd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Events are those of the vmodels of the namespaces that are followed. There is a connection to etcd only while there is
// such a namespace and somebody watches. It is safe for concurrent use, and closed as a runnable of a manager. A nil one has
// no events.
type Events struct {
	clients   external.Sessions[*clientv3.Client]
	namespace string
	cluster   bool

	mu       sync.Mutex
	followed map[string]mesh // by namespace
	current  *mesh           // nil for none
	stale    chan struct{}   // closed when current is another one
	logged   time.Time       // when it was last logged that etcd is away
}

// mesh is a ModelMesh whose events are followed.
type mesh struct {
	service string
	target  Target
}

func (m *mesh) same(other *mesh) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.service == other.service && m.target.fingerprint == other.target.fingerprint
}

// NewEvents returns the events of the namespace of an operator, and of all others where it works in the cluster.
func NewEvents(namespace string, cluster bool) *Events {
	return &Events{namespace: namespace, cluster: cluster, followed: map[string]mesh{}, stale: make(chan struct{})}
}

// Follow lets the events of a namespace count, whose ModelMesh has the name of the service. All namespaces have one ModelMesh in one etcd.
func (e *Events) Follow(namespace, service string, target Target) {
	if e != nil {
		e.change(func() { e.followed[namespace] = mesh{service, target} })
	}
}

// Forget is the end of following a namespace.
func (e *Events) Forget(namespace string) {
	if e != nil {
		e.change(func() { delete(e.followed, namespace) })
	}
}

func (e *Events) change(do func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do()
	var next *mesh
	if names := slices.Sorted(maps.Keys(e.followed)); len(names) > 0 {
		first := e.followed[names[0]]
		next = &first
	}
	if next.same(e.current) {
		return
	}
	e.current = next
	close(e.stale)
	e.stale = make(chan struct{})
}

func (e *Events) now() (current *mesh, stale <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current, e.stale
}

// Start implements the Runnable of controller-runtime's manager: it closes the connection when the context ends.
func (e *Events) Start(ctx context.Context) error { return e.clients.Start(ctx) }

// Watch calls changed for each vmodel that is there, and for each that changes, until the context ends. It returns an error when events may
// have been missed.
func (e *Events) Watch(ctx context.Context, opened func(), changed func(Event)) error {
	if e == nil {
		<-ctx.Done()
		return nil
	}
	for ctx.Err() == nil {
		current, stale := e.now()
		if current != nil {
			if err := e.follow(ctx, stale, current, opened, changed); err != nil {
				return err
			}
		} else if err := e.clients.Drop(session); err != nil {
			log.FromContext(ctx).Info("the connection to etcd could not be closed", "error", err.Error())
		}
		select {
		case <-stale:
		case <-ctx.Done():
		}
	}
	return nil
}

// session is the key of the one connection.
const session = "etcd"

// follow follows a ModelMesh until another one counts. One that cannot be followed as it is set up is logged, and waits for that.
func (e *Events) follow(ctx context.Context, stale <-chan struct{}, m *mesh, opened func(), changed func(Event)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		select {
		case <-stale:
		case <-ctx.Done():
		}
	}()
	client, done, err := e.clients.Use(
		session, m.target.fingerprint, func() (*clientv3.Client, error) { return clientv3.New(m.target.client) },
	)
	if err != nil {
		log.FromContext(ctx).Info("etcd cannot be followed until its Secret changes", "error", err.Error())
		return nil
	}
	defer done()
	err = reading{layout{m.target.root, m.service, e.namespace, e.cluster}, client, opened, changed, e.shouldLog}.run(ctx)
	if ctx.Err() != nil {
		return nil // on purpose
	}
	return err
}

// shouldLog reports whether to log that etcd is away: once for all who watch, as they have one connection.
func (e *Events) shouldLog(pause time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.logged) < pause/2 {
		return false
	}
	e.logged = time.Now() //nolint:forbidigo // for the log alone
	return true
}

// reading is one use of the connection.
type reading struct {
	layout

	client    *clientv3.Client
	opened    func()
	changed   func(Event)
	shouldLog func(pause time.Duration) bool
}

// run reads what there is, and then what changes from that revision on.
func (r reading) run(ctx context.Context) error {
	revision, err := r.list(ctx)
	if err != nil {
		return err
	}
	from, to := r.bounds()
	changes := r.client.Watch(
		clientv3.WithRequireLeader(ctx), from, clientv3.WithRange(to), clientv3.WithRev(revision+1), clientv3.WithPrevKV(),
	)
	r.opened() // with every change since the list; what went before it, is not reported
	for answer := range changes {
		if err := answer.Err(); err != nil {
			return fmt.Errorf("watch etcd: %w", err)
		}
		for _, change := range answer.Events {
			deleted := change.Type == clientv3.EventTypeDelete
			value := change.Kv.GetValue()
			if deleted {
				value = nil
				if change.PrevKv != nil {
					value = change.PrevKv.GetValue()
				}
			}
			r.emit(ctx, string(change.Kv.GetKey()), value, deleted)
		}
	}
	return errors.New("watch etcd: the stream has ended")
}

func (r reading) emit(ctx context.Context, key string, value []byte, deleted bool) {
	event, ok, err := r.event(key, value, deleted)
	if err != nil {
		log.FromContext(ctx).Info("a record in etcd is ignored", "key", key, "error", err.Error())
	}
	if ok {
		r.changed(event)
	}
}

// How soon a list that failed is tried again, at first and at most.
const (
	firstPause = 3 * time.Second
	lastPause  = time.Minute
)

// list reads what there is, however long that takes, and returns its revision.
func (r reading) list(ctx context.Context) (revision int64, err error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		answer, err := r.get(ctx)
		if err == nil {
			for _, entry := range answer.Kvs {
				r.emit(ctx, string(entry.GetKey()), entry.GetValue(), false)
			}
			return answer.Header.GetRevision(), nil
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if r.shouldLog(pause) {
			log.FromContext(ctx).Info("etcd cannot be read, it is tried again", "after", pause.String(), "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (r reading) get(ctx context.Context) (*clientv3.GetResponse, error) {
	ctx, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	from, to := r.bounds()
	return r.client.Get(ctx, from, clientv3.WithRange(to))
}
