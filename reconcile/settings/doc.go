// Package settings keeps the typed configuration of an operator current: built-in values, a file, the environment, and a ConfigMap that
// may change while the operator runs.
//
// What the configuration is follows from its layers by a pure function, which is also what checks a file before it is installed
// ([Check]). [Format.Merge] lays documents over each other; decoding and validating the result belongs to the product:
//
//	func resolve(live *corev1.ConfigMap) (Config, error)
//
// [Load] is strict: an operator does not start with a configuration that is wrong. Later a wrong one changes nothing: the last good
// one stays, and the log, an event on the ConfigMap, a metric and [Live.Err] say what is wrong, until it is mended.
//
//	live, err := settings.Load(ctx, mgr.GetAPIReader(), settings.Source[Config]{ConfigMap: key, Resolve: resolve})
//	informer, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
//	_, err = informer.AddEventHandler(live)
//
// A controller reads through its [Readers], which are a source of events of it. A read wakes the owner again when the value that it has
// seen changes, and only then:
//
//	readers := live.Readers()
//	controller.New("runtimes", reconciler{settings: readers}).Reads(&corev1.ConfigMap{}).WatchesSource(readers)
//
//	func (r reconciler) FetchRemoteState(...) fetched {
//		return fetched{port: settings.Read(r.settings, rc.Request, func(c Config) int { return c.Port })}
//	}
package settings
