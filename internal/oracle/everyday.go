package oracle

import (
	"encoding/json"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	acapps "k8s.io/client-go/applyconfigurations/apps/v1"
	acautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v2"
	acbatch "k8s.io/client-go/applyconfigurations/batch/v1"
	accore "k8s.io/client-go/applyconfigurations/core/v1"
	acnetworking "k8s.io/client-go/applyconfigurations/networking/v1"
	acpolicy "k8s.io/client-go/applyconfigurations/policy/v1"
	acrbac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// everyday is a common kind with the base of its random plans.
type everyday struct {
	goType client.Object
	// configuration returns an empty apply configuration; nil if there is none.
	configuration func() runtime.ApplyConfiguration
	bases         []string
}

func configuration[T any, P interface {
	*T
	runtime.ApplyConfiguration
}]() func() runtime.ApplyConfiguration {
	return func() runtime.ApplyConfiguration { return P(new(T)) }
}

// everydayKinds returns the common kinds. In a base, POD is replaced by a pod template.
func everydayKinds() []everyday {
	return slices.Concat(configKinds(), workloadKinds(), networkKinds(), policyKinds())
}

func configKinds() []everyday {
	return []everyday{
		{&corev1.ConfigMap{}, configuration[accore.ConfigMapApplyConfiguration](), []string{
			`{"data":{"a":"1","b":"","app.properties":"x=1"}}`, `{"data":{"a":"1"},"binaryData":{"b":"AAE="}}`, `{}`,
		}},
		{&corev1.Secret{}, configuration[accore.SecretApplyConfiguration](), []string{
			`{"data":{"a":"MQ=="},"stringData":{"b":"1.0"}}`, `{"stringData":{"a":"1","c":""},"type":"Opaque"}`, `{"data":{"a":""}}`,
		}},
		{&corev1.Service{}, configuration[accore.ServiceApplyConfiguration](), []string{
			`{"spec":{"selector":{"app":"x"},"ports":[{"port":80}]}}`,
			`{"spec":{"selector":{"app":"x"},"ports":[{"name":"a","port":80,"targetPort":"http"},{"name":"b","port":81,"protocol":"UDP","targetPort":8080}]}}`,
			`{"spec":{"clusterIP":"None","selector":{"app":"x"},"publishNotReadyAddresses":true}}`,
			`{"spec":{"type":"ExternalName","externalName":"example.com"}}`,
			`{"spec":{"type":"NodePort","selector":{"app":"x"},"ports":[{"name":"a","port":443,"protocol":"TCP"}],"sessionAffinity":"ClientIP"}}`,
		}},
		{&corev1.ServiceAccount{}, configuration[accore.ServiceAccountApplyConfiguration](), []string{
			`{}`, `{"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"a"},{"name":"b"}]}`,
		}},
		{&corev1.PersistentVolumeClaim{}, configuration[accore.PersistentVolumeClaimApplyConfiguration](), []string{
			`{"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`,
			`{"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"","volumeMode":"Filesystem","resources":{"requests":{"storage":"1024Mi"}}}}`,
		}},
	}
}

func workloadKinds() []everyday {
	return []everyday{
		{&appsv1.Deployment{}, configuration[acapps.DeploymentApplyConfiguration](), []string{
			`{"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
			`{"spec":{"selector":{"matchLabels":{"app":"x"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":1}},"template":POD}}`,
			`{"spec":{"replicas":0,"paused":true,"strategy":{"type":"Recreate"},"selector":{"matchExpressions":[{"key":"app","operator":"In","values":["x"]}]},"template":POD}}`,
		}},
		{&appsv1.StatefulSet{}, configuration[acapps.StatefulSetApplyConfiguration](), []string{
			`{"spec":{"serviceName":"s","selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
			`{"spec":{"replicas":1,"serviceName":"s","podManagementPolicy":"Parallel","selector":{"matchLabels":{"app":"x"}},"template":POD,
			"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`,
		}},
		{&appsv1.DaemonSet{}, configuration[acapps.DaemonSetApplyConfiguration](), []string{
			`{"spec":{"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
		}},
		{&batchv1.CronJob{}, configuration[acbatch.CronJobApplyConfiguration](), []string{
			`{"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":JOBPOD}}}}`,
			`{"spec":{"schedule":"0 * * * *","suspend":false,"concurrencyPolicy":"Forbid","successfulJobsHistoryLimit":0,"jobTemplate":{"metadata":{"labels":{"a":"b"}},"spec":{"backoffLimit":0,"template":JOBPOD}}}}`,
		}},
	}
}

func policyKinds() []everyday {
	return []everyday{
		{&rbacv1.Role{}, configuration[acrbac.RoleApplyConfiguration](), []string{
			`{"rules":[{"apiGroups":[""],"resources":["pods","pods/log"],"verbs":["get","list"]},{"apiGroups":["apps"],"resources":["deployments"],"resourceNames":["a"],"verbs":["*"]}]}`,
			`{"rules":[]}`,
		}},
		{&rbacv1.RoleBinding{}, configuration[acrbac.RoleBindingApplyConfiguration](), []string{
			`{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"b"},{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"}]}`,
			`{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"g"}]}`,
		}},
	}
}

func networkKinds() []everyday {
	return []everyday{
		{&networkingv1.Ingress{}, configuration[acnetworking.IngressApplyConfiguration](), []string{
			`{"spec":{"rules":[{"host":"a.example.com","http":{"paths":[{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}}`,
			`{"spec":{"ingressClassName":"c","tls":[{"hosts":["a.example.com"],"secretName":"t"}],"defaultBackend":{"service":{"name":"s","port":{"name":"http"}}}}}`,
		}},
		{&networkingv1.NetworkPolicy{}, configuration[acnetworking.NetworkPolicyApplyConfiguration](), []string{
			`{"spec":{"podSelector":{},"policyTypes":["Ingress"]}}`,
			`{"spec":{"podSelector":{"matchLabels":{"app":"x"}},"ingress":[{"from":[{"podSelector":{}},{"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}],"ports":[{"port":80},{"port":"http","protocol":"UDP"}]}],"egress":[{}]}}`,
		}},
		{&autoscalingv2.HorizontalPodAutoscaler{}, configuration[acautoscaling.HorizontalPodAutoscalerApplyConfiguration](), []string{
			`{"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]}}`,
			`{"spec":{"minReplicas":1,"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"metrics":[{"type":"External","external":{"metric":{"name":"m"},"target":{"type":"Value","value":"1000m"}}},
			{"type":"Pods","pods":{"metric":{"name":"p"},"target":{"type":"AverageValue","averageValue":"0.5"}}}],"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":1,"periodSeconds":60}]}}}}`,
		}},
		{&policyv1.PodDisruptionBudget{}, configuration[acpolicy.PodDisruptionBudgetApplyConfiguration](), []string{
			`{"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}}`,
			`{"spec":{"maxUnavailable":"50%","selector":{},"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`,
		}},
		{&gatewayv1.HTTPRoute{}, nil, []string{
			`{"spec":{"parentRefs":[{"name":"g"}],"rules":[{"backendRefs":[{"name":"s","port":80}]}]}}`,
			`{"spec":{"hostnames":["a.example.com"],"parentRefs":[{"name":"g","namespace":"n","sectionName":"s"}],"rules":[{"matches":[{"path":{"type":"Exact","value":"/a"},"headers":[{"name":"h","value":"1"}]}],
			"filters":[{"type":"RequestRedirect","requestRedirect":{"scheme":"https","statusCode":301}}]},{"timeouts":{"request":"60s"},"backendRefs":[{"name":"s","port":80,"weight":0},{"name":"t","port":81,"weight":1}]}]}}`,
		}},
		{&corev1.ResourceQuota{}, configuration[accore.ResourceQuotaApplyConfiguration](), []string{
			`{"spec":{"hard":{"pods":"10"},"scopes":["BestEffort"]}}`, `{"spec":{"hard":{"memory":"1024Mi","count/secrets":"1.0"}}}`,
		}},
		{&corev1.LimitRange{}, configuration[accore.LimitRangeApplyConfiguration](), []string{
			`{"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"cpu":"0.1"},"default":{"cpu":"1.0"}}]}}`,
		}},
	}
}

const (
	podMetadata = `"metadata":{"labels":{"app":"x"}}`
	podSmall    = `"containers":[{"name":"main","image":"i:1"}]`
	podLarge    = `"serviceAccountName":"a","securityContext":{"runAsNonRoot":true,"fsGroup":0},
"tolerations":[{"key":"a","operator":"Equal","value":"1","effect":"NoExecute"},{"operator":"Exists"}],
"nodeSelector":{"example.com/class":"1"},
"initContainers":[{"name":"init","image":"i:1","command":["a"],"args":[]}],
"containers":[{"name":"main","image":"i:1","ports":[{"containerPort":80},{"name":"dns","containerPort":53,"protocol":"UDP"}],
"env":[{"name":"VERSION","value":"1"},{"name":"EMPTY","value":""},{"name":"SELF","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},
{"name":"CPU","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"1"}}}],
"resources":{"requests":{"cpu":"500m","memory":"1024Mi"},"limits":{"cpu":"1.0"}},
"livenessProbe":{"httpGet":{"path":"/","port":80}},"readinessProbe":{"tcpSocket":{"port":"dns"},"periodSeconds":5},
"volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"conf","mountPath":"/conf","readOnly":true}],
"securityContext":{"capabilities":{"drop":["ALL"]},"allowPrivilegeEscalation":false}},{"name":"side","image":"i:2","args":["--a=1"]}],
"volumes":[{"name":"data","emptyDir":{"sizeLimit":"1Gi"}},{"name":"conf","configMap":{"name":"c","items":[{"key":"a","path":"b"}]}},{"name":"e","emptyDir":{}},
{"name":"p","projected":{"sources":[{"serviceAccountToken":{"path":"t"}},{"configMap":{"name":"c"}}]}}],
"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"t","labelSelector":{"matchLabels":{"app":"x"}}}}]}},
"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"t","whenUnsatisfiable":"ScheduleAnyway"}]`
)

// contents parses the bases, with each of the pods.
func (e everyday) contents(pods ...string) []map[string]any {
	var out []map[string]any
	for _, base := range e.bases {
		for i, pod := range pods {
			text := strings.ReplaceAll(base, "JOBPOD", `{"spec":{"restartPolicy":"Never",`+pod+`}}`)
			text = strings.ReplaceAll(text, "POD", `{`+podMetadata+`,"spec":{`+pod+`}}`)
			if i > 0 && text == base {
				continue
			}
			out = append(out, parse([]byte(text)))
		}
	}
	return out
}

// parse parses a JSON object and preserves integers. It returns nil for other input.
func parse(data []byte) map[string]any {
	var out map[string]any
	if err := utiljson.Unmarshal(data, &out); err != nil {
		return nil
	}
	return out
}

// jsonOf returns the object as JSON; nil if that is impossible.
func jsonOf(value any) map[string]any {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return parse(data)
}
