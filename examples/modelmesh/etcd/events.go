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

// Events delivers events of the vmodels in the followed namespaces. It is connected to etcd only while it follows a namespace and
// has a watcher. It is safe for concurrent use, and closed as a runnable of a manager. A nil Events has no events.
type Events struct {
	clients   external.Sessions[*clientv3.Client]
	namespace string
	cluster   bool

	mu       sync.Mutex
	followed map[string]mesh // by namespace
	current  *mesh           // nil if there is none
	stale    chan struct{}   // closed when current changes
	logged   time.Time       // when the last connection error was logged
}

// mesh is a followed ModelMesh.
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

// NewEvents returns the events of the operator's namespace, and of all others if the operator works in the entire cluster.
func NewEvents(namespace string, cluster bool) *Events {
	return &Events{namespace: namespace, cluster: cluster, followed: map[string]mesh{}, stale: make(chan struct{})}
}

// Follow adds a namespace whose ModelMesh has the name of the service. All namespaces share one ModelMesh in one etcd.
func (e *Events) Follow(namespace, service string, target Target) {
	if e != nil {
		e.change(func() { e.followed[namespace] = mesh{service, target} })
	}
}

// Forget removes a namespace.
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

// Watch calls changed for each existing vmodel, and for each change, until the context ends. It returns an error if it may have
// missed events.
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
			log.FromContext(ctx).Info("cannot close the connection to etcd", "error", err.Error())
		}
		select {
		case <-stale:
		case <-ctx.Done():
		}
	}
	return nil
}

// session is the key of the only connection.
const session = "etcd"

// follow watches one ModelMesh until another one becomes current. If the connection is invalid, follow logs the error and waits for
// another one.
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
		log.FromContext(ctx).Info("cannot watch etcd until its Secret changes", "error", err.Error())
		return nil
	}
	defer done()
	err = reading{layout{m.target.root, m.service, e.namespace, e.cluster}, client, opened, changed, e.shouldLog}.run(ctx)
	if ctx.Err() != nil {
		return nil // on purpose
	}
	return err
}

// shouldLog reports whether to log a connection error: once for all watchers, because they share the connection.
func (e *Events) shouldLog(pause time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.logged) < pause/2 {
		return false
	}
	e.logged = time.Now() //nolint:forbidigo // only for the log
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

// run lists the keys, and then watches the changes since that revision.
func (r reading) run(ctx context.Context) error {
	revision, err := r.list(ctx)
	if err != nil {
		return err
	}
	from, to := r.bounds()
	changes := r.client.Watch(
		clientv3.WithRequireLeader(ctx), from, clientv3.WithRange(to), clientv3.WithRev(revision+1), clientv3.WithPrevKV(),
	)
	r.opened() // includes all changes since the list; earlier deletions are not reported
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
		log.FromContext(ctx).Info("ignoring a record in etcd", "key", key, "error", err.Error())
	}
	if ok {
		r.changed(event)
	}
}

// The initial and the maximum delay before a failed list is repeated.
const (
	firstPause = 3 * time.Second
	lastPause  = time.Minute
)

// list lists the keys, without a time limit, and returns the revision.
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
			log.FromContext(ctx).Info("cannot read etcd, retrying", "after", pause.String(), "error", err.Error())
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
