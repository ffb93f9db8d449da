package oracle

import (
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	acapps "k8s.io/client-go/applyconfigurations/apps/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// switchedKinds returns the kinds whose plans are switched: the everyday kinds with more bases, and more kinds.
func switchedKinds() []everyday {
	out := everydayKinds()
next:
	for _, more := range moreKinds() {
		for i := range out {
			if reflect.TypeOf(out[i].goType) == reflect.TypeOf(more.goType) {
				out[i].bases = append(out[i].bases, more.bases...)
				continue next
			}
		}
		out = append(out, more)
	}
	return out
}

// switchedPods are the Pods of the bases. They differ in the fields from which the API server derives defaults of others.
func switchedPods() []string {
	return []string{
		podSmall, podLarge,
		`"containers":[{"name":"main","image":"i:latest","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}]`,
		`"hostNetwork":true,"dnsPolicy":"ClusterFirstWithHostNet","containers":[{"name":"main","image":"i","ports":[{"containerPort":80}],
		"livenessProbe":{"grpc":{"port":80}},"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}}}]`,
		`"serviceAccountName":"b","enableServiceLinks":false,"containers":[{"name":"main","image":"i:1","livenessProbe":{"exec":{"command":["a"]}},
		"volumeMounts":[{"name":"data","mountPath":"/data"}]}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"c"}},{"name":"conf","secret":{"secretName":"s"}}]`,
		`"terminationGracePeriodSeconds":5,"containers":[{"name":"main","image":"i:2","livenessProbe":{"httpGet":{"path":"/a","port":"http","scheme":"HTTPS"}},
		"volumeMounts":[{"name":"data","mountPath":"/data"}]}],"volumes":[{"name":"data","hostPath":{"path":"/a"}},{"name":"conf","downwardAPI":{"items":[{"path":"a","fieldRef":{"fieldPath":"metadata.name"}}]}}]`,
	}
}

const (
	webhookClient = `"admissionReviewVersions":["v1"],"sideEffects":"None","clientConfig":{"service":{"namespace":"n","name":"s"}}`
	webhookURL    = `"admissionReviewVersions":["v1"],"sideEffects":"NoneOnDryRun","clientConfig":{"url":"https://example.com/a"}`
	webhookRules  = `"rules":[{"apiGroups":["never.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["nothing"]}]`
	definition    = `"group":"switch.example.com","names":{"plural":"PLURAL","kind":"KIND"}`
	versionV1     = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}}}}}`
)

//nolint:funlen,maintidx // a table
func moreKinds() []everyday {
	return []everyday{
		{&corev1.Service{}, nil, []string{
			`{"spec":{"clusterIP":"None","selector":{"app":"x"},"ports":[{"port":80}]}}`,
			`{"spec":{"type":"LoadBalancer","selector":{"app":"x"},"ports":[{"port":80}]}}`,
			`{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"selector":{"app":"x"},"ports":[{"port":80}]}}`,
			`{"spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","selector":{"app":"x"},"ports":[{"name":"a","port":80},{"name":"b","port":81}]}}`,
			`{"spec":{"type":"LoadBalancer","loadBalancerClass":"example.com/c","loadBalancerSourceRanges":["10.0.0.0/8"],"ports":[{"port":80}]}}`,
			`{"spec":{"type":"NodePort","externalTrafficPolicy":"Local","internalTrafficPolicy":"Local","ports":[{"port":80}]}}`,
			`{"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":60}},"ports":[{"port":80,"appProtocol":"http"}]}}`,
			`{"spec":{"ipFamilyPolicy":"PreferDualStack","ports":[{"port":80}]}}`,
		}},
		{&appsv1.Deployment{}, configuration[acapps.DeploymentApplyConfiguration](), []string{
			`{"spec":{"strategy":{"type":"Recreate"},"minReadySeconds":5,"progressDeadlineSeconds":60,"revisionHistoryLimit":1,"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
		}},
		{&appsv1.StatefulSet{}, nil, []string{
			`{"spec":{"serviceName":"s","updateStrategy":{"type":"OnDelete"},"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
			`{"spec":{"serviceName":"s","updateStrategy":{"rollingUpdate":{"partition":1}},"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
		}},
		{&appsv1.DaemonSet{}, nil, []string{
			`{"spec":{"updateStrategy":{"type":"OnDelete"},"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
			`{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"selector":{"matchLabels":{"app":"x"}},"template":POD}}`,
		}},
		{&batchv1.Job{}, nil, []string{
			`{"spec":{"template":JOBPOD}}`,
			`{"spec":{"suspend":true,"backoffLimit":1,"ttlSecondsAfterFinished":60,"activeDeadlineSeconds":60,"template":JOBPOD}}`,
			`{"spec":{"parallelism":2,"completions":2,"completionMode":"Indexed","backoffLimitPerIndex":1,"template":JOBPOD}}`,
			`{"spec":{"parallelism":3,"template":JOBPOD}}`,
		}},
		{&batchv1.CronJob{}, nil, []string{
			`{"spec":{"schedule":"0 * * * *","jobTemplate":{"spec":{"completionMode":"Indexed","completions":1,"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}}]},"template":JOBPOD}}}}`,
			`{"spec":{"schedule":"0 * * * *","jobTemplate":{"spec":{"parallelism":2,"template":JOBPOD}}}}`,
		}},
		{&policyv1.PodDisruptionBudget{}, nil, []string{`{"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"x"}}}}`}},
		{&rbacv1.ClusterRole{}, nil, []string{
			`{"rules":[{"nonResourceURLs":["/a"],"verbs":["get"]}]}`, `{"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}}`, `{"rules":[]}`,
		}},
		{&rbacv1.ClusterRoleBinding{}, nil, []string{
			`{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"b"}]}`,
			`{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"User","name":"u"},{"kind":"Group","name":"g"}]}`,
		}},
		{&schedulingv1.PriorityClass{}, nil, []string{
			`{"value":10}`, `{"value":10,"description":"a","preemptionPolicy":"Never"}`, `{"value":10,"globalDefault":false}`,
		}},
		{&storagev1.StorageClass{}, nil, []string{
			`{"provisioner":"example.com/p"}`, `{"provisioner":"example.com/p","allowVolumeExpansion":true,"mountOptions":["a"]}`,
			`{"provisioner":"example.com/p","reclaimPolicy":"Retain","volumeBindingMode":"WaitForFirstConsumer","parameters":{"a":"b"}}`,
		}},
		{&admissionv1.ValidatingWebhookConfiguration{}, nil, []string{
			`{"webhooks":[{"name":"a.example.com",` + webhookClient + `,` + webhookRules + `}]}`,
			`{"webhooks":[{"name":"a.example.com",` + webhookURL + `,"failurePolicy":"Ignore","matchPolicy":"Exact","timeoutSeconds":5,"namespaceSelector":{"matchLabels":{"a":"b"}},` + webhookRules + `}]}`,
			`{"webhooks":[{"name":"b.example.com",` + webhookClient + `,"objectSelector":{"matchLabels":{"a":"b"}},` + webhookRules + `},{"name":"a.example.com",` + webhookURL + `}]}`,
		}},
		{&admissionv1.MutatingWebhookConfiguration{}, nil, []string{
			`{"webhooks":[{"name":"a.example.com",` + webhookClient + `,` + webhookRules + `}]}`,
			`{"webhooks":[{"name":"a.example.com",` + webhookURL + `,"reinvocationPolicy":"IfNeeded","failurePolicy":"Ignore",` + webhookRules + `}]}`,
		}},
		{&apiextensionsv1.CustomResourceDefinition{}, nil, []string{
			`{"spec":{` + definition + `,"scope":"Namespaced","versions":[` + versionV1 + `]}}`,
			`{"spec":{` + definition + `,"scope":"Namespaced","conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"n","name":"s"}}}},"versions":[` + versionV1 + `]}}`,
			`{"spec":{` + definition + `,"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".spec.a"}],
			"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`,
		}},
		{&gatewayv1.HTTPRoute{}, nil, []string{
			`{"spec":{"parentRefs":[{"name":"g"}],"rules":[{"matches":[{"path":{"value":"/a"}}],"filters":[{"type":"URLRewrite","urlRewrite":{"path":{"type":"ReplacePrefixMatch","replacePrefixMatch":"/"}}}],"backendRefs":[{"name":"s","port":80}]}]}}`,
		}},
		{&gatewayv1.GRPCRoute{}, nil, []string{
			`{"spec":{"parentRefs":[{"name":"g"}],"rules":[{"backendRefs":[{"name":"s","port":80}]}]}}`,
			`{"spec":{"parentRefs":[{"name":"g"}],"rules":[{"matches":[{"method":{"service":"a"}}],"backendRefs":[{"name":"s","port":80,"weight":2},{"name":"t","port":80}]}]}}`,
		}},
		{&gatewayv1.Gateway{}, nil, []string{
			`{"spec":{"gatewayClassName":"c","listeners":[{"name":"http","port":80,"protocol":"HTTP"}]}}`,
			`{"spec":{"gatewayClassName":"c","listeners":[{"name":"http","port":443,"protocol":"HTTPS","tls":{"certificateRefs":[{"name":"t"}]},"allowedRoutes":{"namespaces":{"from":"All"}}}]}}`,
			`{"spec":{"gatewayClassName":"c","listeners":[{"name":"tls","port":443,"protocol":"TLS","tls":{"mode":"Passthrough"}},{"name":"http","port":80,"protocol":"HTTP","hostname":"a.example.com"}]}}`,
		}},
	}
}

// nameDefinition gives a definition the name of the pair.
func (p *pair) nameDefinition() {
	if p.kind.gvk.Kind != "CustomResourceDefinition" {
		return
	}
	for _, content := range []map[string]any{p.a, p.b} {
		for path, value := range map[string]string{"plural": p.name, "singular": p.name, "kind": "K" + p.name, "listKind": "K" + p.name + "List"} {
			if _, found, _ := unstructured.NestedString(content, "spec", "names", path); found {
				_ = unstructured.SetNestedField(content, value, "spec", "names", path)
			}
		}
	}
	p.name += ".switch.example.com"
}

// keepImmutable copies fields that cannot be changed from the first to the second plan, because otherwise most pairs are refused.
func (p *pair) keepImmutable() {
	for _, path := range map[string][][]string{
		"Deployment":  {{"spec", "selector"}},
		"DaemonSet":   {{"spec", "selector"}},
		"StatefulSet": {{"spec", "selector"}, {"spec", "serviceName"}, {"spec", "podManagementPolicy"}, {"spec", "volumeClaimTemplates"}},
		"Job": {
			{"spec", "selector"},
			{"spec", "template"},
			{"spec", "completions"},
			{"spec", "completionMode"},
			{"spec", "backoffLimitPerIndex"},
			{"spec", "maxFailedIndexes"},
			{"spec", "podFailurePolicy"},
			{"spec", "successPolicy"},
			{"spec", "podReplacementPolicy"},
			{"spec", "managedBy"},
			{"spec", "manualSelector"},
		},
		"PersistentVolumeClaim":    {{"spec"}},
		"RoleBinding":              {{"roleRef"}},
		"ClusterRoleBinding":       {{"roleRef"}},
		"PriorityClass":            {{"value"}, {"preemptionPolicy"}},
		"StorageClass":             {{"provisioner"}, {"parameters"}, {"reclaimPolicy"}, {"volumeBindingMode"}},
		"CustomResourceDefinition": {{"spec", "scope"}, {"spec", "group"}, {"spec", "names"}},
	}[p.kind.gvk.Kind] {
		value, found, err := unstructured.NestedFieldCopy(p.a, path...)
		if err != nil {
			continue
		}
		p.b = runtime.DeepCopyJSON(p.b)
		if found {
			_ = unstructured.SetNestedField(p.b, value, path...)
		} else {
			unstructured.RemoveNestedField(p.b, path...)
		}
	}
}
