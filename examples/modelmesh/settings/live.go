package settings

import (
	"context"
	"sync"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/settings"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// ConfigMap is the name of the ConfigMap with the user's document, in the namespace of the operator.
const ConfigMap = "model-serving-config"

// Readers are the owners of one controller that read the configuration.
type Readers = settings.Readers[Config]

// Live is the current configuration, shared by all controllers of the operator. Create it with [NewLive].
type Live struct {
	namespace string
	load      sync.Once
	loaded    *settings.Live[Config]
	err       error
}

// NewLive returns the configuration of the operator's namespace. The setup of the first controller loads it.
func NewLive(namespace string) *Live { return &Live{namespace: namespace} }

// loadTimeout limits the read of the configuration at the start.
const loadTimeout = 30 * time.Second

func (l *Live) readers(mgr manager.Manager) (*Readers, error) {
	l.load.Do(func() {
		ctx, stop := context.WithTimeout(context.Background(), loadTimeout) //nolint:forbidigo // the setup has no context
		defer stop()
		l.loaded, l.err = settings.Load(ctx, mgr.GetAPIReader(), settings.Source[Config]{
			ConfigMap: client.ObjectKey{Namespace: l.namespace, Name: ConfigMap}, Resolve: FromConfigMap,
			Recorder: mgr.GetEventRecorder(ConfigMap), Log: mgr.GetLogger(),
		})
		if l.err != nil {
			return
		}
		informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
		if l.err = err; err == nil {
			_, l.err = informer.AddEventHandler(l.loaded)
		}
	})
	if l.err != nil {
		return nil, l.err
	}
	return l.loaded.Readers(), nil
}

// Get returns the current configuration, for uses without an owner. A controller must have been set up before.
func (l *Live) Get() Config { return l.loaded.Get() }

// Bind lets a controller read the configuration. Changes of the configuration enqueue its owners. The setup of the controller calls
// give with the readers, and fails if the configuration is invalid.
func (l *Live) Bind(b *controller.Builder, give func(*Readers)) *controller.Builder {
	var readers *Readers
	return b.Prepare(func(mgr manager.Manager) (err error) {
		readers, err = l.readers(mgr)
		give(readers)
		return err
	}).WatchesSource(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		return readers.Start(ctx, queue)
	}))
}
