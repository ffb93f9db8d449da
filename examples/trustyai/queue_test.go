package main

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/kueue"
)

// queueCase returns an additional case: an evaluation that the queue does not admit is reported to its hub once and
// annotated, and is kept. The hub and the Job are those of a recorded case, with a workload in place of the pod.
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
			"type": "QuotaReserved", "status": "False", "reason": "Inadmissible", "message": "LocalQueue q is missing",
			"lastTransitionTime": "{now}",
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

// workloadCase returns an additional case: the queue's decision for a job is removed with the workload.
func workloadCase() scenario {
	owner := map[string]any{
		"apiVersion": "trustyai.opendatahub.io/v1alpha1", "kind": "LMEvalJob", "name": "job", "uid": "{uid}", "controller": true,
	}
	job := map[string]any{
		"apiVersion": owner["apiVersion"], "kind": owner["kind"], "metadata": map[string]any{"namespace": "{ns}", "name": "job"},
	}
	given, placed := maps.Clone(job), maps.Clone(job)
	given["spec"] = map[string]any{
		"model": "hf", "taskList": map[string]any{"taskNames": []any{"task1"}}, "pod": map[string]any{"container": map[string]any{}},
	}
	placed["spec"] = map[string]any{"suspend": false, "pod": map[string]any{"affinity": onNodes("speed", "low")}}
	return scenario{
		Name: "jobmgr-workload-goes", Controller: "jobmgr",
		Given: []map[string]any{
			{
				"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": map[string]any{"name": "slow"},
				"spec": map[string]any{"nodeLabels": map[string]any{"speed": "low"}},
			},
			given,
			{
				"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
				"metadata": map[string]any{"namespace": "{ns}", "name": "wl", "ownerReferences": []any{owner}},
				"spec":     map[string]any{"queueName": "q"},
				"status": map[string]any{
					"conditions": []any{map[string]any{
						"type": "Admitted", "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "{now}",
					}},
					"admission": map[string]any{
						"clusterQueue": "cq", "podSetAssignments": []any{map[string]any{"name": "job", "flavors": map[string]any{"cpu": "slow"}}},
					},
				},
			},
		},
		Expect: expectation{Exists: []map[string]any{placed}},
	}
}

// onNodes returns the affinity to nodes with a label.
func onNodes(label, value string) map[string]any {
	terms := []any{map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": "In", "values": []any{value}}}}}
	return map[string]any{"nodeAffinity": map[string]any{
		"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{"nodeSelectorTerms": terms},
	}}
}

// migrationCase returns an additional case: the annotation that requests a migration is removed, other annotations of
// the user are kept.
func migrationCase(recorded scenario) scenario {
	s := recorded
	s.Name = "tas-migration-annotation-goes"
	meta := map[string]any{"name": "svc", "namespace": "{ns}"}
	patched := maps.Clone(meta)
	patched["annotations"] = map[string]any{"trustyai.opendatahub.io/db-migration": "true", "mine": "1"}
	service := func(meta map[string]any) map[string]any {
		return map[string]any{"apiVersion": "trustyai.opendatahub.io/v1", "kind": "TrustyAIService", "metadata": meta}
	}
	meta["annotations"] = map[string]any{"trustyai.opendatahub.io/db-migration": map[string]any{"$absent": true}, "mine": "1"}
	s.Steps = []step{{Do: "patch", Object: service(patched)}}
	s.Expect = expectation{Exists: []map[string]any{service(meta)}}
	return s
}

// TestManagedScenarios runs the recorded cases of the job manager.
func TestManagedScenarios(t *testing.T) {
	w := newCluster(t, "LMES,JOB_MGR")
	configured := false
	for _, s := range scenarios(t) {
		if s.Controller != "jobmgr" {
			continue
		}
		if !configured {
			w.configure(t, s.settings())
			configured = true
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
			p.play(s)
		})
	}
	t.Run("queue", func(t *testing.T) {
		t.Parallel()
		w.playQueue(t)
	})
}

// playQueue acts as the queue: it admits a job, evicts it, admits it again, and waits until the workload says that the
// job has ended.
func (w *cluster) playQueue(t *testing.T) {
	t.Helper()
	p := &player{cluster: w, T: t, ns: w.env.Namespace(t)}
	job := map[string]any{"apiVersion": "trustyai.opendatahub.io/v1alpha1", "kind": "LMEvalJob"}
	job["metadata"] = map[string]any{"namespace": "{ns}", "name": "job", "labels": map[string]any{"kueue.x-k8s.io/queue-name": "q"}}
	spec := map[string]any{"model": "hf", "taskList": map[string]any{"taskNames": []any{"task1"}}}
	waiting, pod := maps.Clone(job), map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "{ns}", "name": "job"},
	}
	waiting["spec"] = spec
	p.create(map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": map[string]any{"name": "fast"},
		"spec": map[string]any{"nodeLabels": map[string]any{"speed": "high"}},
	})
	p.create(waiting)
	with := func(key string, value any) map[string]any {
		out := maps.Clone(job)
		out[key] = value
		return out
	}
	state := func(state string) map[string]any { return with("status", map[string]any{"state": state}) }
	p.expect(expectation{Exists: []map[string]any{state("Suspended")}, Absent: []map[string]any{pod}})
	var workloads kueue.WorkloadList
	p.eventually("find the workload", 20*time.Second, func() error {
		err := p.env.Client().List(p.Context(), &workloads, client.InNamespace(p.ns))
		if err == nil && (len(workloads.Items) != 1 || workloads.Items[0].Spec.QueueName != "q") {
			err = fmt.Errorf("the workloads are %s", text(workloads.Items))
		}
		return err
	})
	name := workloads.Items[0].Name
	workload := map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": map[string]any{"namespace": "{ns}", "name": name},
	}
	decide := func(evicted, admitted string) {
		t.Helper()
		list := []any{}
		for _, c := range [][2]string{{"QuotaReserved", admitted}, {"Admitted", admitted}, {"Evicted", evicted}} {
			list = append(list, map[string]any{
				"type": c[0], "status": c[1], "reason": "Test" + c[0], "message": "m", "lastTransitionTime": "{now}",
			})
		}
		decided := maps.Clone(workload)
		decided["status"] = map[string]any{"conditions": list, "admission": map[string]any{
			"clusterQueue": "cq", "podSetAssignments": []any{map[string]any{"name": "job", "flavors": map[string]any{"cpu": "fast"}}},
		}}
		p.must(p.patch(decided, true))
	}
	placed := onNodes("speed", "high")
	running := []map[string]any{
		state("Scheduled"), with("spec", map[string]any{"suspend": false, "pod": map[string]any{"affinity": placed}}),
		{"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"], "spec": map[string]any{"affinity": placed}},
	}
	conditions := func(list ...any) map[string]any {
		out := maps.Clone(workload)
		out["status"] = map[string]any{"conditions": list}
		return out
	}
	condition := func(kind, status, reason string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason}
	}
	decide("False", "True")
	p.expect(expectation{Exists: running, Events: []map[string]any{
		{"type": "Normal", "reason": "CreatedWorkload"}, {"type": "Normal", "reason": "Started", "message": "Admitted by clusterQueue cq"},
	}})
	decide("True", "True")
	p.expect(expectation{Absent: []map[string]any{pod}, Exists: []map[string]any{
		state("Suspended"), with("spec", map[string]any{"suspend": true, "pod": map[string]any{"$absent": true}}),
		conditions(
			condition("QuotaReserved", "False", "Pending"), condition("Admitted", "False", "NoReservation"),
			condition("Requeued", "True", "TestEvicted"),
		),
	}, Events: []map[string]any{{"reason": "Stopped"}}})
	decide("False", "True")
	p.expect(expectation{Exists: append(running, conditions(condition("QuotaReserved", "True", "TestQuotaReserved")))})
	ended := maps.Clone(pod)
	ended["status"] = map[string]any{"containerStatuses": []any{map[string]any{
		"name": "main", "image": "i", "imageID": "i", "ready": false, "restartCount": 0,
		"state": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error"}},
	}}}
	p.must(p.patch(ended, true))
	p.expect(expectation{HoldSeconds: 1, Exists: []map[string]any{
		state("Complete"), with("spec", map[string]any{"suspend": false}), conditions(condition("Finished", "True", "Failed")),
	}})
}
