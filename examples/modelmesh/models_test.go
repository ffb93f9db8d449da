package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reconcilekit/reconcilekit/reconcile/reconciletest/environment"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/reconcilekit/reconcilekit/examples/modelmesh/mmesh"
	"github.com/reconcilekit/reconcilekit/examples/modelmesh/standin/memory"
)

// double fakes the ModelMesh of one operator.
type double struct {
	memory.Mesh

	address string
	options []grpc.ServerOption
	server  *grpc.Server // nil while it does not listen
	mu      sync.Mutex
	seen    memory.Calls       // calls since the last step
	last    []mmesh.SetRequest // requests of previous steps
}

func newDouble(t *testing.T, options ...grpc.ServerOption) *double {
	t.Helper()
	d := &double{address: environment.FreeAddress(t), options: options}
	d.serve(t)
	t.Cleanup(d.stop)
	return d
}

// stop closes the listener, as when the last pod of ModelMesh ends.
func (d *double) stop() {
	if d.server != nil {
		d.server.Stop()
	}
	d.server = nil
}

// serve listens, also after stop. The fake keeps its state.
func (d *double) serve(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	d.server = mmesh.NewServer(&d.Mesh, d.options...)
	go func(s *grpc.Server) { _ = s.Serve(listener) }(d.server)
}

// script has the responses of ModelMesh to set and get requests. An error of Get is returned by every call.
type script struct {
	Set, Get *answer
}

type answer struct {
	Error       string     `json:"error"` // NoInstances, AlreadyExists or a text
	Status      string     `json:"status"`
	Active      string     `json:"active"`
	Target      string     `json:"target"`
	ActiveModel *modelText `json:"activeModel"`
	TargetModel *modelText `json:"targetModel"`
}

// failure returns the error of a call, or nil.
func (a *answer) failure() error {
	if a == nil || a.Error == "" {
		return nil
	}
	if a.Error == codes.AlreadyExists.String() {
		return status.Error(codes.AlreadyExists, "")
	}
	return status.Error(codes.Unknown, a.Error)
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

// call is a request that ModelMesh receives.
type call struct {
	Op      string         `json:"op"`
	Request map[string]any `json:"request"`
}

// follow makes the fake respond as the script says.
func (d *double) follow(t *testing.T, s *script) {
	t.Helper()
	if s == nil {
		return
	}
	answer := cmp.Or(s.Set, s.Get)
	if answer.Error == "NoInstances" {
		d.stop()
		return
	}
	if d.server == nil {
		d.serve(t)
	}
	d.Refuse(s.Set.failure())
	d.Away(s.Get.failure())
	if answer.Error != "" {
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

// calls returns the calls since the last step.
func (d *double) calls() memory.Calls {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Calls()
	d.seen.Sets = append(d.seen.Sets, now.Sets...)
	d.seen.Gets = append(d.seen.Gets, now.Gets...)
	d.seen.Removes = append(d.seen.Removes, now.Removes...)
	return d.seen
}

// next begins a step.
func (d *double) next() {
	before := d.calls()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = append(d.last, before.Sets...)
	d.seen = memory.Calls{}
}

// called checks that ModelMesh received the calls that a case expects of a step. It compares the last call of each
// method and model. A case without SetVModel expects none. The product sends SetVModel in every reconciliation, the
// operator only after a change; if it sent none in this step, the last one of the previous steps counts. loadNow is not
// compared, because the product stops setting it in a later reconciliation.
func (p *player) called(wanted []call) error {
	calls, sets := p.mesh.calls(), false
	for _, c := range wanted {
		var got []map[string]any
		switch c.Op {
		case "SetVModel":
			sets = true
			all, old := calls.Sets, false
			if len(all) == 0 && c.Request["modelInfo"] == nil {
				all, old = p.mesh.last, true
			}
			got = lastOfEach(all, requestOf)
			if _, absent := c.Request["loadNow"].(map[string]any); old || absent {
				c.Request = maps.Clone(c.Request)
				delete(c.Request, "loadNow")
			}
		case "GetVModelStatus":
			got = lastOfEach(calls.Gets, referenceOf)
		case "DeleteVModel":
			got = lastOfEach(calls.Removes, referenceOf)
		default:
			return fmt.Errorf("unknown call %s", c.Op)
		}
		if err := matchOne(c, got); err != nil {
			return err
		}
	}
	if !sets && len(calls.Sets) > 0 {
		return fmt.Errorf("ModelMesh received set requests %v, want none", calls.Sets)
	}
	return nil
}

// matchOne returns an error unless one of the calls is the expected one.
func matchOne(wanted call, got []map[string]any) error {
	if len(got) == 0 {
		return fmt.Errorf("ModelMesh got no %s of %v", wanted.Op, wanted.Request)
	}
	if len(wanted.Request) == 0 {
		return nil // the call may be for any model
	}
	var errs []error
	for _, request := range got {
		err := match(wanted.Op, wanted.Request, request)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lastOfEach returns the last call for each model, in the form of the cases.
func lastOfEach[T any](all []T, as func(T) map[string]any) (out []map[string]any) {
	seen := map[any]bool{}
	for _, one := range slices.Backward(all) {
		request := as(one)
		if model := request["vModelId"]; !seen[model] {
			seen[model] = true
			out = append(out, request)
		}
	}
	return out
}

// requestOf returns a set request in the form of the cases, without zero values.
func requestOf(r mmesh.SetRequest) map[string]any {
	info := map[string]any{"type": r.Type, "key": r.Key}
	if r.Path != "" {
		info["path"] = r.Path
	}
	out := map[string]any{
		"vModelId": r.ID, "owner": r.Owner, "targetModelId": r.Target, "autoDeleteTargetModel": true, "modelInfo": info,
	}
	if r.LoadNow {
		out["loadNow"] = true
	}
	return out
}

// referenceOf returns a reference in the form of the cases.
func referenceOf(r mmesh.Reference) map[string]any {
	return map[string]any{"vModelId": r.ID, "owner": r.Owner}
}

// hasModels returns true if the case has Predictors or InferenceServices.
func (p *player) hasModels() bool {
	return slices.ContainsFunc(p.given, func(o map[string]any) bool { return o["kind"] == "Predictor" || o["kind"] == "InferenceService" })
}

// passed waits until ModelMesh has received a request and the reconciliation that sent it has ended.
func (p *player) passed() {
	p.Helper()
	p.eventually(func() error {
		if calls := p.mesh.calls(); p.mesh.server != nil && len(calls.Sets)+len(calls.Gets) == 0 {
			return fmt.Errorf("ModelMesh received no request")
		}
		return nil
	})
	time.Sleep(time.Second)
}

// nudge changes an annotation of the Predictors and InferenceServices, because the fake sends no event when its
// responses change.
func (p *player) nudge() {
	p.Helper()
	at := fmt.Appendf(nil, `{"metadata":{"annotations":{"at":%q}}}`, time.Now().Format(time.RFC3339Nano))
	for _, content := range p.given {
		if kind := content["kind"]; kind == "Predictor" || kind == "InferenceService" {
			p.must(p.Patch(
				p.Context(), &unstructured.Unstructured{Object: content},
				client.RawPatch("application/merge-patch+json", bytes.Clone(at)),
			))
		}
	}
}

// text formats a value for messages.
func text(value any) string {
	out, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
