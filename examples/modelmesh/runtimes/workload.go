package runtimes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/reconcile/apply"
	"github.com/reconcilekit/reconcilekit/reconcile/scaling"
	"github.com/reconcilekit/reconcilekit/reconcile/since"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/predictor"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// idleSince is the annotation of a Deployment with the time since when no model requests its runtime.
const idleSince = "reconcilekit.dev/idle-since"

// workload contains the children of a runtime.
type workload struct {
	deployment *appsv1.Deployment
	autoscaler *autoscalingv2.HorizontalPodAutoscaler // nil if there is none
	rules      []apply.ChildOption
	until      time.Time // when an idle runtime stops; zero if it does not
}

func (w *workload) apply(plan *reconcile.PlanResult) {
	plan.Apply(w.deployment, append(w.rules, apply.AdoptUncontrolled)...)
	if w.autoscaler != nil {
		plan.Apply(w.autoscaler, apply.AdoptUncontrolled)
	}
	if plan.RequeueAt.IsZero() || !w.until.IsZero() && w.until.Before(plan.RequeueAt) {
		plan.RequeueAt = w.until
	}
}

// workload returns the children of a runtime that serves models. It returns an error if the runtime is invalid.
func (f *fetched) workload(env settings.Environment, r *Runtime, name string) (*workload, error) {
	if err := f.missing[r.Name]; err != nil {
		return nil, err
	}
	scaled, err := autoscaling(r.Annotations)
	if err != nil {
		return nil, err
	}
	want := scaling.Want{Replicas: int32(f.config.PodsPerRuntime), Autoscaled: scaled != nil}
	if r.Spec.Replicas != nil {
		want.Replicas = int32(*r.Spec.Replicas)
	}
	if scaled != nil {
		want.Replicas = scaled.smallest
	}
	idle := f.idle(r, name)
	want.Zero = idle.Due && f.config.ScaleToZero.Enabled
	var current *int32
	if stored := f.current[name]; stored != nil {
		current = stored.Spec.Replicas
	}
	replicas, rules := scaling.Replicas(current, want)
	in := Input{
		Runtime: *r, Namespace: f.namespace, Config: f.config, EtcdSecret: env.EtcdSecretName(f.config),
		StorageSecret: f.config.StorageSecretName, Claims: f.claimsOf(r), Replicas: replicas,
	}
	if f.tls.Value != nil {
		_, in.CA = f.tls.Value.Data["ca.crt"]
	}
	w := &workload{rules: []apply.ChildOption{rules, idle.Rules()}}
	if f.config.ScaleToZero.Enabled {
		w.until = idle.At
	}
	if w.deployment, err = Deployment(in); err != nil {
		return nil, err
	}
	w.deployment.OwnerReferences = r.Owner
	idle.Mark(w.deployment)
	if scaled != nil && replicas > 0 {
		w.autoscaler = scaled.object(r, w.deployment)
	}
	return w, nil
}

// idle returns since when no model requests the runtime. The grace period is over if no model has since the Deployment was created, or
// if there are no pods.
func (f *fetched) idle(r *Runtime, name string) since.State {
	stored, now := f.current[name], f.now
	fact := since.Fact{Annotation: idleSince, For: time.Duration(f.config.ScaleToZero.GracePeriodSeconds) * time.Second}
	switch {
	case stored == nil:
		fact.For, now = 0, since.Always()
	case stored.Spec.Replicas != nil && *stored.Spec.Replicas == 0:
		fact.For = 0
	}
	used := slices.ContainsFunc(f.predictors, func(p v1alpha1.Predictor) bool { return f.serves(r, &p) })
	return fact.Of(stored, !used, now)
}

// serves reports whether the runtime may load the model of a Predictor. A Predictor that is being deleted counts until its model is
// gone.
func (f *fetched) serves(r *Runtime, p *v1alpha1.Predictor) bool {
	labels := r.Labels(f.config.RESTProxy.Enabled)
	for label := range strings.SplitSeq(predictor.TypeLabel(&p.Spec), "|") {
		if !slices.Contains(labels, label) {
			return false
		}
	}
	return true
}

const claimType = "pvc"

// claimOf returns the claim with the model of a Predictor, or the empty string.
func claimOf(p *v1alpha1.Predictor) string {
	if s := p.Spec.Storage; s != nil && s.Parameters["type"] == claimType {
		return s.Parameters["name"]
	}
	return ""
}

// claimsOf returns the claims with models for the runtime, sorted: those of the storage Secret, and those that its models name.
func (f *fetched) claimsOf(r *Runtime) []string {
	var names []string
	if f.storage.Value != nil {
		for _, entry := range f.storage.Value.Data {
			var parsed struct{ Type, Name any }
			if json.Unmarshal(entry, &parsed) != nil || parsed.Type != claimType {
				continue // names no claim
			}
			if name, _ := parsed.Name.(string); name != "" {
				names = append(names, name)
			}
		}
	}
	for i := range f.predictors {
		if name := claimOf(&f.predictors[i]); f.claims[name] && f.serves(r, &f.predictors[i]) {
			names = append(names, name)
		}
	}
	return sorted(names)
}
