// Package certificate keeps the certificate of a webhook server that nobody else provides: it makes it, renews it while the process
// runs, and writes what is trusted into the webhook configurations and CRDs that name the server.
//
// All replicas share one Secret, which is changed with its resourceVersion, so that one of them makes a certificate and the others
// serve it. A renewal has two steps, so that no call fails in between: the next certificate is first trusted everywhere beside the one
// that is served, and served when that is done. Each certificate is self-signed and trusted as it is, so there is no key of an
// authority to keep.
//
//	keeper := certificate.New(certificate.Config{Client: c, Service: service, Clients: clients})
//	options.TLSOpts = append(options.TLSOpts, keeper.Configure)
//	server := keeper.Serve(webhook.NewServer(options)) // keeper.Start runs beside it
package certificate
