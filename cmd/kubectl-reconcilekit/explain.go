package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// The metadata of the Service of an operator's metrics, and the path of explanations. They are those of the library, which this module does
// not import.
const (
	operatorLabel        = "reconcilekit.dev/operator"
	reconcilesAnnotation = "reconcilekit.dev/reconciles"
	explainPath          = "/debug/explain"
	metricsPort          = "metrics"
)

const (
	explainTimeout = 30 * time.Second
	tokenSeconds   = 600 // the shortest lifetime that the API server accepts
	maxAnswer      = 4 << 20
)

// explained has the fields of an explanation that decide whether another process knows more.
type explained struct {
	Found   bool            `json:"found"`
	Process string          `json:"process"`
	Last    json.RawMessage `json:"last"`
}

// worth orders the answers of processes: one that reconciles the owner, one that knows it, one that does not.
func worth(answers []explained) int {
	best := 0
	for _, e := range answers {
		switch {
		case e.Process == "" && e.Found:
			best = max(best, 3)
		case e.Process == "":
			best = max(best, 2)
		case e.Found:
			best = max(best, 1)
		}
	}
	return best
}

func explainCommand(p *plugin) *cobra.Command {
	var chosen choice
	var form string
	command := ownerCommand(p, "explain", "Print why an owner is as it is, as its operator knows it", func(ctx context.Context, o *owner) error {
		ctx, cancel := context.WithTimeout(ctx, explainTimeout)
		defer cancel()
		running, err := p.operatorOf(ctx, o, chosen)
		if err != nil {
			return err
		}
		text, err := running.explain(ctx, o, form)
		if err != nil {
			return err
		}
		return p.print("%s", text)
	})
	chosen.flags(command)
	outputFlag(command, &form, "", "format of the explanation: json, or empty for text", "json")
	return command
}

// choice is what the user says of the operator.
type choice struct{ namespace, name string }

func (c *choice) flags(command *cobra.Command) {
	command.Flags().StringVar(&c.namespace, "operator-namespace", "", "namespace of the operator; empty looks in all namespaces")
	command.Flags().StringVar(&c.name, "operator", "", "name of the operator; empty means the one that reconciles the kind")
}

// outputFlag adds the flag for the format, whose values a shell can complete.
func outputFlag(command *cobra.Command, form *string, usual, usage string, values ...string) {
	command.Flags().StringVarP(form, "output", "o", usual, usage)
	_ = command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// operator is an installation that was found.
type operator struct {
	name, namespace string
	selector        string // of its Pods
	clients         kubernetes.Interface
	forwards        *forwarding
}

// operatorOf returns the operator that reconciles the owner.
func (p *plugin) operatorOf(ctx context.Context, o *owner, chosen choice) (*operator, error) {
	config, err := p.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	found, err := findOperator(ctx, clients, chosen.namespace, chosen.name, o.resource.GroupResource().String())
	if err != nil {
		return nil, err
	}
	found.clients, found.forwards = clients, &forwarding{config: config}
	return found, nil
}

// process is a running Pod of an operator, and the port of its metrics.
type process struct {
	pod  *corev1.Pod
	port int32
}

// processes returns the running Pods that serve metrics.
func (o *operator) processes(ctx context.Context) (out []process, err error) {
	pods, err := o.clients.CoreV1().Pods(o.namespace).List(ctx, metav1.ListOptions{LabelSelector: o.selector})
	if err != nil {
		return nil, fmt.Errorf("list the Pods of operator %s: %w", o, err)
	}
	for i := range pods.Items {
		if p := (process{&pods.Items[i], portOf(&pods.Items[i])}); p.pod.Status.Phase == corev1.PodRunning && p.port != 0 {
			out = append(out, p)
		}
	}
	return out, nil
}

// findOperator returns the operator that reconciles the resource, by the Service of its metrics. A name chooses one of several.
func findOperator(ctx context.Context, clients kubernetes.Interface, namespace, name, resource string) (*operator, error) {
	selector := operatorLabel
	if name != "" {
		selector += "=" + name
	}
	list, err := clients.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, fmt.Errorf("find the operator: %w; with --operator-namespace, only a permission in that namespace is needed", err)
	}
	var found []operator
	var others []string
	for _, service := range list.Items {
		kinds := strings.Split(service.Annotations[reconcilesAnnotation], ",")
		one := operator{
			name: service.Labels[operatorLabel], namespace: service.Namespace, selector: labels.SelectorFromSet(service.Spec.Selector).String(),
		}
		if name != "" || slices.Contains(kinds, resource) {
			found = append(found, one)
		} else {
			others = append(others, one.String())
		}
	}
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, fmt.Errorf("no operator says that it reconciles %s; --operator chooses one of: %s", resource, strings.Join(others, ", "))
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].String()
	}
	return nil, fmt.Errorf("several operators reconcile %s: choose one with --operator and --operator-namespace: %s", resource, strings.Join(names, ", "))
}

// String returns the name and the namespace.
func (o *operator) String() string { return o.namespace + "/" + o.name }

// explain asks the processes of the operator until one reconciles the owner, and returns the answer of the one that knows most.
func (o *operator) explain(ctx context.Context, owner *owner, form string) (string, error) {
	processes, err := o.processes(ctx)
	if err != nil {
		return "", err
	}
	token, err := tokenOf(ctx, o.clients, o.namespace, o.name+"-explainer", "the Role "+o.name+"-kubectl of the installation permits it")
	if err != nil {
		return "", err
	}
	best, text, failed := -1, "", []error{}
	for _, p := range processes {
		answer, known, err := o.forwards.ask(ctx, p.pod, p.port, token, owner, form)
		if err != nil {
			failed = append(failed, fmt.Errorf("pod %s: %w", p.pod.Name, err))
			continue
		}
		if rank := worth(known); rank > best {
			best, text = rank, answer
		}
		if best == worthMost {
			break
		}
	}
	if best < 0 {
		failed = append(failed, fmt.Errorf("no Pod of operator %s answers", o))
		return "", errors.Join(failed...)
	}
	return text, nil
}

// worthMost is the answer of the process that reconciles the owner.
const worthMost = 3

// tokenOf returns a short-lived token of a ServiceAccount. The hint follows the error.
func tokenOf(ctx context.Context, clients kubernetes.Interface, namespace, account, hint string) (string, error) {
	seconds := int64(tokenSeconds)
	request, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of ServiceAccount %s/%s: %w; %s", namespace, account, err, hint)
	}
	return request.Status.Token, nil
}

// portOf returns the port of the metrics, 0 if the Pod has none.
func portOf(pod *corev1.Pod) int32 {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == metricsPort {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// ask returns the explanation of the owner by the process in a Pod.
func (f *forwarding) ask(
	ctx context.Context, pod *corev1.Pod, port int32, token string, owner *owner, form string,
) (answer string, known []explained, err error) {
	address, end, err := f.open(ctx, pod, port)
	if err != nil {
		return "", nil, err
	}
	defer end()
	client := insecure()
	defer client.CloseIdleConnections()
	query := url.Values{"kind": {owner.kind.GroupKind().String()}, "namespace": {owner.namespace}, "name": {owner.name}, "format": {"json"}}
	raw, err := get(ctx, client, "https://"+address+explainPath+"?"+query.Encode(), token)
	if err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		return "", nil, fmt.Errorf("%q is no explanation: %w", raw, err)
	}
	if form == "json" {
		return string(raw) + "\n", known, nil
	}
	query.Del("format")
	text, err := get(ctx, client, "https://"+address+explainPath+"?"+query.Encode(), token)
	return string(text), known, err
}

// insecure returns a client that accepts any certificate: the operator makes its own at the start. The tunnel to the Pod is that of the API
// server.
func insecure() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as above
}

// get returns the body of the response, also of one that says that there is no such owner, or that another process knows it.
func get(ctx context.Context, client *http.Client, target, token string) ([]byte, error) {
	status, body, err := send(ctx, client, http.MethodGet, target, token, nil)
	if err != nil {
		return nil, err
	}
	switch status {
	case http.StatusOK, http.StatusNotFound, http.StatusServiceUnavailable:
		return body, nil
	}
	return nil, refused(status, body)
}

// refused returns the error of an answer that is no success.
func refused(status int, body []byte) error {
	return fmt.Errorf("the operator answers %d %s: %s", status, http.StatusText(status), strings.TrimSpace(string(body)))
}

// send sends a request with the token and returns the answer.
func send(ctx context.Context, client *http.Client, method, target, token string, content []byte) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, body, err
}
