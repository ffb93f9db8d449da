package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
)

// plugin has the connection of all commands.
type plugin struct {
	*genericclioptions.ConfigFlags
	genericiooptions.IOStreams
}

func root(streams genericiooptions.IOStreams) *cobra.Command {
	p := &plugin{ConfigFlags: genericclioptions.NewConfigFlags(true), IOStreams: streams}
	command := &cobra.Command{
		Use: "kubectl-reconcilekit", Short: "Explain, preview, pause, resume and reconcile the owners of an operator",
		Annotations:  map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl reconcilekit"},
		SilenceUsage: true, SilenceErrors: true,
	}
	command.SetOut(streams.Out)
	command.SetErr(streams.ErrOut)
	p.AddFlags(command.PersistentFlags())
	command.AddCommand(explainCommand(p), previewCommand(p), pauseCommand(p), resumeCommand(p), reconcileCommand(p))
	return command
}

// ownerCommand returns a command with the arguments KIND NAME.
func ownerCommand(p *plugin, name, short string, run func(context.Context, *owner) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " KIND NAME", Short: short, Args: cobra.ExactArgs(2),
		ValidArgsFunction: p.complete,
		RunE: func(command *cobra.Command, args []string) error {
			found, err := p.owner(args[0], args[1])
			if err != nil {
				return err
			}
			return run(command.Context(), found)
		},
	}
}

// owner is the object of the arguments.
type owner struct {
	kind      schema.GroupVersionKind
	resource  schema.GroupVersionResource
	namespace string // empty for a kind without namespaces
	name      string
	client    dynamic.ResourceInterface
}

// String returns the owner as kubectl prints it.
func (o *owner) String() string {
	return strings.ToLower(o.kind.Kind) + "." + o.kind.Group + "/" + o.name
}

// owner finds the resource of the kind, which is a kind, a resource or a short name, with or without its group.
func (p *plugin) owner(kind, name string) (*owner, error) {
	mapper, err := p.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	resource, err := mapper.ResourceFor(schema.ParseGroupResource(strings.ToLower(kind)).WithVersion(""))
	if err != nil {
		return nil, err
	}
	found, err := mapper.KindFor(resource)
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(found.GroupKind(), found.Version)
	if err != nil {
		return nil, err
	}
	client, err := p.clientOf(resource)
	if err != nil {
		return nil, err
	}
	o := &owner{kind: found, resource: resource, name: name, client: client}
	if mapping.Scope.Name() == "namespace" {
		if o.namespace, _, err = p.ToRawKubeConfigLoader().Namespace(); err != nil {
			return nil, err
		}
		o.client = client.Namespace(o.namespace)
	}
	return o, nil
}

// clientFor returns a client for the owner in a version of its kind.
func (p *plugin) clientFor(kind schema.GroupVersionKind, o *owner) (dynamic.ResourceInterface, error) {
	mapper, err := p.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	client, err := p.clientOf(mapping.Resource)
	if err != nil || o.namespace == "" {
		return client, err
	}
	return client.Namespace(o.namespace), nil
}

// clientOf returns a client for the resource.
func (p *plugin) clientOf(resource schema.GroupVersionResource) (dynamic.NamespaceableResourceInterface, error) {
	config, err := p.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	clients, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return clients.Resource(resource), nil
}

// complete completes the name of an owner.
func (p *plugin) complete(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	o, err := p.owner(args[0], "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, err := o.client.List(command.Context(), metav1.ListOptions{Limit: 500})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].GetName()
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// ready returns the condition Ready of an owner as text, empty if there is none.
func ready(o *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		condition, _ := item.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		text := fmt.Sprintf("Ready=%v %v", condition["status"], cmp.Or(condition["reason"], any("")))
		if message, _ := condition["message"].(string); message != "" {
			text += ": " + message
		}
		return text
	}
	return ""
}
