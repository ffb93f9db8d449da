package templates_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reconcilekit/reconcilekit/templates"
)

// vector is a recorded result of an operator in production: the selected profile and its explanation. A quirk is a
// surprise: kept where a filter or preference of the caller decides it, otherwise improved by the package.
type vector struct {
	Name     string `json:"name"`
	Quirk    string `json:"quirk"`
	Decision string `json:"decision"`
	Kept     bool   `json:"kept"`
	Input    struct {
		Candidates       []profile `json:"candidates"`
		Overrides        *wish     `json:"overrides"`
		AvailableGPUs    []string  `json:"availableGPUs"`
		AllowUnoptimized bool      `json:"allowUnoptimized"`
	} `json:"input"`
	Expected facts `json:"expected"`
}

// profile is a candidate in the vectors.
type profile struct {
	Name    string   `json:"name"`
	Scope   string   `json:"scope"`
	Status  string   `json:"status"`
	Spec    features `json:"spec"`
	Profile features `json:"profile"`
}

type features struct {
	Type      string `json:"type"`
	GPU       string `json:"gpu"`
	GPUCount  int    `json:"gpuCount"`
	Metric    string `json:"metric"`
	Precision string `json:"precision"`
}

type wish struct {
	Metric    string `json:"metric"`
	Precision string `json:"precision"`
	GPUModel  string `json:"gpuModel"`
	GPUCount  int    `json:"gpuCount"`
}

// facts has the parts of an expected value that every such operator reports.
type facts struct {
	Best        *string     `json:"best"`
	BestCount   int         `json:"bestCount"`
	Outcome     string      `json:"outcome"`
	Diagnostics diagnostics `json:"diagnostics"`
	Evaluations []judgement `json:"evaluations"`
}

type diagnostics struct {
	Total               int  `json:"total"`
	AfterAvailability   int  `json:"afterAvailability"`
	AfterUnoptimized    int  `json:"afterUnoptimized"`
	AfterOverrides      int  `json:"afterOverrides"`
	AfterGPU            int  `json:"afterGPU"`
	UnoptimizedFiltered bool `json:"unoptimizedFiltered"`
}

type judgement struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	Reason string `json:"reason"`
	Rank   int    `json:"rank"`
}

func (p *profile) metric() string    { return either(p.Profile.Metric, p.Spec.Metric) }
func (p *profile) precision() string { return either(p.Profile.Precision, p.Spec.Precision) }
func (p *profile) gpu() string       { return either(p.Spec.GPU, p.Profile.GPU) }

func either(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// model returns the model in a GPU's name.
func model(gpu string) string {
	for word := range strings.FieldsFuncSeq(strings.ToUpper(gpu), func(r rune) bool { return r == ' ' || r == '-' }) {
		if word != "AMD" && word != "INSTINCT" {
			return word
		}
	}
	return ""
}

// selector expresses the rules of the vector with this package.
func (v *vector) selector() templates.Selector[profile] {
	in := &v.Input
	overrides := templates.Filter[profile]{Name: "overrides", Reason: "ServiceOverridesNotMatched"}
	if want := in.Overrides; want != nil {
		overrides.Keep = want.matches
	}
	return templates.Selector[profile]{
		Name: func(p *profile) string { return p.Name },
		Filters: []templates.Filter[profile]{
			{
				Name: "availability", Reason: "TemplateNotReady",
				Keep: func(p *profile) bool { return p.Status == "Ready" },
				ReasonFor: func(p *profile) string {
					if slices.Contains([]string{"Pending", "Progressing", "NotAvailable", "Degraded", "Failed"}, p.Status) {
						return "Template" + p.Status
					}
					return ""
				},
			},
			templates.Keep("unoptimized", "UnoptimizedTemplateFiltered", func(p *profile) bool {
				return in.AllowUnoptimized || p.Profile.Type == "optimized"
			}),
			overrides,
			templates.Keep("gpu", "RequiredGPUNotInCluster", func(p *profile) bool {
				return p.gpu() == "" || slices.Contains(in.AvailableGPUs, model(p.gpu()))
			}),
			templates.OnlyBest("scope", "LargerScope", func(p *profile) int {
				return slices.Index([]string{"Namespace", "Cluster"}, p.Scope)
			}),
		},
		Preferences: []templates.Preference[profile]{
			templates.InOrderFold("type", func(p *profile) string { return p.Profile.Type }, "optimized", "preview", "unoptimized"),
			templates.InOrderFold("gpu", (*profile).gpu, "MI325X", "MI300X", "MI250X", "MI210"),
			templates.InOrderFold("metric", (*profile).metric, "latency", "throughput"),
			templates.InOrderFold("precision", (*profile).precision, "fp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32"),
		},
	}
}

// matches returns what the wish requests, in the fields that the candidate sets.
func (w *wish) matches(p *profile) bool {
	count := p.Profile.GPUCount
	switch {
	case w.Metric != "" && !strings.EqualFold(w.Metric, p.metric()),
		w.Precision != "" && w.Precision != p.precision(),
		w.GPUModel != "" && p.gpu() != "" && model(w.GPUModel) != model(p.gpu()),
		w.GPUCount != 0 && count != 0 && w.GPUCount != count:
		return false
	}
	return true
}

func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/selection-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	matching, kept, better := 0, 0, 0
	for _, v := range vectors {
		result := v.selector().Select(v.Input.Candidates)
		if len(result.Evaluations) != len(v.Input.Candidates) {
			t.Errorf("%s: %d evaluations of %d candidates", v.Name, len(result.Evaluations), len(v.Input.Candidates))
		}
		got, want := observed(result), v.Expected
		if v.Quirk == "" || v.Kept {
			// The vectors omit the rejections of a stage unless it rejected all candidates.
			got.Evaluations = slices.DeleteFunc(got.Evaluations, func(j judgement) bool {
				return !slices.ContainsFunc(want.Evaluations, func(w judgement) bool { return w.Name == j.Name })
			})
		}
		diff := cmp.Diff(want, got)
		switch {
		case v.Quirk != "" && v.Decision == "":
			t.Errorf("%s: a quirk without a decision", v.Name)
		case v.Quirk != "" && !v.Kept:
			if diff == "" {
				t.Errorf("%s: behaves as before (%s), but the decision is: %s", v.Name, v.Quirk, v.Decision)
			}
			better++
			t.Logf("quirk: %s: %s", v.Name, v.Decision)
		case diff != "":
			t.Errorf("%s (-want +got)\n%s\n%s", v.Name, diff, result.Explain())
		case v.Kept:
			kept++
			t.Logf("quirk, left to the caller: %s: %s", v.Name, v.Decision)
		default:
			matching++
		}
	}
	t.Logf("matching: %d, quirks that are the caller's choice: %d, quirks changed by decision: %d", matching, kept, better)
}

// observed converts a result to the format of the vectors: evaluations in the order of the stages and of the list, and
// as rank the position of those that passed all filters.
func observed(r templates.Result[profile]) facts {
	got := facts{BestCount: len(r.Equals), Outcome: "none", Diagnostics: diagnostics{
		Total:               len(r.Evaluations),
		AfterAvailability:   r.Stage("availability").After,
		AfterUnoptimized:    r.Stage("unoptimized").After,
		AfterOverrides:      r.Stage("overrides").After,
		AfterGPU:            r.Stage("gpu").After,
		UnoptimizedFiltered: r.Stage("unoptimized").Rejected() > 0,
	}}
	if r.Chosen != nil {
		got.Outcome, got.Best = "selected", &r.Chosen.Name
	}
	if r.Ambiguous() {
		got.Outcome, got.Best = "ambiguous", &r.Equals[0].Name
	}
	stage := func(e *templates.Evaluation[profile]) int {
		at := slices.IndexFunc(r.Stages, func(s templates.Stage) bool { return s.Name == e.Stage })
		if at < 0 {
			return len(r.Stages) // passed all
		}
		return at
	}
	evaluations := slices.Clone(r.Evaluations)
	slices.SortFunc(evaluations, func(a, b templates.Evaluation[profile]) int {
		if byStage := stage(&a) - stage(&b); byStage != 0 {
			return byStage
		}
		return a.Index - b.Index
	})
	got.Evaluations = []judgement{}
	passed := 0
	for _, e := range evaluations {
		j := judgement{Name: e.Name, Status: "rejected", Reason: e.Reason}
		if e.Rank > 0 {
			passed++
			j.Rank = passed
		}
		if e.Outcome == templates.Chosen {
			j.Status, j.Rank = "chosen", 1
		}
		got.Evaluations = append(got.Evaluations, j)
	}
	return got
}
