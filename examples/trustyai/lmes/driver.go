package lmes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reconcilekit/reconcilekit/reconcile/external"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clientconfig "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/reconcilekit/reconcilekit/examples/trustyai/api/v1alpha1"
)

// progress is the answer of a driver: the state of the evaluation.
type progress struct {
	State        v1alpha1.JobState      `json:"state"`
	Reason       v1alpha1.JobReason     `json:"reason"`
	Message      string                 `json:"message"`
	Results      string                 `json:"results"`
	ProgressBars []v1alpha1.ProgressBar `json:"progressBars"`
}

// drivers are the programs in the pods. The operator polls their progress, and sends one request to stop.
type drivers struct {
	// run runs a command in the main container of a pod, and returns its output.
	run func(ctx context.Context, namespace, pod string, command ...string) ([]byte, error)
}

var _ external.System[struct{}, progress] = (*drivers)(nil)

// driverKind returns the kind of the drivers.
func driverKind(d *drivers) *external.Kind[struct{}, progress] {
	return external.New("EvaluationDriver", d, external.Options{System: func(key string) string { return key }})
}

// keyOf returns the key of the driver in a pod, or the empty string.
func keyOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Namespace + "/" + pod.Name + "/" + string(pod.UID)
}

func (d *drivers) command(ctx context.Context, key, flag string) ([]byte, error) {
	namespace, name, _ := strings.Cut(key, "/")
	name, _, _ = strings.Cut(name, "/")
	return d.run(ctx, namespace, name, driver, flag)
}

// Observe returns the progress of the driver. If the driver does not respond, Observe reports nothing, and the next poll asks again.
func (d *drivers) Observe(ctx context.Context, key string) (p progress, err error) {
	text, err := d.command(ctx, key, "--get-status")
	if err == nil {
		if err = json.Unmarshal(text, &p); err != nil {
			err = fmt.Errorf("driver of %s: want its status as JSON, got %.100q: %w", key, text, err)
		}
	}
	if err != nil {
		log.FromContext(ctx).Info("the driver does not respond", "pod", key, "error", err.Error())
		return progress{}, fmt.Errorf("%w: %w", external.ErrNotFound, err)
	}
	return p, nil
}

// Ensure requests the driver to stop.
func (d *drivers) Ensure(ctx context.Context, key string, _ struct{}) (p progress, err error) {
	_, err = d.command(ctx, key, "--shutdown")
	return p, err
}

// Remove does nothing, because the driver ends with its pod.
func (*drivers) Remove(context.Context, string) error { return nil }

// UpToDate is not called.
func (*drivers) UpToDate(struct{}, progress) bool { return true }

// execute returns a function that runs commands in pods with the API server.
func execute(config *clientconfig.Config) (func(ctx context.Context, namespace, pod string, command ...string) ([]byte, error), error) {
	pods, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, namespace, pod string, command ...string) ([]byte, error) {
		request := pods.RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).Suffix("exec").
			VersionedParams(&corev1.PodExecOptions{Container: mainContainer, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
		executor, err := remotecommand.NewSPDYExecutor(config, "POST", request.URL())
		if err != nil {
			return nil, err
		}
		var out, complaint bytes.Buffer
		if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &complaint}); err != nil {
			return nil, fmt.Errorf("run %s in pod %s/%s: %w: %.200s", strings.Join(command, " "), namespace, pod, err, complaint.String())
		}
		return out.Bytes(), nil
	}, nil
}
