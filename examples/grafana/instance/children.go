package instance

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	acapps "k8s.io/client-go/applyconfigurations/apps/v1"
	accore "k8s.io/client-go/applyconfigurations/core/v1"
	acmeta "k8s.io/client-go/applyconfigurations/meta/v1"
	acnetworking "k8s.io/client-go/applyconfigurations/networking/v1"

	v1beta1 "github.com/reconcilekit/reconcilekit/examples/grafana/api/v1beta1"
)

// The image of a server without spec.version.
const (
	repository     = "docker.io/grafana/grafana"
	defaultVersion = "12.3.0"
	portName       = "grafana"
)

func labels(g *v1beta1.Grafana) map[string]string {
	return map[string]string{"app": g.Name, "app.kubernetes.io/managed-by": "grafana-operator"}
}

// image returns the image for spec.version, which is an image if it has a slash, a colon or a digest.
func image(version string) string {
	if strings.ContainsAny(version, "/:@") {
		return version
	}
	return repository + ":" + cmp.Or(version, defaultVersion)
}

// configMap returns the ConfigMap with grafana.ini.
func configMap(g *v1beta1.Grafana) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name + "-ini", Labels: labels(g)},
		Data:       map[string]string{"grafana.ini": ini(withPaths(g.Spec.Config))},
	}
}

// deployment returns the Deployment of the server. A change of grafana.ini restarts it, because the environment has its hash.
func deployment(g *v1beta1.Grafana) (*acapps.DeploymentApplyConfiguration, error) {
	port, err := strconv.ParseInt(g.Port(), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("spec.config.server.http_port is %q: want a number", g.Port())
	}
	config := configMap(g)
	hash := sha256.Sum256([]byte(config.Data["grafana.ini"]))
	server := accore.Container().WithName("grafana").WithImage(image(g.Spec.Version)).
		WithArgs("-config=/etc/grafana/grafana.ini").
		WithPorts(accore.ContainerPort().WithName(portName).WithContainerPort(int32(port)).WithProtocol(corev1.ProtocolTCP)).
		WithEnv(accore.EnvVar().WithName("CONFIG_HASH").WithValue(hex.EncodeToString(hash[:])),
			accore.EnvVar().WithName("TMPDIR").WithValue("/var/lib/grafana")).
		WithResources(accore.ResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")}).
			WithLimits(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")})).
		WithSecurityContext(accore.SecurityContext().WithAllowPrivilegeEscalation(false).WithRunAsNonRoot(true).WithReadOnlyRootFilesystem(true).
			WithCapabilities(accore.Capabilities().WithDrop("ALL")).
			WithSeccompProfile(accore.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithReadinessProbe(accore.Probe().WithHTTPGet(accore.HTTPGetAction().WithPath("/api/health").WithPort(intstr.FromString(portName)))).
		WithVolumeMounts(accore.VolumeMount().WithName("grafana-ini").WithMountPath("/etc/grafana/"),
			accore.VolumeMount().WithName("grafana-data").WithMountPath("/var/lib/grafana"),
			accore.VolumeMount().WithName("grafana-logs").WithMountPath("/var/log/grafana"))
	if !g.Spec.DisableDefaultAdminSecret {
		for _, key := range []string{v1beta1.AdminUserKey, v1beta1.AdminPasswordKey} {
			server.WithEnv(accore.EnvVar().WithName(key).WithValueFrom(
				accore.EnvVarSource().WithSecretKeyRef(accore.SecretKeySelector().WithName(g.AdminSecret()).WithKey(key))))
		}
	}
	empty := func(name string) *accore.VolumeApplyConfiguration {
		return accore.Volume().WithName(name).WithEmptyDir(accore.EmptyDirVolumeSource())
	}
	selector := map[string]string{"app": g.Name}
	planned := acapps.Deployment(g.Name+"-deployment", g.Namespace).WithLabels(labels(g)).WithSpec(acapps.DeploymentSpec().
		WithReplicas(1).
		WithSelector(acmeta.LabelSelector().WithMatchLabels(selector)).
		WithTemplate(accore.PodTemplateSpec().WithLabels(selector).WithSpec(accore.PodSpec().WithContainers(server).
			WithVolumes(empty("grafana-data"), empty("grafana-logs"), accore.Volume().WithName("grafana-ini").
				WithConfigMap(accore.ConfigMapVolumeSource().WithName(config.Name))))))
	return override(planned, "deployment", g.Spec.Deployment, appsv1.Deployment{})
}

// service returns the Service of the server.
func service(g *v1beta1.Grafana) (*accore.ServiceApplyConfiguration, error) {
	port, _ := strconv.ParseInt(g.Port(), 10, 32) // deployment reports the error
	planned := accore.Service(g.ServiceName(), g.Namespace).WithLabels(labels(g)).WithSpec(accore.ServiceSpec().
		WithSelector(map[string]string{"app": g.Name}).
		WithPorts(accore.ServicePort().WithName(portName).WithPort(int32(port)).WithTargetPort(intstr.FromString(portName)).
			WithProtocol(corev1.ProtocolTCP)))
	return override(planned, "service", g.Spec.Service, corev1.Service{})
}

// volumeClaim returns the claim of the user.
func volumeClaim(g *v1beta1.Grafana) (*accore.PersistentVolumeClaimApplyConfiguration, error) {
	planned := accore.PersistentVolumeClaim(g.Name+"-pvc", g.Namespace).WithLabels(labels(g))
	return override(planned, "persistentVolumeClaim", g.Spec.PersistentVolumeClaim, corev1.PersistentVolumeClaim{})
}

// ingress returns the Ingress of the user.
func ingress(g *v1beta1.Grafana) (*acnetworking.IngressApplyConfiguration, error) {
	planned := acnetworking.Ingress(g.Name+"-ingress", g.Namespace).WithLabels(labels(g))
	return override(planned, "ingress", g.Spec.Ingress, networkingv1.Ingress{})
}

// override returns a planned child with the fields of the user. The type of the object determines how lists are merged.
func override[C any](planned *C, field string, user *v1beta1.Override, object any) (*C, error) {
	if user == nil {
		return planned, nil
	}
	base, err := json.Marshal(planned)
	patch, patchErr := json.Marshal(user)
	if err := errors.Join(err, patchErr); err != nil {
		return nil, fmt.Errorf("spec.%s: %w", field, err)
	}
	merged, err := strategicpatch.StrategicMergePatch(base, patch, object)
	if err != nil {
		return nil, fmt.Errorf("spec.%s: %w", field, err)
	}
	result := new(C)
	decoder := json.NewDecoder(strings.NewReader(string(merged)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(result); err != nil {
		return nil, fmt.Errorf("spec.%s: %w", field, err)
	}
	return result, nil
}
