package engine_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/reconcilekit/reconcilekit/reconcile/apply"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}
}

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
}

// podTemplate has values that API servers normalise: ports without protocol, environment with an
// empty value and a fieldRef without apiVersion, quantities.
func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: "sa",
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/app:1",
				Ports: []corev1.ContainerPort{{ContainerPort: 8080}, {ContainerPort: 53, Protocol: corev1.ProtocolUDP}, {ContainerPort: 53}},
				Env: []corev1.EnvVar{
					{Name: "EMPTY"},
					{Name: "A", Value: "1"},
					{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
					{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
				},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("0.5"), "memory": resource.MustParse("1024Mi")},
					Limits:   corev1.ResourceList{"cpu": resource.MustParse("1000m")},
				},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}}},
				VolumeMounts:   []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
			}},
			Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}},
			Volumes: []corev1.Volume{
				{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "cfg", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "cm"}}}},
				{Name: "tok", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
					{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
						{Path: "n", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
					}}},
				}}}},
			},
		},
	}
}

func podTemplateJob() corev1.PodTemplateSpec {
	t := podTemplate()
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	return t
}

// everydayKinds returns one object of each common kind, each
// with the values that servers are known to normalise.
func everydayKinds() []client.Object {
	prefix := networkingv1.PathTypePrefix
	port := gatewayv1.PortNumber(80)
	return []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta("cm"), Data: map[string]string{"a": "1", "empty": ""}},
		&corev1.Secret{ObjectMeta: meta("secret"), StringData: map[string]string{"token": "t"}, Data: map[string][]byte{"raw": []byte("r")}},
		&corev1.ServiceAccount{ObjectMeta: meta("sa")},
		&corev1.Service{ObjectMeta: meta("svc"), Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "x"}, Ports: []corev1.ServicePort{{Port: 80, Name: "http"}, {Port: 53, Protocol: "UDP", Name: "dns"}},
		}},
		&corev1.PersistentVolumeClaim{ObjectMeta: meta("pvc"), Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1024Mi")}},
		}},
		&appsv1.Deployment{ObjectMeta: meta("deploy"), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: podTemplate(), Replicas: new(int32(2))}},
		&appsv1.StatefulSet{ObjectMeta: meta("sts"), Spec: appsv1.StatefulSetSpec{
			Selector: selector(), Template: podTemplate(), ServiceName: "svc", Replicas: new(int32(0)),
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1024Mi")}},
				},
			}},
		}},
		&appsv1.DaemonSet{ObjectMeta: meta("ds"), Spec: appsv1.DaemonSetSpec{Selector: selector(), Template: podTemplate()}},
		&batchv1.Job{ObjectMeta: meta("job"), Spec: batchv1.JobSpec{Template: podTemplateJob(), PodFailurePolicy: &batchv1.PodFailurePolicy{
			Rules: []batchv1.PodFailurePolicyRule{{Action: "Ignore", OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "DisruptionTarget"}}}},
		}}},
		&batchv1.CronJob{ObjectMeta: meta("cron"), Spec: batchv1.CronJobSpec{
			Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: podTemplateJob()}},
		}},
		&rbacv1.Role{ObjectMeta: meta("role"), Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{ObjectMeta: meta("rb"), RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "role"}, Subjects: []rbacv1.Subject{
			{Kind: "ServiceAccount", Name: "sa", Namespace: "default"}, {Kind: "User", Name: "u"},
		}},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta("hpa"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "deploy"},
			MaxReplicas:    3,
			Metrics: []autoscalingv2.MetricSpec{
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{Type: "Utilization", AverageUtilization: new(int32(80))}}},
				{Type: "Resource", Resource: &autoscalingv2.ResourceMetricSource{Name: "memory", Target: autoscalingv2.MetricTarget{Type: "AverageValue", AverageValue: new(resource.MustParse("1024Mi"))}}},
			},
		}},
		&networkingv1.Ingress{ObjectMeta: meta("ing"), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host: "x.example", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: "/", PathType: &prefix, Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "svc", Port: networkingv1.ServiceBackendPort{Number: 80}}},
			}}}},
		}}}},
		&networkingv1.NetworkPolicy{ObjectMeta: meta("np"), Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{Ports: []networkingv1.NetworkPolicyPort{{Port: new(intstr.FromInt32(80))}}, From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}},
			Egress:      []networkingv1.NetworkPolicyEgressRule{},
		}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("pdb"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector(), MinAvailable: new(intstr.FromString("50%"))}},
		&gatewayv1.HTTPRoute{ObjectMeta: meta("route"), Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Name: "gw"}}},
			Rules: []gatewayv1.HTTPRouteRule{
				{BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{Name: "svc", Port: &port}}}}},
				{Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{Value: new("/x")}}}},
			},
		}},
	}
}

func planOf(objects func() []client.Object) func() apply.Plan {
	return func() apply.Plan {
		var s apply.Plan
		for _, o := range objects() {
			s.Apply(o)
		}
		return s
	}
}

var _ = Describe("An owner with children of common kinds", func() {
	It("causes one write per child and one for the owner, then none, also after a restart", func() {
		w := newWorld()
		plan := planOf(everydayKinds)
		result, sent := w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(HaveLen(len(everydayKinds()) + 1))
		w.quiet(3, plan)
		w.synced(plan)
		w.quiet(3, plan)

		w.restart()
		result, sent = w.pass(plan())
		Expect(result.Err()).NotTo(HaveOccurred())
		Expect(sent).To(BeEmpty())
	})
})
