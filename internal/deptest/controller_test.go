package deptest_test

import "slices"

// controllerLayers returns the layers of the controller, from the lowest to the highest.
func controllerLayers(all []string) map[string][]string {
	const internal = "reconcile/controller/internal/"
	order := []string{internal + "rights", "reconcile/controller/dataflow", internal + "tracking", internal + "shards", internal + "sparse", internal + "declaration", internal + "description", internal + "trigger", internal + "queue", internal + "tracked", internal + "observe", internal + "watching", internal + "groups", internal + "dryrun", internal + "multicluster"}
	out := map[string][]string{}
	for i, name := range order {
		out[name] = append(slices.Clone(all), order[:i]...)
	}
	out[internal+"declaration"] = append(out[internal+"declaration"], "reconcile/internal/groupkey")
	out[internal+"description"] = append(out[internal+"description"], "internal/plural")
	out[internal+"tracked"] = append(out[internal+"tracked"], "reconcile/internal/external", "reconcile/internal/groupkey", "reconcile/internal/derived")
	out[internal+"observe"] = append(out[internal+"observe"], "internal/text", "reconcile/explain", "reconcile/external")
	out[internal+"groups"] = append(out[internal+"groups"], "reconcile/internal/groupkey")
	out[internal+"dryrun"] = append(out[internal+"dryrun"], "reconcile/preview", "reconcile/apply/engine")
	out[internal+"rights"], out[internal+"shards"], out[internal+"tracking"] = nil, nil, []string{"reconcile/internal/derived"}
	out["reconcile/controller/dataflow"] = []string{internal + "rights", "reconcile/transition"}
	out["reconcile/controller"] = append(append(slices.Clone(all), "health/inspect", "internal/text", "reconcile/explain", "reconcile/preview",
		"reconcile/external", "reconcile/internal/external", "reconcile/transition", "reconcile/apply/engine", "reconcile/internal/groupkey", "reconcile/internal/derived"), order...)
	return out
}
