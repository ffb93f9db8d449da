// Package scaling shares the replica count of a workload between an operator and an autoscaler: the operator decides zero or non-zero,
// the autoscaler decides how many.
//
//	replicas, rules := scaling.Replicas(deployment.Spec.Replicas, scaling.Want{Replicas: smallest, Autoscaled: true, Zero: idle})
//	desired.Spec.Replicas = &replicas
//	plan.Apply(desired, rules)
//
//	the operator wants   with an autoscaler                        without
//	zero                 0; the autoscaler does not            0
//	                     scale a workload at 0
//	non-zero, from zero  Want.Replicas, then the autoscaler's      Want.Replicas
//	non-zero, as before  the current number, the autoscaler's      Want.Replicas
//
// A new autoscaler starts from the current number. After the removal of an autoscaler the number is Want.Replicas. The operator never
// overwrites the autoscaler's number, neither with a stale cache nor after a restart, because the field is seeded ([apply.Seed]). A
// HorizontalPodAutoscaler writes to the scale subresource and does not scale a workload at 0 pods, see
// https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation.
package scaling
