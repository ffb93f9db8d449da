package main

import "maps"

// queueCase is one that was not recorded: an evaluation that the queue does not admit is reported to its hub once, and marked. It stays.
// Its hub and its Job are those of a recorded case, with a workload in place of the pod.
func queueCase(recorded scenario) scenario {
	s := recorded
	s.Name = "evalhub-job-not-admitted-reported"
	s.Steps = append([]step(nil), recorded.Steps...)
	last := len(s.Steps) - 1
	name := s.Steps[last-1].Object["metadata"].(map[string]any)["name"]
	meta := map[string]any{"name": "wl", "namespace": "{tenant}"}
	owned := maps.Clone(meta)
	owned["ownerReferences"] = []any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": "{uid}"}}
	s.Steps[last].Object = map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": owned,
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "QuotaReserved", "status": "False", "reason": "Inadmissible", "message": "LocalQueue q is missing", "lastTransitionTime": "{now}",
		}}},
	}
	meta["annotations"] = map[string]any{"trustyai.opendatahub.io/evalhub-kueue-failed-workload-reported": "true"}
	s.Expect = expectation{HoldSeconds: 3, Exists: []map[string]any{
		{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "metadata": meta},
		{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{
			"name": name, "namespace": "{tenant}", "labels": map[string]any{"trustyai.opendatahub.io/evaluation-phase": "Failed"},
			"annotations": map[string]any{"trustyai.opendatahub.io/evaluation-status": map[string]any{"$contains": "cannot be admitted"}},
		}},
	}, HTTP: []any{map[string]any{"path": "/api/v1/evaluations/jobs/jid/events", "json": map[string]any{
		"benchmark_status_event": map[string]any{"error_message": map[string]any{"message_code": "queue_error"}},
	}}}}
	return s
}
