package watching

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/declaration"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/internal/trigger"
)

// discoverer is the part of a discovery client that returns the installed kinds.
type discoverer interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// crdWatcher is the source of events of the optional kinds. It watches the metadata of CRDs, asks the discovery API about the
// kinds of a group when one of its CRDs changes, and starts and stops the informers. In steady state it sends no requests.
type crdWatcher struct {
	cache     cache.Cache
	discovery discoverer
	watchers  []*Watcher
	timeout   time.Duration

	poke   chan struct{}
	synced chan error // receives one value: the result of the first look
}

var _ source.SyncingSource = (*crdWatcher)(nil)

// NewCRDWatcher returns the source of events of the optional kinds; timeout limits the wait for one cache.
func NewCRDWatcher(c cache.Cache, d discoverer, watchers []*Watcher, timeout time.Duration) *crdWatcher {
	return &crdWatcher{
		cache: c, discovery: d, watchers: watchers, timeout: timeout,
		poke: make(chan struct{}, 1), synced: make(chan error, 1),
	}
}

// settle returns the delays of discovery requests after a CRD has changed, because discovery follows with a delay.
func settle() []time.Duration {
	return []time.Duration{0, 100 * time.Millisecond, 400 * time.Millisecond, 1500 * time.Millisecond, 5 * time.Second}
}

// Start implements source.Source.
func (g *crdWatcher) Start(ctx context.Context, q Queue) error {
	go g.run(ctx, q)
	return nil
}

// WaitForSync waits until the installed kinds are known and their informers are synced.
func (g *crdWatcher) WaitForSync(ctx context.Context) error {
	select {
	case err := <-g.synced:
		return err
	case <-ctx.Done():
		return fmt.Errorf("find out which optional kinds are installed: %w", ctx.Err())
	}
}

// String returns the name of the source for the log.
func (g *crdWatcher) String() string {
	names := make([]string, len(g.watchers))
	for i, w := range g.watchers {
		names[i] = declaration.Print(w.Kind.GroupVersionKind)
	}
	return "optional kinds: " + strings.Join(names, ", ")
}

func (g *crdWatcher) run(ctx context.Context, q Queue) {
	err := g.watchCRDs(ctx)
	if err == nil {
		err = g.look(ctx, q)
	}
	if missing := g.missing(); err == nil && len(missing) > 0 {
		g.watchers[0].Logger.Info("optional kinds are not installed: their objects are not created until their CRDs are", "kinds", missing)
	}
	later := isUndiscovered(err)
	if later {
		log.FromContext(ctx).Error(err, "it is not known whether optional kinds are installed; will ask again")
		err = nil
	}
	g.synced <- err
	if err != nil {
		return
	}
	if later {
		g.follow(ctx, q)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.poke:
		}
		g.follow(ctx, q)
	}
}

// missing returns the kinds that are not installed.
func (g *crdWatcher) missing() (kinds []string) {
	for _, w := range g.watchers {
		if w.stop == nil {
			kinds = append(kinds, declaration.Print(w.Kind.GroupVersionKind))
		}
	}
	return kinds
}

// maxWait is the maximum delay between discovery requests that fail.
const maxWait = time.Minute

// isUndiscovered reports whether all parts of an error are failed discoveries. An API server may be unable to tell about one group, whose
// backend is unavailable. That must not stop the controllers of other kinds.
func isUndiscovered(err error) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return false
	}
	return !slices.ContainsFunc(joined.Unwrap(), func(part error) bool {
		var undiscovered *declaration.UndiscoveredError
		return !errors.As(part, &undiscovered)
	})
}

// follow looks several times, until discovery reflects the CRDs. A further change restarts the sequence. A failure repeats the last request,
// less and less often, and is logged when its text changes.
func (g *crdWatcher) follow(ctx context.Context, q Queue) {
	waits, again, logged := settle(), time.Duration(0), ""
	for i := 0; i < len(waits); i++ {
		timer := time.NewTimer(max(waits[i], again))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-g.poke:
			timer.Stop()
			i, again = -1, 0 // restart
			continue
		case <-timer.C:
		}
		err := g.look(ctx, q)
		if err == nil || ctx.Err() != nil {
			again = 0
			continue
		}
		if text := err.Error(); text != logged {
			log.FromContext(ctx).Error(err, "find out which optional kinds are installed")
			logged = text
		}
		again = min(max(2*again, waits[max(i, 1)]), maxWait)
		i = max(i-1, 0) // repeat the last wait
	}
}

// watchCRDs triggers the watcher when a CRD of a relevant group changes.
func (g *crdWatcher) watchCRDs(ctx context.Context) error {
	informer, err := g.cache.GetInformer(ctx, declaration.MetadataOf(declaration.CRD()))
	if err != nil {
		return fmt.Errorf("watch CRDs: %w", err)
	}
	changed := func(object any) {
		if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
			object = tombstone.Obj
		}
		if crd, ok := object.(metav1.Object); ok && g.concerns(crd.GetName()) {
			select {
			case g.poke <- struct{}{}:
			default:
			}
		}
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, object any) { changed(object) }, DeleteFunc: changed,
	})
	return err
}

// concerns reports whether a CRD, whose name is plural.group, has the group of an optional kind.
func (g *crdWatcher) concerns(crd string) bool {
	_, group, _ := strings.Cut(crd, ".")
	for _, w := range g.watchers {
		if w.Kind.Group == group {
			return true
		}
	}
	return false
}

// look compares the installed kinds with the watched ones, and starts and stops watches accordingly.
func (g *crdWatcher) look(ctx context.Context, q Queue) error {
	var errs []error
	for _, w := range g.watchers {
		resource, err := g.installed(ctx, w.Kind.GroupVersionKind)
		if err != nil {
			undiscovered := &declaration.UndiscoveredError{GVK: w.Kind.GroupVersionKind, Err: err}
			if errs = append(errs, undiscovered); w.stop == nil {
				w.Kind.Undiscovered.Store(undiscovered)
			}
			continue
		}
		known := w.Kind.Undiscovered.Swap(nil) == nil
		switch {
		case resource != nil && w.stop == nil:
			w.Kind.Cluster.Store(!resource.Namespaced)
			errs = append(errs, g.appear(ctx, w, q))
		case resource == nil && w.stop != nil:
			errs = append(errs, g.vanish(ctx, w, q))
		case resource == nil && !known:
			g.wake(w, q, trigger.EventRemoved)
		}
	}
	return errors.Join(errs...)
}

// installed returns the resource of the kind, nil if there is none.
func (g *crdWatcher) installed(ctx context.Context, gvk schema.GroupVersionKind) (*metav1.APIResource, error) {
	list, err := g.discovery.ServerResourcesForGroupVersionWithContext(ctx, gvk.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the group is not installed
	}
	if err != nil {
		return nil, err
	}
	for i := range list.APIResources {
		if list.APIResources[i].Kind == gvk.Kind && !strings.Contains(list.APIResources[i].Name, "/") {
			return &list.APIResources[i], nil
		}
	}
	return nil, nil //nolint:nilnil // the group has other kinds
}

// appear starts to watch a kind. When the cache is synced, it admits reads and children of the kind and enqueues the owners that read it.
func (g *crdWatcher) appear(ctx context.Context, w *Watcher, q Queue) error {
	if err := w.Kind.IndexFields(ctx, g.cache); err != nil {
		return errors.Join(err, g.cache.RemoveInformer(ctx, w.Kind.Object))
	}
	watching, stop := context.WithCancel(ctx)
	kind := w.Source(g.cache)
	if err := kind.Start(watching, q); err != nil {
		stop()
		return fmt.Errorf("watch %s: %w", declaration.Print(w.Kind.GroupVersionKind), err)
	}
	syncing, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	if err := kind.WaitForSync(syncing); err != nil {
		stop()
		return errors.Join(err, g.cache.RemoveInformer(ctx, w.Kind.Object))
	}
	w.stop = stop
	w.Kind.Absent.Store(false)
	w.Kind.Appeared.Add(1) // last, so that a pass that counts it has seen the kind
	log.FromContext(ctx).Info("optional kind is installed", "kind", declaration.Print(w.Kind.GroupVersionKind))
	g.wake(w, q, trigger.EventInstalled)
	return nil
}

// vanish stops to watch a kind that the API server no longer serves.
func (g *crdWatcher) vanish(ctx context.Context, w *Watcher, q Queue) error {
	w.Kind.Absent.Store(true)
	w.stop()
	w.stop = nil
	if err := g.cache.RemoveInformer(ctx, w.Kind.Object); err != nil {
		return fmt.Errorf("stop watching %s: %w", declaration.Print(w.Kind.GroupVersionKind), err)
	}
	log.FromContext(ctx).Info("optional kind is gone", "kind", declaration.Print(w.Kind.GroupVersionKind))
	g.wake(w, q, trigger.EventRemoved)
	return nil
}

func (g *crdWatcher) wake(w *Watcher, q Queue, event string) {
	crd := declaration.MetadataOf(declaration.CRD())
	crd.SetName(strings.ToLower(w.Kind.Kind) + "." + w.Kind.Group)
	w.Tracker.ForgetValues(w.Kind.Index)
	for _, owner := range w.Tracker.Readers(w.Kind.Index) {
		if w.Groups != nil {
			w.Groups.Revive(owner)
		}
		w.Triggers.Note(owner, w.Kind.GroupVersionKind, trigger.Change{Event: event, After: crd})
		q.Add(ctrl.Request{NamespacedName: owner})
	}
}
