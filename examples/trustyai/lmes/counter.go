package lmes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/counters"
)

var evaluations = counters.Counter("trustyai_eval", "Evaluations by task, counted when their pod is created.",
	"eval_job_namespace", "framework", "model_type", "task", "model_name", "base_url")

// counter counts the created pods by their tasks.
type counter struct{ counters.Quiet }

// PassDone counts the tasks of a pod that this reconciliation has created.
func (counter) PassDone(_ context.Context, report reconcile.Report) {
	for i := range report.Plan.Children {
		pod, ok := report.Plan.Children[i].Object.(*corev1.Pod)
		if !ok || !made(report.Applied.Objects, pod) {
			continue
		}
		run := pod.Spec.Containers[0].Args
		model := map[string]string{}
		for pair := range strings.SplitSeq(argument(run, "--model_args"), ",") {
			name, value, _ := strings.Cut(pair, "=")
			model[name] = value
		}
		for task := range strings.SplitSeq(argument(run, "--tasks"), ",") {
			evaluations.WithLabelValues(pod.Namespace, "lm-evaluation-harness", argument(run, "--model"), task,
				cmp.Or(model["model"], model["pretrained"]), model["base_url"]).Inc()
		}
	}
}

// made reports whether this reconciliation has created the pod.
func made(objects []apply.ObjectResult, pod *corev1.Pod) bool {
	return slices.ContainsFunc(objects, func(o apply.ObjectResult) bool {
		return o.GVK.Kind == "Pod" && o.Key.Name == pod.Name && o.Created()
	})
}

// argument returns the argument after a flag, or the empty string.
func argument(run []string, flag string) string {
	if i := slices.Index(run, flag); i >= 0 && i+1 < len(run) {
		return run[i+1]
	}
	return ""
}
