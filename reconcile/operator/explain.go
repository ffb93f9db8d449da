package operator

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
)

// explainTimeout limits the request to the running operator.
const explainTimeout = 30 * time.Second

// explainSettings are the flags of the command "explain".
type explainSettings struct {
	server   string
	token    string
	insecure boolean
}

func explainFlags(p *process, f *flag.FlagSet) {
	f.StringVar(&p.explanation.server, "server", "http://127.0.0.1:8080",
		"`URL` of the metrics server of the running operator, such as the local end of kubectl port-forward")
	f.StringVar(&p.explanation.token, "token-file", "", "`file` with the bearer token for it; empty sends none")
	f.Var(&p.explanation.insecure, "insecure-skip-tls-verify",
		"accept any certificate of the server: that of -"+flagMetricsSecure+" is made at the start, and a port-forward has another name")
}

// explainOwner requests the explanation from the running operator, which needs the flag -serve-explanations.
func explainOwner(ctx context.Context, p *process) error {
	e := p.explanation
	namespace, name, namespaced := strings.Cut(p.arguments[1], "/")
	if !namespaced {
		namespace, name = "", p.arguments[1]
	}
	query := url.Values{"kind": {p.arguments[0]}, "namespace": {namespace}, "name": {name}}
	ctx, cancel := context.WithTimeout(ctx, explainTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(e.server, "/")+controller.ExplainPath+"?"+query.Encode(), nil)
	if err != nil {
		return fmt.Errorf("flag -server %q: %w", e.server, err)
	}
	if e.token != "" {
		token, err := os.ReadFile(e.token)
		if err != nil {
			return fmt.Errorf("flag -token-file %q: %w", e.token, err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	client := &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{InsecureSkipVerify: bool(e.insecure)}, //nolint:gosec // set by the user
	}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the running operator: %w; flag -server names its metrics server", err)
	}
	defer response.Body.Close()
	const most = 1 << 20
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return fmt.Errorf("ask the running operator: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the running operator answers %s: %s", response.Status, strings.TrimSpace(string(body)))
	}
	_, err = p.stdout.Write(body)
	return err
}

// serveExplanations adds the handler to the metrics server if the flag is set.
func (p *process) serveExplanations(mgr manager.Manager) error {
	if !p.explanations {
		return nil
	}
	if p.metrics == off {
		return fmt.Errorf("flag -%s: explanations are served beside metrics; set -%s, too", flagExplanations, flagMetrics)
	}
	return mgr.AddMetricsServerExtraHandler(controller.ExplainPath, controller.ExplainHandler(p.Controllers...))
}
