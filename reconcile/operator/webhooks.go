package operator

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/reconcilekit/reconcilekit/reconcile/controller"
	"github.com/reconcilekit/reconcilekit/reconcile/controller/dataflow"
	"github.com/reconcilekit/reconcilekit/reconcile/operator/internal/certificate"
)

// webhookServer returns the webhook server. It starts when handlers are registered.
func (p *process) webhookServer(options ...func(*tls.Config)) webhook.Server {
	return webhook.NewServer(webhook.Options{Port: int(p.webhookPort), CertDir: p.webhookCertDir, TLSOpts: options})
}

// checkWebhooks returns an error if the flags set two sources of the certificate.
func (p *process) checkWebhooks() error {
	if p.webhookService.Name == "" || p.webhookCertDir == "" {
		return nil
	}
	return fmt.Errorf("flag -%s %q: the certificate is in the folder of -%s; leave one of the two out",
		flagWebhookService, p.webhookService.String(), flagWebhookCertDir)
}

// keepCertificate makes the process maintain the certificate of its webhook server if the flag is set.
func (p *process) keepCertificate(cluster *rest.Config, options *manager.Options) error {
	if p.webhookService.Name == "" || p.webhookPort == 0 {
		return nil
	}
	page, err := p.page()
	if err != nil {
		return err
	}
	expires, err := certificateExpiry(metrics.Registry)
	if err != nil {
		return err
	}
	live, err := client.NewWithWatch(cluster, client.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("make the client for the certificate: %w", err)
	}
	p.keeper = certificate.New(certificate.Config{
		Client: live, Logger: options.Logger.WithName("certificate"), Service: types.NamespacedName(p.webhookService), Clients: webhookClients(page),
		Expires: expires,
	})
	options.WebhookServer = p.keeper.Serve(p.webhookServer(p.keeper.Configure))
	return nil
}

// webhookClients returns the objects of the installation that configure calls of the operator by the API server.
func webhookClients(page dataflow.Page) (clients []certificate.Client) {
	for _, w := range page.Webhooks {
		kind := certificate.Validating
		if w.Type == "mutating" {
			kind = certificate.Mutating
		}
		clients = append(clients, certificate.Client{Kind: kind, Name: w.Name})
	}
	for _, name := range page.Conversions {
		clients = append(clients, certificate.Client{Kind: certificate.CRD, Name: name})
	}
	return clients
}

// serveWebhooks registers the handlers. It does nothing without handlers.
func (p *process) serveWebhooks(mgr manager.Manager, handlers map[string]http.Handler) error {
	if len(handlers) == 0 {
		return nil
	}
	if err := controller.ServeWebhooks(mgr, handlers); err != nil {
		return err
	}
	if p.keeper != nil {
		return mgr.AddReadyzCheck("webhook-certificate", p.keeper.Check)
	}
	return p.checkCertificate()
}

// checkCertificate returns an error if the folder of the certificate lacks a file.
func (p *process) checkCertificate() error {
	folder := p.webhookCertDir
	if folder == "" {
		folder = filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs") // the default of controller-runtime
	}
	for _, name := range []string{"tls.crt", "tls.key"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil { //nolint:gosec // the user who starts the process sets the folder
			return fmt.Errorf("flag -%s %q: want a folder with tls.crt and tls.key, or -%s: %w", flagWebhookCertDir, p.webhookCertDir, flagWebhookService, err)
		}
	}
	return nil
}
