// Package settings provides the typed configuration of an operator from built-in values, a file, the environment, and a ConfigMap that
// may change while the operator runs.
//
// A pure function computes the configuration from its layers. [Check] uses the same function to check a file before it is installed.
// [Format.Merge] merges documents; the product decodes and validates the result:
//
//	func resolve(live *corev1.ConfigMap) (Config, error)
//
// [Load] is strict: an operator does not start with an invalid configuration. If the configuration becomes invalid later, the last valid
// one remains in use, and the log, an event on the ConfigMap, a metric and [Live.Err] report the error.
//
//	live, err := settings.Load(ctx, mgr.GetAPIReader(), settings.Source[Config]{ConfigMap: key, Resolve: resolve})
//	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
//	_, err = informer.AddEventHandler(live)
//
// A controller reads through its [Readers], which are also an event source. The owner is enqueued only if the value that it has read
// changes:
//
//	readers := live.Readers()
//	controller.New("runtimes", reconciler{settings: readers}).Reads(&corev1.ConfigMap{}).WatchesSource(readers)
//
//	func (r reconciler) FetchRemoteState(...) fetched {
//		return fetched{port: settings.Read(r.settings, rc.Request, func(c Config) int { return c.Port })}
//	}
package settings
