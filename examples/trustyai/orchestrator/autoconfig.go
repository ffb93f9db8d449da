package orchestrator

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reconcilekit/reconcilekit/templates"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/foreign"
	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

const (
	defaultLabel = "trustyai/guardrails"
	builtIn      = "built-in-detector"
)

func labelOf(auto *v1alpha1.AutoConfig) string {
	return cmp.Or(auto.DetectorServiceLabelToMatch, defaultLabel)
}

// counts reports whether a model is a generator or a detector for the orchestrator.
func counts(m *foreign.InferenceService, auto *v1alpha1.AutoConfig) bool {
	return m.Name == auto.InferenceServiceToGuardrail || m.Labels[labelOf(auto)] == "true"
}

// found contains the inputs of a configuration.
type found struct {
	generation v1alpha1.DetectedService
	detectors  []v1alpha1.DetectedService
	builtIn    bool
	// waits is the reason why there is no configuration yet.
	waits string
	// rejected lists the detectors that are left out, with reasons, in one line.
	rejected string
}

// discover finds the generator and the detectors. It sets waits if one of them is missing.
func discover(o *v1alpha1.GuardrailsOrchestrator, f Fetched) (out found) {
	out.builtIn = o.Spec.EnableBuiltInDetectors
	if len(f.runtimes.Value.Items) == 0 {
		out.waits = "could not automatically find serving runtimes: no ServingRuntimes found in namespace " + o.Namespace
		return out
	}
	out.generation, out.waits = f.generation(o)
	if out.waits != "" {
		return out
	}
	selected := detectors(o).Select(f.models.Value.Items)
	for _, e := range selected.Evaluations {
		if e.Outcome == templates.Rejected {
			continue
		}
		d, waits := f.detected(e.Candidate, e.Candidate.Status.URL)
		if waits != "" {
			out.waits = waits
			return out
		}
		out.detectors = append(out.detectors, d)
	}
	slices.SortFunc(out.detectors, func(a, b v1alpha1.DetectedService) int { return cmp.Compare(a.Name, b.Name) })
	out.rejected = selected.Summary()
	if len(out.detectors) == 0 && !out.builtIn {
		out.waits = "no detector inference services found and no built-in detectors specified (" + out.rejected + ")"
	}
	return out
}

// detectors selects the detectors: all candidates that are not rejected.
func detectors(o *v1alpha1.GuardrailsOrchestrator) templates.Selector[foreign.InferenceService] {
	label := labelOf(o.Spec.AutoConfig)
	return templates.Selector[foreign.InferenceService]{
		Name: func(m *foreign.InferenceService) string { return m.Name },
		Filters: []templates.Filter[foreign.InferenceService]{
			templates.Keep("label", "NoLabel", func(m *foreign.InferenceService) bool { return m.Labels[label] == "true" }),
			templates.Keep("url", "NoURL", func(m *foreign.InferenceService) bool { return m.Status.URL != "" }),
		},
	}
}

// generation finds the generator by its name or its URL.
func (f Fetched) generation(o *v1alpha1.GuardrailsOrchestrator) (v1alpha1.DetectedService, string) {
	name := o.Spec.AutoConfig.InferenceServiceToGuardrail
	if strings.Contains(name, "://") {
		model := &foreign.InferenceService{}
		model.Name = name
		return f.detected(model, name)
	}
	for i := range f.models.Value.Items {
		if m := &f.models.Value.Items[i]; m.Name == name && m.Status.URL != "" {
			return f.detected(m, m.Status.URL)
		}
	}
	return v1alpha1.DetectedService{}, fmt.Sprintf("could not find InferenceService with name %q in namespace %s", name, o.Namespace)
}

// detected resolves the address of a model. The port is the first one of its Service, or that of the URL, or that of its runtime.
func (f Fetched) detected(m *foreign.InferenceService, address string) (v1alpha1.DetectedService, string) {
	at, err := url.Parse(address)
	if err != nil || at.Hostname() == "" {
		return v1alpha1.DetectedService{}, fmt.Sprintf("the URL %q of InferenceService %s has no host", address, m.Name)
	}
	d := v1alpha1.DetectedService{
		Name: m.Name, Type: "detector", Scheme: at.Scheme, Hostname: at.Hostname(),
		Port: cmp.Or(f.servicePort(m.Name), at.Port(), f.runtimePort(m)),
	}
	if d.Port == "" {
		return d, fmt.Sprintf(
			"could not find InferenceService with name %q: neither its Service, its URL %q nor its runtime has a port", m.Name,
			address,
		)
	}
	if secret := certificateOf(m.Name); d.Scheme == "https" && m.Namespace != "" {
		if f.secrets[secret].Value == nil {
			return d, fmt.Sprintf("Secret %s with the certificate of InferenceService %s not found", secret, m.Name)
		}
		d.TLSSecret = secret
	}
	return d, ""
}

func (f Fetched) servicePort(model string) string {
	if s := f.services[model].Value; s != nil && len(s.Spec.Ports) > 0 {
		return strconv.Itoa(int(s.Spec.Ports[0].Port))
	}
	return ""
}

func (f Fetched) runtimePort(m *foreign.InferenceService) string {
	if m.Spec.Predictor.Model == nil {
		return ""
	}
	for _, runtime := range f.runtimes.Value.Items {
		if runtime.Name != m.Spec.Predictor.Model.Runtime {
			continue
		}
		for _, c := range runtime.Spec.Containers {
			if len(c.Ports) > 0 {
				return strconv.Itoa(int(c.Ports[0].ContainerPort))
			}
		}
	}
	return ""
}

// names returns the names of the detectors, the built-in one last.
func (f found) names() (names []string) {
	for _, d := range f.detectors {
		names = append(names, d.Name)
	}
	if f.builtIn {
		names = append(names, builtIn)
	}
	return names
}

// secure returns the services with a certificate, the generator first.
func (f found) secure() (out []v1alpha1.DetectedService) {
	for _, d := range append([]v1alpha1.DetectedService{f.generation}, f.detectors...) {
		if d.TLSSecret != "" {
			out = append(out, d)
		}
	}
	return out
}

// config returns the configuration of the orchestrator.
func (f found) config(auth bool) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	service := func(indent int, d v1alpha1.DetectedService, host string) {
		line(indent, "service:")
		line(indent+1, "hostname: "+host, d.Hostname)
		line(indent+1, "port: %s", d.Port)
		if d.TLSSecret != "" {
			line(indent+1, "tls: %s-tls", d.Name)
		}
	}
	line(0, "chat_generation:")
	service(1, f.generation, "%s")
	line(0, "detectors:")
	for i, name := range f.names() {
		d, host := v1alpha1.DetectedService{Hostname: "127.0.0.1", Port: "8080"}, "%s"
		if i < len(f.detectors) {
			d, host = f.detectors[i], "%q"
		}
		line(1, "%s:", name)
		line(2, "type: text_contents")
		service(2, d, host)
		line(2, "chunker_id: whole_doc_chunker")
		line(2, "default_threshold: 0.5")
	}
	if secure := f.secure(); len(secure) > 0 {
		line(0, "tls:")
		for _, d := range secure {
			line(1, "%s-tls:", d.Name)
			line(2, "cert_path: %q", "/etc/tls/"+d.TLSSecret+"/tls.crt")
			line(2, "key_path: %q", "/etc/tls/"+d.TLSSecret+"/tls.key")
			line(2, "client_ca_cert_path: %q", authority)
		}
	}
	line(0, "passthrough_headers:")
	line(1, "- Authorization")
	line(1, "- Content-Type")
	if auth {
		line(1, "- x-forwarded-access-token")
		line(0, "rewrite_forwarded_access_header: true")
	}
	return b.String()
}

// gateway returns the configuration of the gateway.
func (f found) gateway() string {
	var b strings.Builder
	b.WriteString("orchestrator:\n  host: \"localhost\"\n  port: 8032\ndetectors:\n")
	for _, name := range f.names() {
		params := " {}"
		if name == builtIn {
			params = "\n      regex:\n        - $^"
		}
		fmt.Fprintf(&b, "  - name: %s\n    input: true\n    output: true\n    detector_params:%s\n", name, params)
	}
	b.WriteString("routes:\n  - name: all\n    detectors:\n")
	for _, name := range f.names() {
		fmt.Fprintf(&b, "      - %s\n", name)
	}
	b.WriteString("  - name: passthrough\n    detectors:\n")
	return b.String()
}
