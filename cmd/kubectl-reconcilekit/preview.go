package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// previewPath is the path of previews of an operator.
const previewPath = "/debug/preview"

// previewing are the arguments of the command preview.
type previewing struct {
	*plugin
	operator            choice
	file, account, form string
}

func previewCommand(p *plugin) *cobra.Command {
	a := &previewing{plugin: p}
	command := ownerCommand(p, "preview", "Print what the operator would do for an owner, as it is or as a file has it, and do nothing", a.run)
	a.operator.flags(command)
	outputFlag(command, &a.form, "diff", "format of the preview: diff, table or json", "diff", "table", "json")
	command.Flags().StringVarP(&a.file, "filename", "f", "", "file with the owner as it would be, - for standard input; empty means the owner as it is")
	command.Flags().StringVar(&a.account, "service-account", "",
		"NAMESPACE/NAME, or NAME in the namespace of the owner, of the account that may preview and update the owner (default OPERATOR-previewer)")
	return command
}

func (a *previewing) run(ctx context.Context, o *owner) error {
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	manifest, err := a.manifest(ctx, o)
	if err != nil {
		return err
	}
	running, err := a.operatorOf(ctx, o, a.operator)
	if err != nil {
		return err
	}
	namespace, account := accountFor(a.account, o, running)
	token, err := tokenOf(ctx, running.clients, namespace, account, "--service-account chooses another account")
	if err != nil {
		return err
	}
	query := url.Values{"kind": {o.kind.GroupKind().String()}, "namespace": {o.namespace}, "name": {o.name}, "output": {a.form}}
	text, err := running.preview(ctx, query, token, manifest)
	if err != nil {
		return err
	}
	return a.print("%s", cmp.Or(text, o.String()+": no changes\n"))
}

// accountFor returns the account whose token the operator gets.
func accountFor(flag string, o *owner, running *operator) (namespace, name string) {
	namespace, name = cmp.Or(o.namespace, running.namespace), cmp.Or(flag, running.name+"-previewer")
	if in, of, both := strings.Cut(name, "/"); both {
		return in, of
	}
	return namespace, name
}

// manifest returns the owner of the file with the defaults of the API server, which must permit the user to store it. It returns nil without
// a file.
func (a *previewing) manifest(ctx context.Context, o *owner) ([]byte, error) {
	if a.file == "" {
		return nil, nil
	}
	raw, err := a.read()
	if err != nil {
		return nil, err
	}
	wanted := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(raw, &wanted.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	if wanted.GroupVersionKind().GroupKind() != o.kind.GroupKind() || wanted.GetName() != o.name || cmp.Or(wanted.GetNamespace(), o.namespace) != o.namespace {
		return nil, fmt.Errorf("%s: has %s %s/%s, want %s in namespace %q", a.file, wanted.GroupVersionKind().GroupKind(), wanted.GetNamespace(), wanted.GetName(), o, o.namespace)
	}
	wanted.SetNamespace(o.namespace)
	client, err := a.clientFor(wanted.GroupVersionKind(), o)
	if err != nil {
		return nil, err
	}
	all := []string{metav1.DryRunAll}
	stored, err := client.Get(ctx, o.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		stored, err = client.Create(ctx, wanted, metav1.CreateOptions{DryRun: all})
	case err == nil:
		wanted.SetResourceVersion(stored.GetResourceVersion())
		stored, err = client.Update(ctx, wanted, metav1.UpdateOptions{DryRun: all})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	return stored.MarshalJSON()
}

func (a *previewing) read() ([]byte, error) {
	if a.file == "-" {
		return io.ReadAll(a.In)
	}
	return os.ReadFile(a.file)
}

// preview asks the processes of the operator until one previews the owner.
func (o *operator) preview(ctx context.Context, query url.Values, token string, manifest []byte) (string, error) {
	processes, err := o.processes(ctx)
	if err != nil {
		return "", err
	}
	failed := []error{}
	for _, p := range processes {
		status, body, err := o.forwards.post(ctx, p.pod, p.port, previewPath+"?"+query.Encode(), token, manifest)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("pod %s: %w", p.pod.Name, err))
		case status == http.StatusOK:
			return string(body), nil
		case status == http.StatusServiceUnavailable: // another process reconciles the owner
			failed = append(failed, fmt.Errorf("pod %s: %w", p.pod.Name, refused(status, body)))
		default:
			return "", refused(status, body)
		}
	}
	return "", errors.Join(append(failed, fmt.Errorf("no Pod of operator %s previews the owner", o))...)
}

// post sends a request to the process in a Pod.
func (f *forwarding) post(ctx context.Context, pod *corev1.Pod, port int32, path, token string, content []byte) (status int, body []byte, err error) {
	address, end, err := f.open(ctx, pod, port)
	if err != nil {
		return 0, nil, err
	}
	defer end()
	client := insecure()
	defer client.CloseIdleConnections()
	return send(ctx, client, http.MethodPost, "https://"+address+path, token, content)
}
