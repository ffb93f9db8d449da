package operator

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
)

// The outputs of the command "describe".
const (
	outputPage   output = "page"
	outputJSON   output = "json"
	outputRights output = "rights"
)

// describeSettings are the flags of the command "describe".
type describeSettings struct {
	output  output
	account account
}

func describeFlags(p *process, f *flag.FlagSet) {
	p.describe.output = outputPage
	f.Var(&p.describe.output, "output", "what to print: page (Markdown), json, or rights (manifests of RBAC)")
	f.Var(&p.describe.account, "service-account", "`namespace/name` of the account that -output=rights binds the rights to; empty binds none")
}

// describe prints the page or the RBAC manifests of the operator.
func describe(_ context.Context, p *process) error {
	page, err := p.page()
	if err != nil {
		return err
	}
	text := page.Markdown()
	switch p.describe.output {
	case outputJSON:
		raw, err := page.JSON()
		if err != nil {
			return err
		}
		text = string(raw)
	case outputRights:
		if text, err = rights(page, p.describe.account); err != nil {
			return err
		}
	case outputPage:
	}
	_, err = io.WriteString(p.stdout, text)
	return err
}

// rights returns the RBAC manifests as one YAML stream.
func rights(page dataflow.Page, account account) (string, error) {
	files, err := page.Files(page.Name, types.NamespacedName(account))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(path, "config/rbac/") {
			text.WriteString(files[path])
		}
	}
	return text.String(), nil
}

// output is an output of the command "describe".
type output string

func (o *output) String() string { return string(*o) }

// Set implements flag.Value.
func (o *output) Set(value string) error {
	if !slices.Contains([]output{outputPage, outputJSON, outputRights}, output(value)) {
		return fmt.Errorf("want %s, %s or %s", outputPage, outputJSON, outputRights)
	}
	*o = output(value)
	return nil
}

// account is a service account.
type account types.NamespacedName

func (a *account) String() string {
	if a.Name == "" {
		return ""
	}
	return a.Namespace + "/" + a.Name
}

// Set implements flag.Value.
func (a *account) Set(value string) error {
	namespace, name, _ := strings.Cut(value, "/")
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return errors.New("want namespace/name")
	}
	*a = account{Namespace: namespace, Name: name}
	return nil
}
