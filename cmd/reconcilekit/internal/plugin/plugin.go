// Package plugin implements the scaffold as an external plugin of kubebuilder: it reads a JSON request from the standard input and writes
// the response to the standard output, by the protocol v1alpha1 (sigs.k8s.io/kubebuilder/v4/pkg/plugin/external).
package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/spf13/pflag"

	"github.com/reconcilekit/reconcilekit/cmd/reconcilekit/internal/scaffold"
)

const apiVersion = "v1alpha1"

// request is a request of kubebuilder.
type request struct {
	APIVersion string            `json:"apiVersion"`
	Args       []string          `json:"args"`
	Command    string            `json:"command"`
	Universe   map[string]string `json:"universe"`
	Config     struct {
		Domain     string `json:"domain"`
		Repo       string `json:"repo"`
		MultiGroup bool   `json:"multigroup"`
	} `json:"config"`
}

// response is the response. Universe contains the changed files.
type response struct {
	APIVersion string            `json:"apiVersion"`
	Command    string            `json:"command"`
	Metadata   metadata          `json:"metadata"`
	Universe   map[string]string `json:"universe"`
	Error      bool              `json:"error,omitempty"`
	ErrorMsgs  []string          `json:"errorMsgs,omitempty"`
	Flags      []any             `json:"flags,omitempty"` // none: group, version and kind are kubebuilder's flags
}

type metadata struct {
	Description string `json:"description"`
	Examples    string `json:"examples"`
}

// Serve answers one request. Errors of the request are in the response; the returned error is that of reading or writing.
func Serve(in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return fmt.Errorf("read the request of kubebuilder: %w", err)
	}
	answer := response{APIVersion: apiVersion, Command: asked.Command, Universe: map[string]string{}}
	files, err := asked.files()
	if err != nil {
		answer.Error, answer.ErrorMsgs = true, []string{err.Error()}
	}
	maps.Copy(answer.Universe, files)
	if asked.Command == "metadata" {
		answer.Metadata = metadata{
			Description: "Writes controllers with reconcilekit instead of those of go/v4. List it after go/v4.",
			Examples:    "kubebuilder create api --plugins=go/v4,reconcilekit/v1 --group shop --version v1 --kind Page --resource --controller",
		}
	}
	return json.NewEncoder(out).Encode(answer)
}

// files returns the files that the command changes.
func (r request) files() (scaffold.Files, error) {
	if r.APIVersion != apiVersion {
		return nil, fmt.Errorf("kubebuilder uses protocol version %q: want %s", r.APIVersion, apiVersion)
	}
	switch r.Command {
	case "flags", "metadata", "init", "edit":
		return nil, nil
	case "create api":
		return r.createAPI()
	}
	return nil, fmt.Errorf("command %q: the reconcilekit plugin supports only create api; remove it here", r.Command)
}

func (r request) createAPI() (scaffold.Files, error) {
	if r.Config.Repo == "" {
		return nil, errors.New("the request has no project configuration: use kubebuilder 4.10 or later")
	}
	api := scaffold.API{Project: scaffold.Project{Module: r.Config.Repo, Domain: r.Config.Domain}, MultiGroup: r.Config.MultiGroup}
	flags := pflag.NewFlagSet("create api", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true // flags of the other plugins
	flags.SetOutput(io.Discard)
	flags.StringVar(&api.Group, "group", "", "")
	flags.StringVar(&api.Version, "version", "", "")
	flags.StringVar(&api.Kind, "kind", "", "")
	controller := flags.Bool("controller", true, "")
	if err := flags.Parse(r.Args); err != nil {
		return nil, err
	}
	if !*controller {
		return nil, nil
	}
	return api.Kubebuilder()
}
