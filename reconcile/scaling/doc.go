// Package scaling shares the number of pods of a workload between an operator and an autoscaler: the operator decides between none and
// some, the autoscaler how many some are.
//
//	replicas, rules := scaling.Replicas(deployment.Spec.Replicas, scaling.Want{Replicas: smallest, Autoscaled: true, Zero: idle})
//	desired.Spec.Replicas = &replicas
//	plan.Apply(desired, rules)
//
//	the operator wants   with an autoscaler                        without
//	none                 0, taken from the autoscaler, which       0
//	                     leaves a workload at 0 alone
//	some, from none      Want.Replicas, then the autoscaler's      Want.Replicas
//	some, as before      what there is, and the autoscaler's       Want.Replicas, taken from whom it was
//
// An autoscaler that comes takes over what there is, and one that goes leaves Want.Replicas. What the autoscaler has set is never
// written again, in no lag of a cache and after no restart: the field is seeded ([apply.Seed]). A HorizontalPodAutoscaler writes by the
// scale subresource and does nothing at 0 pods, see
// https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation.
package scaling
