package aimservice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reconcilekit/reconcilekit/health"
	"github.com/reconcilekit/reconcilekit/reconcile"
	"github.com/reconcilekit/reconcilekit/templates"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aimv1alpha1 "github.com/reconcilekit/reconcilekit/examples/aim/api/v1alpha1"
	"github.com/reconcilekit/reconcilekit/examples/aim/gpu"
)

const (
	reasonResolved = "Resolved"
	reasonNotFound = "TemplateNotFound"
	reasonNotReady = "TemplateNotReady"
)

// CandidateEvaluation is the evaluation of a candidate.
type CandidateEvaluation struct {
	// Candidate is the evaluated candidate.
	Candidate TemplateCandidate
	// Status is chosen or rejected.
	Status string
	// Reason is the reason as a single word.
	Reason string
	// Rank is the rank by preference: 1 is best, 0 means rejected by a filter.
	Rank int
}

// SelectionDiagnostics counts the remaining candidates after each stage.
type SelectionDiagnostics struct {
	// TotalCandidates counts all candidates.
	TotalCandidates int
	// AfterAvailabilityFilter counts candidates that are Ready.
	AfterAvailabilityFilter int
	// AfterUnoptimizedFilter counts candidates that are optimized, or may be unoptimized.
	AfterUnoptimizedFilter int
	// AfterOverridesFilter counts candidates that match the overrides.
	AfterOverridesFilter int
	// AfterGPUAvailabilityFilter counts candidates whose GPU the cluster has.
	AfterGPUAvailabilityFilter int
	// UnoptimizedTemplatesWereFiltered reports that unoptimized candidates were rejected.
	UnoptimizedTemplatesWereFiltered bool
}

// TemplateSelectionResult is the result of selecting a template for a model.
type TemplateSelectionResult struct {
	// SelectedTemplate is the selected template of the namespace, or nil.
	SelectedTemplate *aimv1alpha1.AIMServiceTemplate
	// SelectedClusterTemplate is the selected template of the cluster, or nil.
	SelectedClusterTemplate *aimv1alpha1.AIMClusterServiceTemplate
	// CandidateCount is the number of equally good candidates.
	CandidateCount int
	// TemplatesExistButNotReady reports that templates exist, but none is ready.
	TemplatesExistButNotReady bool
	// SelectionReason is the reason why none was selected, as a single word.
	SelectionReason string
	// SelectionMessage is the message for users why none was selected.
	SelectionMessage string
	// MatchingResults contains the evaluation of each candidate.
	MatchingResults []CandidateEvaluation
	// Error is the error of reading the candidates.
	Error error
	// summary lists the candidates with the reasons of rejections. diagnostics contains tables of the stages and of all candidates.
	summary, diagnostics string
}

// The names of the stages of the selection.
const (
	stageAvailability = "availability"
	stageUnoptimized  = "unoptimized"
	stageOverrides    = "overrides"
	stageGPU          = "gpu"
)

// selector returns the selector of templates: the filters, in their order, and the preferences.
func selector(
	overrides *aimv1alpha1.AIMServiceOverrides, availableGPUs []string, allowUnoptimized bool,
) templates.Selector[TemplateCandidate] {
	type candidate = TemplateCandidate
	available := map[string]bool{"": true} // a candidate without a GPU requirement always passes
	for _, name := range availableGPUs {
		available[gpu.Normalize(name)] = true
	}
	return templates.Selector[candidate]{
		Name: func(c *candidate) string { return strings.TrimPrefix(c.Namespace+"/"+c.Name, "/") },
		Filters: []templates.Filter[candidate]{
			{Name: stageAvailability, ReasonFor: (*candidate).unavailable, Keep: func(c *candidate) bool { return c.unavailable() == "" }},
			templates.Keep(stageUnoptimized, "UnoptimizedTemplateFiltered", func(c *candidate) bool {
				return allowUnoptimized || c.profile().Type == aimv1alpha1.AIMProfileTypeOptimized
			}),
			templates.Keep(
				stageOverrides, "ServiceOverridesNotMatched",
				func(c *candidate) bool { return overrides == nil || c.matches(overrides) },
			),
			templates.Keep(stageGPU, "RequiredGPUNotInCluster", func(c *candidate) bool { return available[c.gpuModel()] }),
			templates.OnlyBest("scope", "NamespaceTemplatePreferred", func(c *candidate) int {
				if c.Scope == aimv1alpha1.AIMResolutionScopeNamespace {
					return 0
				}
				return 1
			}),
		},
		Preferences: []templates.Preference[candidate]{
			templates.InOrderFold("type", func(c *candidate) string { return string(c.profile().Type) }, "optimized", "preview", "unoptimized"),
			templates.InOrder("gpu", (*candidate).gpuModel, // the newest first
				"MI355X", "MI350X", "MI325X", "MI300X", "MI308X", "MI300A", "MI250X", "MI210", "MI100"),
			templates.InOrderFold("metric", (*candidate).metric, "latency", "throughput"),
			templates.InOrderFold("precision", (*candidate).precision, "fp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32"),
		},
	}
}

// SelectTemplate selects one of the templates of a model. Overrides may be nil. The names in availableGPUs are those of nodes or
// users. SelectTemplate returns the best candidate, or nil; the number of equally good candidates, where more than one means that
// the choice is ambiguous; the counts of the stages; and the evaluation of every candidate.
func SelectTemplate(
	candidates []TemplateCandidate, overrides *aimv1alpha1.AIMServiceOverrides, availableGPUs []string, allowUnoptimized bool,
) (*TemplateCandidate, int, SelectionDiagnostics, []CandidateEvaluation) {
	result := selector(overrides, availableGPUs, allowUnoptimized).Select(candidates)
	return result.Best(), len(result.Equals), diagnose(result), evaluations(result)
}

func evaluations(result templates.Result[TemplateCandidate]) []CandidateEvaluation {
	out := make([]CandidateEvaluation, len(result.Evaluations))
	for i := range out { // candidates are large: each is copied once
		e := &result.Evaluations[i]
		out[i].Candidate, out[i].Status, out[i].Reason, out[i].Rank = *e.Candidate, "rejected", e.Reason, e.Rank
		if e.Outcome == templates.Chosen {
			out[i].Status = "chosen"
		}
	}
	return out
}

func diagnose(result templates.Result[TemplateCandidate]) SelectionDiagnostics {
	return SelectionDiagnostics{
		TotalCandidates:                  len(result.Evaluations),
		AfterAvailabilityFilter:          result.Stage(stageAvailability).After,
		AfterUnoptimizedFilter:           result.Stage(stageUnoptimized).After,
		AfterOverridesFilter:             result.Stage(stageOverrides).After,
		AfterGPUAvailabilityFilter:       result.Stage(stageGPU).After,
		UnoptimizedTemplatesWereFiltered: result.Stage(stageUnoptimized).Rejected() > 0,
	}
}

// selectTemplateForModel reads the templates of a model and selects one: the one in use while it is Ready, else the best.
func selectTemplateForModel(
	ctx context.Context, r reconcile.Reader, service *aimv1alpha1.AIMService, modelName string,
) (f TemplateFetchResult) {
	ofModel := client.MatchingFields{modelNameIndex: modelName}
	ours := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMServiceTemplateList{}, client.InNamespace(service.Namespace), ofModel)
	clusters := reconcile.FetchList(ctx, r, &aimv1alpha1.AIMClusterServiceTemplateList{}, ofModel)
	found := make([]TemplateFetchResult, len(ours.Value.Items)+len(clusters.Value.Items))
	for i := range ours.Value.Items {
		found[i].Template.Value = &ours.Value.Items[i]
	}
	for i := range clusters.Value.Items {
		found[len(ours.Value.Items)+i].ClusterTemplate.Value = &clusters.Value.Items[i]
	}
	found = slices.DeleteFunc(found, func(f TemplateFetchResult) bool { // a derived template belongs to one service
		owner := metav1.GetControllerOf(f.base())
		return owner != nil && owner.Kind == "AIMService"
	})
	candidates, gpus := make([]TemplateCandidate, len(found)), reconcile.FetchResult[[]string]{}
	for i := range found {
		candidates[i] = candidateOf(found[i].base())
		if candidates[i].unavailable() == "" && inUse(service, &candidates[i]) {
			return found[i]
		}
	}
	if slices.ContainsFunc(candidates, func(c TemplateCandidate) bool { return c.gpuModel() != "" }) {
		gpus = reconcile.FetchDerived(ctx, r, clusterGPUs)
	}
	if err := errors.Join(ours.Error, clusters.Error, gpus.Error); err != nil {
		return TemplateFetchResult{selection: &TemplateSelectionResult{Error: err}}
	}
	result := selector(service.Spec.Overrides, gpus.Value, service.Spec.Template.AllowUnoptimized).Select(candidates)
	if result.Chosen != nil {
		f = found[result.Evaluations[0].Index]
	}
	f.selection = explain(modelName, result)
	f.selection.SelectedTemplate, f.selection.SelectedClusterTemplate = f.Template.Value, f.ClusterTemplate.Value
	return f
}

// clusterGPUs derives the GPU models of all nodes, shared by all services. A change of a node's labels triggers services only if a
// model is added or removed.
var clusterGPUs = &reconcile.Derivation[*metav1.PartialObjectMetadata, []string]{
	Name: "GPU models of the cluster",
	List: &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}},
	Each: func(node *metav1.PartialObjectMetadata) []string { return gpu.OfNode(node.Labels) },
	Merge: func(models [][]string) []string {
		all := slices.Concat(models...)
		slices.Sort(all)
		return slices.Compact(all)
	},
}

// inUse reports whether the service uses the candidate, or the template that its overrides derive from it.
func inUse(service *aimv1alpha1.AIMService, c *TemplateCandidate) bool {
	used, name := service.Status.ResolvedTemplate, derivedTemplateName(c.Name, service.Spec.Overrides, service.UID)
	return used != nil && used.Name == name && (used.Scope == c.Scope || name != c.Name)
}

// explain sets the message of a selection, and the reason if it has selected none.
func explain(modelName string, result templates.Result[TemplateCandidate]) *TemplateSelectionResult {
	counts := diagnose(result)
	out := &TemplateSelectionResult{
		CandidateCount: len(result.Equals), SelectionReason: reasonNotFound, summary: result.Summary(), MatchingResults: evaluations(result),
	}
	if result.Chosen == nil {
		out.diagnostics = result.Explain()
	}
	none := fmt.Sprintf("No available templates match requirements for model %q", modelName)
	switch {
	case counts.TotalCandidates == 0:
		out.SelectionMessage = fmt.Sprintf("No templates found for model %q", modelName)
	case result.Chosen != nil:
		out.SelectionReason = ""
	case result.Ambiguous():
		out.SelectionReason = "TemplateSelectionAmbiguous"
		out.SelectionMessage = fmt.Sprintf("Multiple templates (%d) satisfy model %q", len(result.Equals), modelName)
	case counts.AfterAvailabilityFilter == 0:
		out.TemplatesExistButNotReady, out.SelectionReason = true, ""
	case counts.AfterUnoptimizedFilter == 0 && counts.UnoptimizedTemplatesWereFiltered:
		out.SelectionMessage = fmt.Sprintf("%s: %d unoptimized template(s) filtered out. Set allowUnoptimized to use them.",
			none, counts.AfterAvailabilityFilter)
	default:
		out.SelectionMessage = none
	}
	return out
}

// health converts the result to the health of a component.
func (s *TemplateSelectionResult) health(c health.Component) health.Component {
	switch {
	case s.Error != nil:
		c.Errors = []error{s.Error}
	case s.TemplatesExistButNotReady:
		c.State, c.Reason, c.Message = health.Progressing, reasonNotReady, "No template is ready: "+s.summary
	default:
		c.State, c.Reason = health.Pending, s.SelectionReason
		c.Message = strings.TrimSuffix(s.SelectionMessage, ".") + ": " + s.summary
	}
	c.Diagnostics = s.diagnostics
	return c
}
