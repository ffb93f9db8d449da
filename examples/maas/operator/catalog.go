package operator

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/reconcilekit/reconcilekit/examples/maas/catalogapi"
	"github.com/reconcilekit/reconcilekit/examples/maas/models"
)

// Catalog configures the HTTP API of subscriptions and models. The zero value disables it.
type Catalog struct {
	// Address is the address for users, who call it through the gateway, such as :8443. Empty or 0 disables it.
	Address string
	// InternalAddress is the address for the selection of a subscription, and for metrics. Empty or 0 disables it.
	InternalAddress string
	// Certificates is the folder with tls.crt and tls.key of both. If it is empty, the API is served over plain HTTP.
	Certificates string
	// Authorities is a file with the authorities of the gateway's certificate. If it is empty, those of the system are trusted.
	Authorities string
	// Timeout limits the time for all probes of one request. It must be at least 1 s.
	Timeout time.Duration
}

// add adds the listeners to a manager. It returns an error if Timeout is too short or Authorities cannot be read.
func (c Catalog) add(mgr manager.Manager, config models.Config) error {
	serves := func(address string) bool { return address != "" && address != "0" }
	if !serves(c.Address) && !serves(c.InternalAddress) {
		return nil
	}
	if c.Timeout < time.Second {
		return fmt.Errorf("flag -api-access-check-timeout: got %s, want at least 1s", c.Timeout)
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.Authorities != "" {
		content, err := os.ReadFile(c.Authorities)
		if err != nil {
			return fmt.Errorf("flag -api-gateway-ca: %w", err)
		}
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(content) {
			return fmt.Errorf("flag -api-gateway-ca: file %s has no certificate", c.Authorities)
		}
	}
	server := &catalogapi.Server{
		Reader: mgr.GetClient(), SubscriptionNamespace: config.SubscriptionNamespace, Timeout: c.Timeout,
		Prober: catalogapi.NewProber(catalogapi.OfGateway(mgr.GetClient(), config.Gateway), trust),
	}
	var errs []error
	if serves(c.Address) {
		errs = append(errs, mgr.Add(catalogapi.Listener{Address: c.Address, Certificates: c.Certificates, Handler: server.Handler()}))
	}
	if serves(c.InternalAddress) {
		errs = append(
			errs,
			mgr.Add(catalogapi.Listener{Address: c.InternalAddress, Certificates: c.Certificates, Handler: server.InternalHandler()}),
		)
	}
	return errors.Join(errs...)
}
