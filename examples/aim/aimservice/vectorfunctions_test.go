package aimservice_test

import (
	"encoding/json"
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/reconcilekit/reconcilekit/examples/aim/aimservice"
	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/gpu"
	"github.com/reconcilekit/reconcilekit/examples/aim/runtimeconfig"
)

type object = map[string]any

// functions maps the names of functions in the vectors to calls of this operator's functions.
var functions = map[string]func(t *testing.T, input json.RawMessage) any{
	"modelName": func(t *testing.T, in json.RawMessage) any {
		return name(aimservice.GenerateModelName(decode[struct{ Image string }](t, in).Image))
	},
	"inferenceServiceName": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct{ ServiceName, Namespace string }](t, in)
		return name(aimservice.GenerateInferenceServiceName(v.ServiceName, v.Namespace))
	},
	"httpRouteName": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct{ ServiceName, Namespace string }](t, in)
		return name(aimservice.GenerateHTTPRouteName(v.ServiceName, v.Namespace))
	},
	"templateCacheName": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct{ TemplateName, Namespace, ServiceName, ServiceIdentity, Mode string }](t, in)
		return name(aimservice.GenerateTemplateCacheName(
			v.TemplateName, v.Namespace, v.ServiceName, v.ServiceIdentity, aimv1alpha1.AIMCachingMode(v.Mode),
		))
	},
	"cachingMode": func(t *testing.T, in json.RawMessage) any {
		mode := decode[struct{ Mode string }](t, in).Mode
		spec := aimv1alpha1.AIMServiceSpec{Caching: &aimv1alpha1.AIMServiceCachingConfig{Mode: aimv1alpha1.AIMCachingMode(mode)}}
		return object{"value": spec.GetCachingMode()}
	},
	"customModelName": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct {
			BaseImage    string
			ModelSources []struct {
				ModelID, SourceURI string
				Env                map[string]string
			}
		}](t, in)
		custom := aimv1alpha1.AIMServiceModelCustom{BaseImage: v.BaseImage}
		for _, source := range v.ModelSources {
			s := aimv1alpha1.AIMModelSource{ModelID: source.ModelID, SourceURI: source.SourceURI}
			for key, value := range source.Env {
				s.Env = append(s.Env, corev1.EnvVar{Name: key, Value: value})
			}
			custom.ModelSources = append(custom.ModelSources, s)
		}
		return name(aimservice.GenerateCustomModelName(&custom), nil)
	},
	"derivedTemplateName": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct {
			Base      string
			Overrides *overrides
		}](t, in)
		return name(aimservice.DerivedTemplateName(v.Base, v.Overrides.object(), "uid"), nil)
	},
	"routePath": func(t *testing.T, in json.RawMessage) any {
		v := decode[routed](t, in)
		path, err := aimservice.ResolveServiceRoutePath(&v.Service, v.RuntimeConfig)
		if err != nil {
			return object{"error": err.Error()}
		}
		return object{"path": path, "length": len(path)}
	},
	"defaultPath": func(t *testing.T, in json.RawMessage) any {
		v := decode[routed](t, in)
		return object{"path": aimservice.DefaultRoutePath(&v.Service)}
	},
	"enabled": func(t *testing.T, in json.RawMessage) any {
		v := decode[routed](t, in)
		return object{"enabled": aimservice.RoutingOf(&v.Service, v.RuntimeConfig).Enabled.Or(false)}
	},
	"httpRoute": httpRoute,
	"timeout": func(_ *testing.T, in json.RawMessage) any {
		var v routed
		if err := json.Unmarshal(in, &v); err != nil {
			return object{"decodeError": err.Error()}
		}
		return object{"timeout": aimservice.ResolveServiceRouteTimeout(&v.Service, v.RuntimeConfig)}
	},
	"select":         selectTemplate,
	"selectForModel": selectForModel,
	"normalizeGPU": func(t *testing.T, in json.RawMessage) any {
		return object{"value": gpu.Normalize(decode[struct{ Value string }](t, in).Value)}
	},
	"nodeGPU": func(t *testing.T, in json.RawMessage) any {
		models := append(gpu.OfNode(decode[struct{ Labels map[string]string }](t, in).Labels), "")
		return object{"value": models[0]}
	},
	"mergeRuntimeConfig": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct {
			Namespace, Cluster *aimv1alpha1.AIMRuntimeConfigCommon
		}](t, in)
		return object{"merged": runtimeconfig.Merge(v.Namespace, v.Cluster)}
	},
	"migrateStorage": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct {
			Config aimv1alpha1.AIMRuntimeConfigCommon
		}](t, in)
		return object{"storage": runtimeconfig.Migrated(&v.Config).Storage}
	},
	"pvcSize": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct {
			Bytes           int64
			HeadroomPercent int32
		}](t, in)
		return object{"quantity": aimservice.PVCSize(v.Bytes, v.HeadroomPercent)}
	},
	"gpuResources": resources, "resources": resources, "replicas": replicas, "env": containerEnvFact,
	"mount": func(t *testing.T, in json.RawMessage) any {
		v := decode[struct{ Artifact, Model, PVC string }](t, in)
		volume, mount := aimservice.ArtifactMount(aimv1alpha1.AIMResolvedArtifact{Name: v.Artifact, Model: v.Model, PersistentVolumeClaim: v.PVC})
		return object{"claim": volume.PersistentVolumeClaim.ClaimName, "volume": volume.Name, "mountPath": mount.MountPath}
	},
}

// routed is a service and its runtime config, in the form of the vectors.
type routed struct {
	Service       aimv1alpha1.AIMService
	RuntimeConfig *aimv1alpha1.AIMRuntimeConfigCommon
}

// overrides has overrides in the form of the vectors.
type overrides struct {
	Metric, Precision, GPUModel string
	GPUCount                    int32
}

func (o *overrides) object() *aimv1alpha1.AIMServiceOverrides {
	if o == nil {
		return nil
	}
	out := &aimv1alpha1.AIMServiceOverrides{}
	if o.Metric != "" {
		out.Metric = new(aimv1alpha1.AIMMetric(o.Metric))
	}
	if o.Precision != "" {
		out.Precision = new(aimv1alpha1.AIMPrecision(o.Precision))
	}
	if o.GPUModel != "" || o.GPUCount != 0 {
		out.Hardware = &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Model: o.GPUModel, Requests: o.GPUCount}}
	}
	return out
}

func decode[T any](t *testing.T, raw json.RawMessage) (out T) {
	t.Helper()
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out
}

// name returns a name or an error in the form of the vectors.
func name(value string, err error) any {
	if err != nil {
		return object{"error": err.Error()}
	}
	return object{"value": value, "length": len(value)}
}

func httpRoute(t *testing.T, in json.RawMessage) any {
	v := decode[routed](t, in)
	route, err := aimservice.PlanRoute(&v.Service, v.RuntimeConfig)
	if err != nil || route == nil {
		return object{"route": nil}
	}
	out, _ := plain(t, route).(object)
	delete(out, "status")
	metadata, _ := out["metadata"].(object)
	delete(metadata, "creationTimestamp")
	labels, _ := metadata["labels"].(object)
	delete(labels, "aim.eai.amd.com/service.name") // the engine of the product adds it later
	out["apiVersion"], out["kind"] = "gateway.networking.k8s.io/v1", "HTTPRoute"
	return object{"route": out}
}

// profiled is a template in the form of the vectors.
type profiled struct {
	Name, Scope, Status, ModelName string
	Spec                           struct{ Metric, Precision string }
	Profile                        *aimv1alpha1.AIMProfileMetadata
}

func (p profiled) candidate() aimservice.TemplateCandidate {
	c := aimservice.TemplateCandidate{Name: p.Name, Scope: aimv1alpha1.AIMResolutionScope(p.Scope)}
	if p.Scope == "Namespace" {
		c.Namespace = "test-ns"
	}
	if p.Spec.Metric != "" {
		c.Spec.Metric = new(aimv1alpha1.AIMMetric(p.Spec.Metric))
	}
	c.Spec.ModelName = p.ModelName
	c.Status.Status = aimv1alpha1.AIMStatus(p.Status)
	if p.Profile != nil {
		c.Status.Profile = &aimv1alpha1.AIMProfile{Metadata: *p.Profile}
	}
	return c
}

func selectTemplate(t *testing.T, in json.RawMessage) any {
	v := decode[struct {
		Candidates       []profiled
		Overrides        *overrides
		AvailableGPUs    []string
		AllowUnoptimized bool
	}](t, in)
	candidates := make([]aimservice.TemplateCandidate, 0, len(v.Candidates))
	for _, p := range v.Candidates {
		candidates = append(candidates, p.candidate())
	}
	best, count, counts, evaluations := aimservice.SelectTemplate(candidates, v.Overrides.object(), v.AvailableGPUs, v.AllowUnoptimized)
	out := object{"best": nil, "bestCount": count, "outcome": "none", "diagnostics": object{
		"total": counts.TotalCandidates, "afterAvailability": counts.AfterAvailabilityFilter, "afterUnoptimized": counts.AfterUnoptimizedFilter,
		"afterOverrides": counts.AfterOverridesFilter, "afterGPU": counts.AfterGPUAvailabilityFilter,
		"unoptimizedFiltered": counts.UnoptimizedTemplatesWereFiltered,
	}}
	if best != nil {
		out["best"], out["outcome"] = best.Name, "selected"
	}
	if count > 1 {
		out["outcome"] = "ambiguous"
	}
	if len(evaluations) != len(candidates) {
		t.Errorf("%d evaluations of %d candidates", len(evaluations), len(candidates))
	}
	list := []any{}
	slices.SortStableFunc(evaluations, func(a, b aimservice.CandidateEvaluation) int { // in the order of the input
		at := func(e aimservice.CandidateEvaluation) int {
			return slices.IndexFunc(candidates, func(c aimservice.TemplateCandidate) bool { return c.Name == e.Candidate.Name })
		}
		return at(a) - at(b)
	})
	for _, e := range evaluations {
		evaluation := object{"name": e.Candidate.Name, "status": e.Status, "reason": e.Reason}
		if e.Rank > 0 {
			evaluation["rank"] = e.Rank
		}
		list = append(list, evaluation)
	}
	out["evaluations"] = list
	return out
}

func selectForModel(t *testing.T, in json.RawMessage) any {
	v := decode[struct {
		ModelName        string
		Templates        []profiled
		Overrides        *overrides
		AllowUnoptimized bool
		Nodes            []struct{ Labels map[string]string }
	}](t, in)
	var candidates []aimservice.TemplateCandidate
	for _, p := range v.Templates {
		if p.ModelName == v.ModelName {
			candidates = append(candidates, p.candidate())
		}
	}
	var available []string
	for _, node := range v.Nodes {
		available = append(available, gpu.OfNode(node.Labels)...)
	}
	result := aimservice.Selector(v.Overrides.object(), available, v.AllowUnoptimized).Select(candidates)
	if result.Chosen != nil {
		return object{
			"selected": object{"name": result.Chosen.Name, "scope": result.Chosen.Scope}, "candidateCount": 1,
			"existButNotReady": false, "message": "", "reason": "",
		}
	}
	why := aimservice.Explain(v.ModelName, result)
	return object{
		"selected": nil, "candidateCount": why.CandidateCount, "existButNotReady": why.TemplatesExistButNotReady,
		"message": why.SelectionMessage, "reason": why.SelectionReason,
	}
}

func resources(t *testing.T, in json.RawMessage) any {
	v := decode[struct {
		GPUCount          int32
		ResourceName      string
		Template, Service *corev1.ResourceRequirements
	}](t, in)
	hardware := &aimv1alpha1.AIMHardwareRequirements{GPU: &aimv1alpha1.AIMGpuRequirements{Requests: v.GPUCount, ResourceName: v.ResourceName}}
	return object{"resources": aimservice.ContainerResources(hardware, v.Template, v.Service)}
}

func replicas(t *testing.T, in json.RawMessage) any {
	v := decode[struct {
		MinReplicas, MaxReplicas, Replicas *int32
		AutoScaling                        bool
		HPA                                *struct{ Current, Desired, Min, Max int32 }
	}](t, in)
	spec := &aimv1alpha1.AIMServiceSpec{MinReplicas: v.MinReplicas, MaxReplicas: v.MaxReplicas, Replicas: v.Replicas}
	if v.AutoScaling {
		spec.AutoScaling = &aimv1alpha1.AIMServiceAutoScaling{}
	}
	var hpa *autoscalingv2.HorizontalPodAutoscaler
	if v.HPA != nil {
		hpa = &autoscalingv2.HorizontalPodAutoscaler{
			Spec:   autoscalingv2.HorizontalPodAutoscalerSpec{MinReplicas: &v.HPA.Min, MaxReplicas: v.HPA.Max},
			Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: v.HPA.Current, DesiredReplicas: v.HPA.Desired},
		}
	}
	minimum, maximum, annotations := aimservice.Replicas(spec, "svc-x")
	return object{
		"minReplicas": minimum, "maxReplicas": maximum, "annotations": annotations,
		"runtimeStatus": aimservice.RuntimeStatus(spec, hpa),
	}
}

func containerEnvFact(t *testing.T, in json.RawMessage) any {
	v := decode[struct {
		Runtime, Template, Service            []corev1.EnvVar
		ModelID, ProfileID, Metric, Precision string
	}](t, in)
	spec := &aimv1alpha1.AIMServiceTemplateSpecCommon{ProfileID: v.ProfileID, Env: v.Template}
	if v.Metric != "" {
		spec.Metric = new(aimv1alpha1.AIMMetric(v.Metric))
	}
	if v.Precision != "" {
		spec.Precision = new(aimv1alpha1.AIMPrecision(v.Precision))
	}
	return object{"env": aimservice.ContainerEnv(v.Runtime, spec, v.ModelID, v.Service)}
}
