package runtimes

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/reconcilekit/reconcilekit/layers/podtemplate"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/settings"
)

// Input contains the inputs of a Deployment.
type Input struct {
	Runtime
	Namespace string
	Config    settings.Config
	// EtcdSecret and StorageSecret are the names of the Secrets that the pods mount.
	EtcdSecret, StorageSecret string
	// Claims are the volume claims with models, sorted.
	Claims []string
	// CA reports whether the TLS Secret contains the certificate of an authority.
	CA bool
	// Replicas is the number of pods.
	Replicas int32
}

const gracePeriod int64 = 90 // seconds, in which a pod hands its models over

// Deployment returns the Deployment of the runtime, without an owner. It returns an error if the spec is invalid or contradicts the
// configuration.
func Deployment(in Input) (*appsv1.Deployment, error) {
	b, err := newBuild(in)
	if err != nil {
		return nil, err
	}
	name := in.Config.InferenceServiceName + "-" + in.Name
	selector := map[string]string{"modelmesh-service": in.Config.InferenceServiceName, "name": name}
	labels := settings.Labels()
	maps.Copy(labels, selector)
	base := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: b.containers(), Volumes: b.volumes(),
		ServiceAccountName: in.Config.ServiceAccountName, TerminationGracePeriodSeconds: new(gracePeriod),
		NodeSelector: in.Spec.NodeSelector, Tolerations: in.Spec.Tolerations, Affinity: affinity(in.Spec.Affinity),
	}}
	base.Labels = labels
	base.Annotations = b.scraped()
	template, err := podtemplate.Compose(base,
		podtemplate.Part{From: "the selector", Labels: selector}, // the API server would refuse the user's values here
		podtemplate.Part{
			From: "spec", Labels: in.Spec.Labels, Annotations: in.Spec.Annotations, PullSecrets: in.Spec.ImagePullSecrets,
		},
		podtemplate.Part{
			From: "the configuration", Labels: in.Config.RuntimePodLabels, Annotations: in.Config.RuntimePodAnnotations,
			PullSecrets: references(in.Config.ImagePullSecrets),
		})
	if err != nil {
		return nil, fmt.Errorf("compose the pods: %w", err)
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(in.Replicas), Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: template,
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxSurge: new(intstr.FromString("75%")), MaxUnavailable: new(intstr.FromString("15%")),
			}},
		},
	}, nil
}

func references(names []settings.Named) []corev1.LocalObjectReference {
	var list []corev1.LocalObjectReference
	for _, n := range names {
		list = append(list, corev1.LocalObjectReference{Name: n.Name})
	}
	return list
}

// affinity returns the affinity of the user, restricted to nodes with supported processors. Terms are alternatives, so each gets the
// restriction.
func affinity(user *corev1.Affinity) *corev1.Affinity {
	out := cmp.Or(user.DeepCopy(), &corev1.Affinity{})
	out.NodeAffinity = cmp.Or(out.NodeAffinity, &corev1.NodeAffinity{})
	selector := cmp.Or(out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, &corev1.NodeSelector{})
	out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = selector
	if len(selector.NodeSelectorTerms) == 0 {
		selector.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	for i := range selector.NodeSelectorTerms {
		term := &selector.NodeSelectorTerms[i]
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64", "s390x"},
		})
	}
	return out
}
