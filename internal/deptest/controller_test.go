package deptest_test

import "slices"

// controllerFloors are those of the parts of the controller, each above those before it.
func controllerFloors(whole []string) map[string][]string {
	const rooms = "reconcile/controller/internal/"
	order := []string{rooms + "rights", "reconcile/controller/dataflow", rooms + "tracking", rooms + "shards", rooms + "sparse", rooms + "declaration", rooms + "description", rooms + "trigger", rooms + "queue", rooms + "tracked", rooms + "observe", rooms + "watching", rooms + "groups", rooms + "dryrun", rooms + "multicluster"}
	out := map[string][]string{}
	for i, room := range order {
		out[room] = append(slices.Clone(whole), order[:i]...)
	}
	out[rooms+"declaration"] = append(out[rooms+"declaration"], "reconcile/internal/groupkey")
	out[rooms+"description"] = append(out[rooms+"description"], "internal/plural")
	out[rooms+"tracked"] = append(out[rooms+"tracked"], "reconcile/internal/external", "reconcile/internal/groupkey", "reconcile/internal/derived")
	out[rooms+"observe"] = append(out[rooms+"observe"], "internal/text", "reconcile/explain", "reconcile/external")
	out[rooms+"groups"] = append(out[rooms+"groups"], "reconcile/internal/groupkey")
	out[rooms+"dryrun"] = append(out[rooms+"dryrun"], "reconcile/preview", "reconcile/apply/engine")
	out[rooms+"rights"], out[rooms+"shards"], out[rooms+"tracking"] = nil, nil, []string{"reconcile/internal/derived"}
	out["reconcile/controller/dataflow"] = []string{rooms + "rights", "reconcile/transition"}
	out["reconcile/controller"] = append(append(slices.Clone(whole), "health/inspect", "internal/text", "reconcile/explain", "reconcile/preview",
		"reconcile/external", "reconcile/internal/external", "reconcile/transition", "reconcile/apply/engine", "reconcile/internal/groupkey", "reconcile/internal/derived"), order...)
	return out
}
