package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/internal/process"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

// double is the ModelMesh of one operator.
type double struct {
	memory.Mesh

	address string
	options []grpc.ServerOption
	server  *grpc.Server
	mu      sync.Mutex
	seen    []mmesh.SetRequest // so far
}

func newDouble(t *testing.T, options ...grpc.ServerOption) *double {
	t.Helper()
	d := &double{address: process.FreeAddress(t), options: options}
	d.serve(t)
	t.Cleanup(func() { d.server.Stop() })
	return d
}

// serve listens, also again after the server was stopped: the double has what it had.
func (d *double) serve(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.server = mmesh.NewServer(&d.Mesh, d.options...)
	go func(s *grpc.Server) { _ = s.Serve(listener) }(d.server)
}

// script is what ModelMesh answers.
type script struct {
	Set, Get *struct {
		Error       string     `json:"error"`
		Status      string     `json:"status"`
		Active      string     `json:"active"`
		Target      string     `json:"target"`
		ActiveModel *modelText `json:"activeModel"`
		TargetModel *modelText `json:"targetModel"`
	}
}

type modelText struct {
	Status string   `json:"status"`
	Errors []string `json:"errors"`
	Copies []struct {
		Location string `json:"location"`
		Status   string `json:"status"`
		TimeMS   uint64 `json:"timeMs"`
	} `json:"copies"`
}

// call is one that ModelMesh gets.
type call struct {
	Op      string         `json:"op"`
	Request map[string]any `json:"request"`
}

// follow makes the double answer as the case says.
func (d *double) follow(s *script) {
	if s == nil {
		return
	}
	d.Away(nil)
	answer := cmp.Or(s.Set, s.Get)
	if answer.Error == "NoInstances" {
		d.Away(memory.NoInstances())
		return
	}
	d.Script(func(request *mmesh.SetRequest) *mmesh.VModel {
		id := func(text string) string { return strings.ReplaceAll(text, "$target", request.Target) }
		return &mmesh.VModel{
			State: vmodelStates()[answer.Status], Active: id(answer.Active), Target: id(answer.Target),
			ActiveModel: answer.ActiveModel.model(), TargetModel: answer.TargetModel.model(),
		}
	})
}

func vmodelStates() map[string]int {
	return map[string]int{
		"NOT_FOUND": mmesh.VModelNotFound, "DEFINED": mmesh.VModelDefined, "TRANSITIONING": mmesh.VModelTransitioning,
		"TRANSITION_FAILED": mmesh.VModelTransitionFailed, "UNKNOWN": mmesh.VModelUnknown,
	}
}

func modelStates() map[string]int {
	return map[string]int{
		"NOT_FOUND": mmesh.NotFound, "NOT_LOADED": mmesh.NotLoaded, "LOADING": mmesh.Loading, "LOADED": mmesh.Loaded,
		"LOADING_FAILED": mmesh.LoadingFailed, "UNKNOWN": mmesh.Unknown,
	}
}

func (m *modelText) model() *mmesh.Model {
	if m == nil {
		return nil
	}
	out := &mmesh.Model{State: modelStates()[m.Status], Errors: m.Errors}
	for _, c := range m.Copies {
		out.Copies = append(out.Copies, mmesh.Copy{Location: c.Location, State: modelStates()[c.Status], TimeMS: c.TimeMS})
	}
	return out
}

// sets are all that the double was asked to set.
func (d *double) sets() []mmesh.SetRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	now, _ := d.Requests()
	d.seen = append(d.seen, now...)
	return d.seen
}

// called reports whether ModelMesh was asked to set what a case expects. The product sets a model with every pass and the operator where
// something is to change: a call that names no model is left out.
func (p *player) called(c call) error {
	if c.Op != "SetVModel" || c.Request["modelInfo"] == nil {
		return nil
	}
	var nearest error
	for _, r := range p.mesh.sets() {
		got := map[string]any{
			"vModelId": r.ID, "owner": r.Owner, "targetModelId": r.Target, "autoDeleteTargetModel": true,
			"modelInfo": map[string]any{"type": r.Type, "key": r.Key},
		}
		if r.Path != "" {
			got["modelInfo"].(map[string]any)["path"] = r.Path
		}
		if r.LoadNow {
			got["loadNow"] = true
		}
		if nearest = match("request", c.Request, got); nearest == nil {
			return nil
		}
	}
	return fmt.Errorf("ModelMesh was not asked for %v: %w", c.Request, cmp.Or(nearest, fmt.Errorf("it was asked for nothing")))
}

// hasModels reports whether the case has sources of models.
func (p *player) hasModels() bool {
	return slices.ContainsFunc(p.given, func(o map[string]any) bool { return o["kind"] == "Predictor" || o["kind"] == "InferenceService" })
}

// passed waits until ModelMesh was asked, and the pass that did is over.
func (p *player) passed() {
	p.Helper()
	p.eventually(func() error {
		if len(p.mesh.sets()) == 0 {
			return fmt.Errorf("ModelMesh was asked for nothing")
		}
		return nil
	})
	time.Sleep(time.Second)
}

// nudge changes an annotation of the sources of models: the double tells nobody that it answers something else now.
func (p *player) nudge() {
	p.Helper()
	at := fmt.Appendf(nil, `{"metadata":{"annotations":{"at":%q}}}`, time.Now().Format(time.RFC3339Nano))
	for _, content := range p.given {
		if kind := content["kind"]; kind == "Predictor" || kind == "InferenceService" {
			p.must(p.Patch(p.Context(), &unstructured.Unstructured{Object: content}, client.RawPatch("application/merge-patch+json", bytes.Clone(at))))
		}
	}
}

// text is a value for people.
func text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
